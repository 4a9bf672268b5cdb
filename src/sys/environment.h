/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.h - variables of the environment for a while, in a process with several threads.
 *
 * setenv and unsetenv move and free what getenv walks through in another thread, which then reads
 * memory that is gone. Here nothing that a reader may hold changes: a second array with the
 * variables takes the place of the first, and later the first that of the second. A program that
 * calls setenv beside threads that read breaks that rule by itself, with or without these.
 */
#ifndef MRMA_SYS_ENVIRONMENT_H
#define MRMA_SYS_ENVIRONMENT_H

#include <stdbool.h>

/* One change; zeroed at first. It belongs to the caller, who is alone in using it. */
struct environment {
    char **before; /* the array that the change replaces; NULL: nothing is added */
    char **with;   /* one block: the array with the additions, and their text behind it */
    bool restored;
};

/* environment_add adds n variables "NAME=VALUE" that the environment has not; the texts are copied.
 * Where all are there already it changes nothing. Returns false where memory is short: then
 * nothing is added. */
bool environment_add(struct environment *e, const char *const *variables, unsigned n);

/* environment_restore takes the variables out again. Where the program, or another change, has
 * replaced the environment since, they stay in it: what replaced it was copied from this one. A
 * variable that the program has taken out since comes back. */
void environment_restore(struct environment *e);

/* environment_free frees the memory of a change that was restored; that of another stays, since
 * it is part of the environment. Must not be called before readers that began between
 * environment_add and environment_restore have ended, getenv's results included. */
void environment_free(struct environment *e);

#endif
