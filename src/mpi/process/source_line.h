/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * source_line.h - the line of the program's source for an address in one of its files, by
 * addr2line.
 */
#ifndef MRMA_MPI_PROCESS_SOURCE_LINE_H
#define MRMA_MPI_PROCESS_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* source_line_ask writes the line of the address offset in the file path, such as "app.c:41", to
 * text (len bytes). False: it is not known, and text is as it was. It starts addr2line and waits
 * for its answer, up to 5 seconds: for errors that end the job. */
bool source_line_ask(const char *path, uintptr_t offset, char *text, size_t len)
    __attribute__((cold));

/* source_line_recall does the same for callers that must not wait long and come again: addr2line is
 * started once for an address, and its answer is remembered. It waits for the answer for a moment
 * only (a fifth of a second, in the first call for an address). False: the answer has not come yet,
 * or there is none; a later call returns an answer that has come meanwhile. Any thread; it waits
 * for no other thread that is in here. */
bool source_line_recall(const char *path, uintptr_t offset, char *text, size_t len)
    __attribute__((cold));

#endif
