/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procfile.h - short texts of /proc, and the fields of its stat files.
 *
 * No state, no locks, no memory of its own.
 */
#ifndef MRMA_BASE_PROCFILE_H
#define MRMA_BASE_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of a file, as many bytes as fit with a null byte behind them; "" if it cannot be
 * read. */
void procfile_text(const char *path, char *text, size_t len);

/* A number of a stat file of a process or thread, by its place in man 5 proc (above 2). False:
 * there is no such file or no such field. */
bool procfile_stat(const char *path, int field, uint64_t *value);

/* Has the process ended, and only its number is kept, for its parent? One whose first thread has
 * ended before others is none. False if /proc does not tell. */
bool procfile_is_zombie(int pid);

#endif
