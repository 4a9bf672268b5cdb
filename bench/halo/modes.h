/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * modes.h - the ways to exchange the ghost cells, one step function each.
 *
 * A step starts with the strips ready in h->send and returns when the ghost
 * cells of all four sides may be read at h->ghost and the strips may be changed.
 * The next call of step says that the ghost cells have been read. All ranks
 * call begin, then step as often as each other, then end; begin and end are
 * outside the timed part.
 */
#ifndef BENCH_HALO_MODES_H
#define BENCH_HALO_MODES_H

#include <stdbool.h>

#include "bench/halo/grid.h"

/* The modes whose data go by MPI's one-sided calls. */
#define HALO_ONE_SIDED_MODES                                                               \
    (1u << MODE_FENCE_ASSERT | 1u << MODE_FENCE | 1u << MODE_FENCE_ONE | 1u << MODE_PSCW | \
     1u << MODE_LOCK | 1u << MODE_LOCK_ALL)

/* The modes that store into MPI_Win_allocate_shared memory; the others use MPI calls. */
#define HALO_SHARED_MODES (1u << MODE_SHM | 1u << MODE_BARRIERS)

/* The modes that write into memory of malloc by the kernel. */
#define HALO_MALLOC_MODES (1u << MODE_WRITEV)

/* The mode that needs more than MPI has (mpi-rma.h). */
#define HALO_EXTENSION_MODES (1u << MODE_NOTIFIED)

/* The modes of messages alone that say what the others need at least where messages are all there
 * is. */
#define HALO_MESSAGE_MODES \
    (1u << MODE_FENCE_MSGS | 1u << MODE_PSCW_MSGS | 1u << MODE_LOCK_MSGS | 1u << MODE_LOCK_ALL_MSGS)

enum halo_mode_id {
    MODE_ISEND,
    MODE_FENCE_ASSERT,
    MODE_FENCE,
    MODE_FENCE_ONE,
    MODE_PSCW,
    MODE_LOCK,
    MODE_LOCK_ALL,
    MODE_NOTIFIED,
    MODE_FENCE_MSGS,
    MODE_PSCW_MSGS,
    MODE_LOCK_MSGS,
    MODE_LOCK_ALL_MSGS,
    MODE_WRITEV,
    MODE_SHM,
    MODE_BARRIERS,
    HALO_MODES
};

struct halo_mode {
    const char *name;    /* for options, columns and CSV */
    const char *meaning; /* for --help */
    int (*begin)(struct halo *h);
    int (*step)(struct halo *h); /* an MPI error code */
    int (*end)(struct halo *h);
};

extern const struct halo_mode halo_modes[HALO_MODES];
extern const char *const halo_mode_name[HALO_MODES + 1];

#endif
