/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * save_file.h - write a file whole or not at all. No state, no locks.
 */
#ifndef MRMA_BASE_SAVE_FILE_H
#define MRMA_BASE_SAVE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* save_file_is_stream returns whether the name is that of a stream, which no file may replace. A
 * stream is what is no regular file, or lies below /dev or /proc, as /dev/stdout does also where
 * output goes to a file. */
bool save_file_is_stream(const char *name);

/* save_file_write writes len bytes to the descriptor, in one piece if the system takes it so.
 * Returns 0, or an errno. */
int save_file_write(int fd, const char *text, size_t len);

/* save_file makes the file of that name, or replaces it if there is one; where the name is a
 * symbolic link, it replaces the file that the link leads to. The bytes are written to a file
 * beside it, which is then renamed, so that others see all of it or none, and nothing is left
 * behind after an error. If name is a stream the bytes are appended to it. Returns 0, or an
 * errno. */
int save_file(const char *name, const char *text, size_t len);

#endif
