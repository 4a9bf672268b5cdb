/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h - what the int and the large-count forms of window calls share.
 */
#ifndef MRMA_MPI_CALLS_WINDOW_H
#define MRMA_MPI_CALLS_WINDOW_H

#include <mpi.h>

#include <stdint.h>

#include "mpi/process/win_table.h"
#include "rma/rma.h"

/* What the caller of a creation function gave. */
struct win_args {
    const char *func; /* for messages */
    enum win_flavor flavor;
    void *base; /* MPI_Win_create only */
    int64_t size, disp_unit;
    MPI_Info info;
    MPI_Comm comm;
};

/* win_make creates a window, its carrier and its record. Collective over args->comm. *win, and
 * *(void **)baseptr unless baseptr is NULL, are set on success only; with an error the
 * communicator's error handler has been called. Returns what the entry point returns. Not to be
 * called when engine_disabled(). */
int win_make(const struct win_args *args, void *baseptr, MPI_Win *win);

/* win_query_shared does MPI_Win_shared_query of a window of ours, with *size in bytes; baseptr is
 * the address of a pointer. unit_place is where the caller will store *disp_unit; it is only looked
 * at. Returns what the entry point returns; the outputs are set on success only. */
int win_query_shared(struct win_rec *rec, int rank, MPI_Aint *size, const void *unit_place,
                     uint32_t *disp_unit, void *baseptr);

#endif
