/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procfile.h - the fields of the stat files of /proc.
 *
 * No state, no locks, no memory of its own.
 */
#ifndef MRMA_SYS_PROCFILE_H
#define MRMA_SYS_PROCFILE_H

#include <stdbool.h>
#include <stdint.h>

/* procfile_stat reads a number from a stat file of a process or thread, by its place in man 5 proc
 * (above 2). Returns false if there is no such file or no such field, and *value is not written. */
bool procfile_stat(const char *path, int field, uint64_t *value);

/* procfile_is_zombie returns whether the process pid has ended and only its number is kept, for its
 * parent. A process whose first thread has ended before others is no zombie. It needs no
 * descriptor. False if /proc does not tell. */
bool procfile_is_zombie(int pid);

#endif
