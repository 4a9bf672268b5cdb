/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.h - adds variables to the environment for a while, in a process with several threads.
 *
 * setenv and unsetenv move and free the array that getenv reads in another thread, which then reads
 * memory that is gone. The functions here change nothing that a reader may hold: a second array,
 * with the added variables, takes the place of the first, and later the first takes the place of
 * the second. A program that itself calls setenv while other threads read breaks that rule, with or
 * without these functions.
 */
#ifndef MRMA_SYS_ENVIRONMENT_H
#define MRMA_SYS_ENVIRONMENT_H

#include <stdbool.h>

/* One change; all zero at first. It belongs to the caller, and nobody else uses it. */
struct environment {
    char **before; /* the array that the change replaces; NULL: nothing is added */
    char **with;   /* one block: the array with the additions, and their text behind it */
    bool restored;
};

/* environment_add adds n variables "NAME=VALUE" that the environment does not have; the texts are
 * copied. If all are there already it changes nothing. Returns false if memory is short: then
 * nothing is added. */
bool environment_add(struct environment *e, const char *const *variables, unsigned n);

/* environment_restore takes the variables out again. If the program, or another change, has
 * replaced the environment since, the variables stay: the array that replaced it was copied from
 * this one. If the program has taken out a variable since, the variable comes back. */
void environment_restore(struct environment *e);

/* environment_free frees the memory of a change that was restored; the memory of a change that is
 * still in effect stays, since it is part of the environment. Must not be called before readers
 * that began between environment_add and environment_restore have ended, getenv's results
 * included. */
void environment_free(struct environment *e);

#endif
