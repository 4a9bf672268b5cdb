/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_ctl.h - the control block: what a process publishes about a window to the processes of its
 * node, in memory that they share. A line of it has one writer, except the lock and lock_all words.
 */
#ifndef MRMA_RMA_WIN_WIN_CTL_H
#define MRMA_RMA_WIN_WIN_CTL_H

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>

#include "base/atomic.h"
#include "rma/env.h"
#include "rma/win/sync_state.h"
#include "sys/futex_event.h"

/* Signals from one peer, as counters that only grow (and come round). */
struct win_signals {
    _Atomic uint32_t posts;     /* exposure epochs posted to me; by a packet peer: as far as it has
                                   said so */
    _Atomic uint32_t completes; /* access epochs of a packet peer to me that are complete; memory
                                   peers signal theirs in stages: stage.c */
    _Atomic uint32_t left;    /* this process's generation of a window that the peer has abandoned:
                                 create/abandoned.c */
    struct sync_signals sync; /* of src/rma/sync alone */
};

/* Each direction has a cache line: one line for both is faster only where the answer follows at
 * once (doc/decisions.md). */
struct win_slot {
    alignas(MRMA_CACHE_LINE) struct win_signals signals;
};
static_assert(sizeof(struct win_slot) == MRMA_CACHE_LINE, "one writer a line");

/* Small puts of one access epoch and its end, or of one fence phase, from one peer: stage.c. */
struct win_stage {
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t
        seq;       /* number of the access epoch that has ended; for fences the phase + 1 */
    uint32_t used; /* bytes of room */
    char room[];   /* the puts, up to the end of the stage's cache lines */
};

struct win_ctl {
    /* The target's lock (lockword.h), who sleeps for it, whether packets wait for it, and how many
     * hold it shared without a ticket, or wait to do so: target_lock.h. */
    alignas(MRMA_CACHE_LINE) _Atomic uint64_t lock;
    struct event lock_event;
    _Atomic uint32_t packets_wait; /* the owner has queued lock requests of packets */
    _Atomic uint32_t ticketless;
    /* How many fences this process has passed so far that others may access its memory: it has
     * entered the fence or, where staged puts must be copied first, finished it (fence.c). Written
     * by the owner. */
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t exposed;
    /* Last fence phase + 1 in which anybody put into a stage here. Written by all processes of the
     * node. */
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t staged_phase;
    /* Used in the control block of the node's lowest rank only: target_lock.h. */
    alignas(MRMA_CACHE_LINE) _Atomic uint64_t all; /* lock_all of windows from
                                                      MPI_Win_allocate_shared: holders in the lower
                                                      half, waiting processes in the upper half */
    _Atomic uint32_t all_blocked;                  /* exclusive requests that stepped back */
    struct event all_event; /* for those who wait for others before they ask for a lock */
    /* Accumulates on this process's memory: acc_atomic.h. The mode changes twice at most; busy is
     * set while the owner is in an accumulate, on anybody's memory. */
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t acc_mode;
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t acc_busy;
    alignas(MRMA_CACHE_LINE) struct sync_ctl sync; /* of src/rma/sync alone */
    /* MPIRMA_STRICT only. Locks held here, shared in the lower half, exclusive in the upper, those
     * with MPI_MODE_NOCHECK included; epochs of lock_all count in the lowest rank's block. Written
     * by all processes of the node. */
    alignas(MRMA_CACHE_LINE) _Atomic uint64_t strict_locks;
    _Atomic uint32_t strict_all;
    /* Written by the owner: the fence phases (by parity) and the exposure epoch with
     * MPI_MODE_NOPUT. */
    _Atomic uint32_t noput_phase[2], noput_post;
    /* Dynamic windows; written by the owner. */
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t regions_gone; /* how many have been detached */
    _Atomic uint64_t regions_offset; /* bytes from the control block to the tree: region.h */
    /* 1 + a rank that is lost, and above it the owner's generation of the window, for the block may
     * belong to another window by then: lost.c. Written by whoever has heard of the loss. */
    _Atomic uint64_t lost;
    /* Used in the block of the lowest of the memory peers: where the parts of the processes are,
     * and a table of processes that is new (proc_records.c). */
    struct rma_mem_loc records, processes;
    uint32_t stage_bytes, phase_bytes; /* size of each stage, fixed before others know of the block:
                                          stage.h */
    uint64_t notify_at;      /* bytes from the control block to the counters of notifications, fixed
                                likewise: notify.h */
    uint64_t fence_stage_at; /* bytes from the control block to the owner's stage for fence phases,
                                fixed likewise; 0: there is none. path/fence_stage.h */
    /* One for each process, by its index among the window's ranks on the node. The stages of all
     * processes follow the slots, in the same order. */
    struct win_slot slots[];
};

#endif
