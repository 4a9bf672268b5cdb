/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_table.h - finds this library's window for a handle of the host, in a few nanoseconds.
 *
 * The handle that the application has is a real window of the host, the carrier
 * (mpi/host/carrier.h): it has no memory and one process, but the attributes, name, error handler
 * and Fortran handle of the window.
 *
 * Before the map stand a pointer to the record used last and, behind that, a
 * small direct-mapped array. They are read without a lock: records are never
 * given back to the allocator, only reused, and a record's handle is the last
 * thing that is written when it is filled and the first that is cleared. A
 * caller's own window cannot be freed meanwhile (that would be an error of the
 * application), so a record whose handle is the caller's is the caller's record.
 * Where several threads may call, the record used last changes rarely, so that
 * threads with windows of their own do not fight for its line.
 */
#ifndef MRMA_MPI_PROCESS_WIN_TABLE_H
#define MRMA_MPI_PROCESS_WIN_TABLE_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "mpi/host/export.h"
#include "mpi/process/group.h"

struct win;

#define WIN_KINDS_MAX 128

struct win_rec {
    _Atomic(MPI_Win) handle; /* WIN_NO_HANDLE: unused */
    struct win *win;
    int nproc;
    int64_t lowest_disp; /* 0; INT64_MIN in dynamic windows, where it is an address */
    bool freeing;        /* all processes have agreed to free it */
    int rank;
    int disp_unit, flavor, model;        /* what MPI_Win_get_attr points to */
    MPI_Group group;                     /* group of the communicator at creation; owned */
    struct group_cache access, exposure; /* MPI_Win_start and MPI_Win_post */
    char kinds[WIN_KINDS_MAX];           /* mpi_assert_memory_alloc_kinds in use */
    struct win_rec *next;                /* next in the list of unused records, or of all records */
    struct win_rec *made;
};

/* A handle that no window has, not even MPI_WIN_NULL, which may be looked up. */
#define WIN_NO_HANDLE ((MPI_Win)(intptr_t)0x5bd1e995)

extern MRMA_HIDDEN _Atomic(struct win_rec *) win_last; /* never null */

/* win_find looks the window up in the map. NULL: it is no window of this library. win_find is the
 * slow way of win_lookup. */
struct win_rec *win_find(MPI_Win handle);

/* win_quick returns the record of the window that was used last; never NULL, but maybe one without
 * a handle. */
static inline struct win_rec *win_quick(void)
{
    return atomic_load_explicit(&win_last, memory_order_acquire); /* pairs with win_table.c */
}

/* win_is returns whether rec is the record of this handle. */
static inline bool win_is(struct win_rec *rec, MPI_Win handle)
{
    /* Pairs with win_table_add. */
    return likely(atomic_load_explicit(&rec->handle, memory_order_acquire) == handle);
}

/* win_lookup returns the record of a handle; NULL: it is no window of this library (MPI_WIN_NULL,
 * nonsense, or MPIRMA_DISABLE is set). The call then goes to the host, which reports what is wrong.
 * Any thread, without a lock. */
static inline struct win_rec *win_lookup(MPI_Win handle)
{
    struct win_rec *rec = win_quick();

    return win_is(rec, handle) ? rec : win_find(handle);
}

/* win_forget_last lets the next call on each window come by win_find. Called where the recording of
 * a trace has been resumed. Any thread. */
void win_forget_last(void);

/* win_rec_new returns an empty record for a new window; NULL: no memory. The caller fills it and
 * calls win_table_add, or win_rec_drop. */
struct win_rec *win_rec_new(void);

/* win_rec_drop frees what the record owns (not the window), and makes it a spare record. The record
 * is not in the table. */
void win_rec_drop(struct win_rec *rec);

/* win_table_add enters the record, which is complete, under the handle. Returns MRMA_SUCCESS, or
 * MRMA_ERR_NO_MEM. */
int win_table_add(struct win_rec *rec, MPI_Win handle);

/* win_table_del takes a record whose carrier is gone out of the table; the caller drops it
 * afterwards. */
void win_table_del(struct win_rec *rec, MPI_Win handle);

/* win_table_end forgets all windows that were not freed, and frees all records. No other thread
 * uses the table. */
void win_table_end(void);

#endif
