/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grid.h - the torus, its buffers and what must be in them.
 *
 * Ranks form a periodic px by py grid. A step sends one boundary strip in each
 * of four directions; the strip sent in direction d lands in the neighbour's
 * ghost cells on the opposite side. On a small torus several neighbours are the
 * same rank or the rank itself; the exchange does not treat them apart.
 *
 * Contents are a function of sender, direction, step and place, so that ghost
 * cells from another step, side or rank are never mistaken for the right ones.
 * In timed steps only the first and last eight bytes of a strip change (the
 * stamp); in full steps all of it does.
 */
#ifndef BENCH_HALO_GRID_H
#define BENCH_HALO_GRID_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/common/winmem.h"

enum { WEST, EAST, NORTH, SOUTH, SIDES };

static inline int halo_opposite(int side)
{
    return side ^ 1;
}

enum halo_notify { NOTIFY_ACCUMULATE, NOTIFY_PUT, NOTIFY_BARRIER };
extern const char *const halo_notify_name[];

struct halo {
    MPI_Comm comm;
    int rank, nprocs, px, py;
    int nbr[SIDES];
    MPI_Group nbr_group; /* the distinct neighbours */
    bool yield;          /* more ranks than processors */
    enum halo_notify notify;
    MPI_Status
        *ignore; /* MPI_STATUSES_IGNORE, hidden from gcc, which takes it for an empty array */

    size_t size;         /* bytes of a strip: a multiple of 8, at least 16 */
    size_t slot;         /* bytes from one strip to the next */
    unsigned char *send; /* SIDES slots */
    unsigned char *recv; /* SIDES slots, for the two-sided exchange */
    struct winmem data;  /* 2 * SIDES slots of ghost cells: two buffers */
    struct winmem flag;  /* SIDES flags and a counter, each on its own cache line */
    bool has_window;
    char *peer_data[SIDES]; /* the neighbours' parts: of shared memory as it is mapped here, */
    char *peer_flag[SIDES]; /* of malloc by their addresses in the neighbours */
    pid_t nbr_pid[SIDES];   /* malloc only */
    char *counter;          /* shared memory only: rank 0's */
    uint64_t barriers;      /* passed by means of it */

    uint64_t step;              /* number of the last step, never reset while open */
    uint64_t filled;            /* the step whose contents the strips carry (but stamps) */
    const unsigned char *ghost; /* where the last step's ghost cells are */
    char wrong[160]; /* the first ghost cell that was found wrong, one line without commas; "": none
                      */
};

#define HALO_FLAG_STRIDE 64

/* The torus of comm's ranks, as square as possible. */
void halo_grid_init(struct halo *h, MPI_Comm comm, bool yield, enum halo_notify notify);
void halo_grid_free(struct halo *h);

/* Collective: buffers for strips of size bytes; with kind >= 0 also the windows
 * for ghost cells and flags. 0, or -1 on every rank with the reason. */
int halo_grid_open(struct halo *h, int kind, size_t size, char *reason, size_t len);
void halo_grid_close(struct halo *h);

/* Start the next step: only the stamps change / all contents change. */
void halo_grid_stamp(struct halo *h);
void halo_grid_fill(struct halo *h);

/* Check the ghost cells of the last step, all of them or only the stamps.
 * The first mismatch is kept in h->wrong, which the caller clears. */
void halo_grid_check(struct halo *h, const char *mode, bool all);

#endif
