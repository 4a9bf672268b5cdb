/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * save_file.h - write a file whole or not at all. No state, no locks.
 */
#ifndef MRMA_BASE_SAVE_FILE_H
#define MRMA_BASE_SAVE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* save_file_is_stream returns whether the name is that of a stream, which no file may take the
 * place of: something that is no regular file, or is below /dev or /proc, as /dev/stdout is where
 * output goes to a file. */
bool save_file_is_stream(const char *name);

/* save_file_write writes len bytes to the descriptor, in one piece where the system takes it so.
 * Returns 0, or an errno. */
int save_file_write(int fd, const char *text, size_t len);

/* save_file makes the file of that name, in place of one that is there; where the name is a
 * symbolic link, the file that it leads to. The bytes are written to a file beside it, which then
 * takes its name, so that others see all of it or none, and nothing is left behind after an error.
 * A stream gets the bytes at its end. Returns 0, or an errno. */
int save_file(const char *name, const char *text, size_t len);

#endif
