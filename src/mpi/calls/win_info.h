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

/* win_info_default returns the values for a window that is created with MPI_INFO_NULL. */
struct win_info win_info_default(void);

/* win_info_read changes the values for which info has hints. Unknown keys are ignored, and so is a
 * value that is not understood, with a note in the log. With MPIRMA_STRICT such a value is
 * MRMA_ERR_INFO_VALUE, with one line in msg (len bytes), and *values is as it was. Returns
 * MRMA_SUCCESS or that error. There must be an engine. */
int win_info_read(MPI_Info info, struct win_info *values, char *msg, size_t len);

/* win_info_make makes a new info object, which the caller frees, with every hint and its value in
 * use, and with mpirma_path: the data paths to the targets. Returns MRMA_SUCCESS and *out, or
 * MRMA_ERR_NO_MEM. */
int win_info_make(const struct win_rec *rec, MPI_Info *out);

/* win_info_odd is called for a value of an info key that is not understood; expected says what
 * would be understood. Returns MRMA_SUCCESS after a note in the log; or, with MPIRMA_STRICT,
 * MRMA_ERR_INFO_VALUE with one line in msg (len bytes). */
int win_info_odd(const char *key, const char *text, const char *expected, char *msg, size_t len);

#endif
