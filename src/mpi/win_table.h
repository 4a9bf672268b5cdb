/*
 * win_table.h - from the host's window handle to ours, in a few nanoseconds.
 *
 * The handle that the application has is a real window of the host, the carrier:
 * no memory, one process, but the attributes, name, error handler and Fortran
 * handle of the window (MPI_Win_allocate_shared of 0 bytes on MPI_COMM_SELF).
 *
 * A small direct-mapped array of pointers to records stands before the map. It
 * is read without a lock: records are never given back to the allocator, only
 * reused, and a record's handle is the last thing that is written when it is
 * filled and the first that is cleared. A caller's own window cannot be freed
 * meanwhile (that would be an error of the application), so a record whose
 * handle is the caller's is the caller's record.
 */
#ifndef MRMA_MPI_WIN_TABLE_H
#define MRMA_MPI_WIN_TABLE_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "mpi/group.h"

struct win;

#define WIN_KINDS_MAX 128

struct win_rec {
    _Atomic(MPI_Win) handle; /* MPI_WIN_NULL: unused */
    struct win *win;
    int nproc;
    int64_t lowest_disp;     /* 0; INT64_MIN in dynamic windows, where it is an address */
    bool freeing;            /* all processes have agreed to free it */
    int rank;
    int disp_unit, flavor, model; /* what MPI_Win_get_attr points to */
    MPI_Group group;         /* of the communicator at creation; owned */
    struct group_cache access, exposure; /* MPI_Win_start and MPI_Win_post */
    char kinds[WIN_KINDS_MAX]; /* mpi_assert_memory_alloc_kinds in use */
    struct win_rec *next;    /* on the list of unused records, or of all */
    struct win_rec *made;
};

enum { WIN_CACHE_BITS = 5 };

extern _Atomic(struct win_rec *) win_cache[1 << WIN_CACHE_BITS];

/* A handle is an int in one host and a pointer in another. */
static inline uint64_t win_key(MPI_Win handle)
{
    return sizeof(handle) == sizeof(uint32_t) ? (uint32_t)(uintptr_t)handle : (uintptr_t)handle;
}

static inline unsigned win_slot(MPI_Win handle)
{
    return ((uint32_t)win_key(handle) * 2654435769u) >> (32 - WIN_CACHE_BITS);
}

/* The slow way: ask the map. NULL: no window of ours. */
struct win_rec *win_find(MPI_Win handle);

/* The record of a handle, or NULL: not a window of ours (MPI_WIN_NULL, nonsense,
 * or MPIRMA_DISABLE is set); the call then goes to the host, which knows what to
 * say about it. */
static inline struct win_rec *win_lookup(MPI_Win handle)
{
    /* Both loads pair with the release stores in win_table.c. */
    struct win_rec *rec = atomic_load_explicit(&win_cache[win_slot(handle)], memory_order_acquire);

    if (likely(rec != NULL && atomic_load_explicit(&rec->handle, memory_order_acquire) == handle))
        return rec;
    return win_find(handle);
}

/* An empty record for a new window, NULL: no memory. The caller fills it and
 * calls win_table_add, or win_rec_drop. */
struct win_rec *win_rec_new(void);
void win_rec_drop(struct win_rec *rec); /* frees what it owns but the window */

/* MRMA_ERR_NO_MEM. */
int win_table_add(struct win_rec *rec, MPI_Win handle);
/* Forget a record whose carrier is gone; the caller drops it afterwards. */
void win_table_del(struct win_rec *rec, MPI_Win handle);
/* Forget all windows that were not freed, and all records. */
void win_table_end(void);

#endif
