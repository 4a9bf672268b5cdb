/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * save_file.h - write a file whole or not at all. No state, no locks.
 */
#ifndef MRMA_BASE_SAVE_FILE_H
#define MRMA_BASE_SAVE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Is the name that of a stream, which nothing may take the place of: something that is no regular
 * file, or below /dev or /proc, as /dev/stdout is where output goes to a file? */
bool save_file_is_stream(const char *name);

/* Write len bytes to the descriptor, in one piece where the system takes it so. 0, or errno. */
int save_file_write(int fd, const char *text, size_t len);

/* Make the file, in place of one that is there; where the name is a symbolic link, the file that it
 * leads to. The bytes are written to a file beside it, which then takes its name, so that others
 * see all of it or none, and nothing is left behind after an error. A stream gets the bytes at its
 * end. 0, or errno. */
int save_file(const char *name, const char *text, size_t len);

#endif
