/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_stats.h - what was carried by which path (MPIRMA_STATS).
 *
 * None is missed: those of a window's operations are counted by win_count (win.h), where several
 * threads may call atomically, and only if MPIRMA_STATS is set; the others under the engine's lock,
 * by one thread alone, or atomically.
 */
#ifndef MRMA_RMA_WIN_WIN_STATS_H
#define MRMA_RMA_WIN_WIN_STATS_H

#include <stdalign.h>
#include <stdint.h>

#include "base/atomic.h"

enum rma_path { PATH_MAPPED, PATH_ASSISTED, PATH_PACKETS, PATH_RDMA, PATH_COUNT };
/* What is counted, by the words of MPIRMA_PATH. Operations to targets that PATH_RDMA serves count
 * as packets over the network, which some of them are; the network channel counts its own puts and
 * gets. */
enum {
    COUNTED_MAPPED = PATH_MAPPED,
    COUNTED_CMA = PATH_ASSISTED,
    COUNTED_SHM_PACKETS = PATH_PACKETS,
    COUNTED_NET_PACKETS = PATH_RDMA,
    COUNTED_PATHS
};

struct win_stats {
    uint64_t ops[COUNTED_PATHS];
    uint64_t bytes[COUNTED_PATHS];
};

struct rma_stats {
    alignas(MRMA_CACHE_LINE) struct win_stats paths; /* operations issued here, of all windows */
    uint64_t notified; /* notifications by operations issued here: notify.h */
    _Atomic uint64_t windows;
    uint64_t assisted_packets;   /* operations to kernel-assisted targets that went by packet:
                                    assisted.c */
    _Atomic uint64_t unattached; /* the kernel did these on mapped targets: xpmem_path.c */
    uint64_t staged;             /* small puts to memory peers that did not wait for the post */
    uint64_t parked;             /* packets that came before their epoch was open */
    uint64_t acks;               /* acknowledgements received */
    _Atomic uint64_t lock_waits; /* lock requests that found the lock taken */
    _Atomic uint64_t sleeps;     /* futex sleeps of application threads */
    uint64_t agent_wakeups;
    _Atomic uint64_t host_served;  /* rounds in the host's progress that moved something */
    uint64_t late;                 /* packets of windows that had ended, which nobody awaited */
    uint64_t regions_registered;   /* with the network, when first asked for: target/attach.c */
    uint64_t regions_unregistered; /* asked for, and reached by packets alone */
    uint64_t regions_asked;        /* questions for regions of targets */
    _Atomic uint64_t refused;      /* packets or operations refused at this target */
    uint32_t routes;               /* a bit for the number of each route that a target has had */
};

#endif
