/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procseg.h - the segment in which a process meets its node peers: where its
 * threads sleep, the copies that others make together with it, its accumulate locks, the rings that
 * others send through, and what it tells them of the windows that are being made (rma/env.h).
 *
 * Each process has one. It has a fixed size, is committed at creation, and is mapped by every peer
 * that shares a window. A sender makes a ring in its own shared memory and announces it here: it
 * takes a free entry, fills it, and stores the ring's size last. From then on only the receiver
 * writes to the entry: it notes that it has mapped the ring, that it takes no more packets from it,
 * and, when the sender has ended, that the entry is free again.
 *
 *   sender                                      receiver
 *   D: rings[n].sender 0 -> uid (acquire)       rings[n].bytes = 0
 *   rings[n].where = ...                        C: rings[n].sender = 0 (release)   (C pairs with D)
 *   A: rings[n].bytes = ... (release)           nrings changed (acquire): rings[n].bytes?
 *   nrings += 1 (release)                       B: map the ring                    (A pairs with B)
 *
 * A pairs with the load before B, so what the sender has entered and cleared is visible. C pairs
 * with D: nobody else writes an entry once its sender has ended. The receiver stores its own state
 * of an entry with release, the state last, and likewise the number of entries in use, since
 * threads that ask whether anything is there read both without the lock (shm_channel.c).
 *
 * A sender that dies in between leaves an entry that is never filled; nobody waits for it. A sender
 * that ends in order keeps the ring's memory until the receiver has mapped it:
 *
 *   receiver                                    sender, in MPI_Finalize
 *   maps the ring, or does not want it          F: rings[n].state (acquire) is not UNSEEN
 *   E: rings[n].state = ... (release)           gives the memory back
 *
 * E pairs with F.
 */
#ifndef MRMA_SHM_PROCSEG_H
#define MRMA_SHM_PROCSEG_H

#include <assert.h>
#include <stdalign.h>

#include "shm/heap.h"
#include "sys/joint_board.h"
#include "sys/polling.h"
#include "sys/fmutex.h"

enum {
    PROCSEG_RINGS = 1024,
    PROCSEG_STRIPES = 512,
    PROCSEG_NOTICE_BYTES = 128,
    PROCSEG_NOTICES = 64
};
#define PROCSEG_MAGIC UINT64_C(0x6d70692d726d6135)

/* What the receiver has done with a ring. */
enum procseg_ring_state {
    PROCSEG_RING_UNSEEN,
    PROCSEG_RING_MAPPED,
    PROCSEG_RING_REFUSED /* it takes no more packets; the sender looks when it waits long or has no
                            room */
};

struct procseg_ring {
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t bytes; /* of the ring; 0: not filled yet */
    _Atomic uint32_t state;                          /* enum procseg_ring_state; the receiver's */
    _Atomic uint64_t sender;                         /* the sender's uid; 0: the entry is free */
    struct heap_loc where;
};
static_assert(sizeof(struct procseg_ring) == MRMA_CACHE_LINE, "one writer a line");

struct procseg {
    uint64_t magic;
    uint64_t uid;
    struct polling polling;
    struct joint_board board;
    alignas(MRMA_CACHE_LINE) _Atomic uint32_t nrings; /* announced so far */
    struct procseg_ring rings[PROCSEG_RINGS];
    struct fmutex stripes[PROCSEG_STRIPES];
    alignas(MRMA_CACHE_LINE) unsigned char notices[PROCSEG_NOTICES][PROCSEG_NOTICE_BYTES];
};

#endif
