/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_info.h - MPI_Info to struct win_hints and back (MPI 4.1, 12.2.1, 12.2.7).
 */
#ifndef MRMA_MPI_CALLS_WIN_INFO_H
#define MRMA_MPI_CALLS_WIN_INFO_H

#include <mpi.h>

#include <stddef.h>

#include "mpi/process/win_table.h"
#include "rma/rma.h"

struct win_info {
    struct win_hints hints;
    char kinds[WIN_KINDS_MAX]; /* mpi_assert_memory_alloc_kinds */
};

/* What holds for a window that is created with MPI_INFO_NULL. */
struct win_info win_info_default(void);

/* Change what info has hints for; keys that are not known are ignored, and so is a value that is
 * not understood, with a note in the log. With MPIRMA_STRICT that is MRMA_ERR_INFO_VALUE with one
 * line in msg; then *values is as it was. There is an engine. */
int win_info_read(MPI_Info info, struct win_info *values, char *msg, size_t len);

/* A new info object with every hint and the value in use, and mpirma_path: the
 * data paths to the targets. MRMA_ERR_NO_MEM. */
int win_info_make(const struct win_rec *rec, MPI_Info *out);

/* A value that is not understood, as above: a note and MRMA_SUCCESS, or MRMA_ERR_INFO_VALUE with
 * msg. */
int win_info_odd(const char *key, const char *text, const char *expected, char *msg, size_t len);

#endif
