/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_state.h - what src/rma/sync keeps in a window, and in the words through which its processes
 * signal each other. Nobody else touches it.
 */
#ifndef MRMA_RMA_WIN_SYNC_STATE_H
#define MRMA_RMA_WIN_SYNC_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct fence_counts;

/* BARRIER_NODE is the barrier of the processes that synchronize through shared memory, BARRIER_FREE
 * that of all processes: barrier.c. */
enum barrier_kind { BARRIER_NODE, BARRIER_FREE, BARRIER_KINDS };

/* How one process signals another one that it has entered a barrier. */
struct barrier_signal {
    _Atomic uint32_t entered; /* barriers */
    _Atomic int32_t err;      /* enum mrma_err: the error with which it has entered the last one */
};

/* Stands in the slot that one process has in another one's control block; written by the process
 * whose slot it is. */
struct sync_signals {
    struct barrier_signal barriers[BARRIER_KINDS];
    _Atomic uint32_t lock; /* what that process does with the lock of the block's owner:
                              by_memory.c */
};

/* In the control block. */
struct sync_ctl {
    /* Of the barrier that counts, used in the block of the lowest rank: how many processes have
     * arrived in it, and the number of the last one that all may leave: barrier.c. */
    _Atomic uint32_t arrived, open;
    _Atomic uint32_t entered; /* how many barriers of the node the owner has entered, for reports;
                                 written by the owner */
};

/* The ranks in the group of an MPI_Win_start or MPI_Win_post; the memory for them is kept from
 * epoch to epoch. */
struct win_group {
    int *ranks;
    int n, room;
};

/* In struct win. */
struct sync_win {
    uint32_t barriers[BARRIER_KINDS];  /* entered */
    struct fence_counts *fence_counts; /* NULL: fences end by markers */
    bool noput;                        /* MPI_MODE_NOPUT was given for the present fence phase */
    bool fence_known;                  /* all processes have entered the last fence */
    struct list ticketless; /* targets in whose control blocks lock_all has counted this process */
    struct win_group access, exposure;
};

/* In struct rma_target. */
struct sync_target {
    struct list_node ticketless_link; /* in sync_win.ticketless */
};

/* sync_first_signals sets the counters of signals that nobody else sees yet to first
 * (win/first_number.h). */
static inline void sync_first_signals(struct sync_signals *signals, uint32_t first)
{
    for (int kind = 0; kind < BARRIER_KINDS; kind++)
        atomic_init(&signals->barriers[kind].entered, first);
}

/* sync_first_win sets the counters of a window that is being made to first. */
static inline void sync_first_win(struct sync_win *win, uint32_t first)
{
    for (int kind = 0; kind < BARRIER_KINDS; kind++)
        win->barriers[kind] = first;
    list_init(&win->ticketless);
}

/* sync_first_control sets the counters of a control block that nobody else sees yet to first. */
static inline void sync_first_control(struct sync_ctl *ctl, uint32_t first)
{
    atomic_init(&ctl->entered, first);
}

/* sync_first_arrivals sets the words of the barrier in which n processes count their arrivals to
 * the values that they have when each of them has been in `first` barriers. It is called before
 * anybody else uses these words. */
static inline void sync_first_arrivals(struct sync_ctl *ctl, uint32_t first, int n)
{
    atomic_init(&ctl->arrived, first * (uint32_t)n);
    atomic_init(&ctl->open, first);
}

#endif
