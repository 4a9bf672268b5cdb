/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_stats.h - how many operations and bytes each path has carried (MPIRMA_STATS).
 *
 * No event is missed. win_count (win.h) counts a window's operations; where several threads may
 * call it counts atomically, and only if MPIRMA_STATS is set. All else is counted under the
 * engine's lock, by one thread alone, or atomically.
 */
#ifndef MRMA_RMA_WIN_WIN_STATS_H
#define MRMA_RMA_WIN_WIN_STATS_H

#include <stdalign.h>
#include <stdint.h>

#include "base/atomic.h"

enum rma_path { PATH_MAPPED, PATH_ASSISTED, PATH_PACKETS, PATH_RDMA, PATH_COUNT };
/* Operations are counted under the words of MPIRMA_PATH. Those to targets of PATH_RDMA count as
 * packets over the network, by which some of them go; the network channel counts its own puts and
 * gets. */
enum {
    STATS_MAPPED = PATH_MAPPED,
    STATS_CMA = PATH_ASSISTED,
    STATS_SHM_PACKETS = PATH_PACKETS,
    STATS_NET_PACKETS = PATH_RDMA,
    STATS_PATHS
};

struct win_stats {
    uint64_t ops[STATS_PATHS];
    uint64_t bytes[STATS_PATHS];
};

struct rma_stats {
    alignas(MRMA_CACHE_LINE) struct win_stats paths; /* operations issued here, of all windows */
    uint64_t notified; /* notifications by operations issued here: notify.h */
    _Atomic uint64_t windows;
    uint64_t assisted_packets;     /* operations to kernel-assisted targets that went by packet:
                                    assisted.c */
    _Atomic uint64_t unattached;   /* operations on mapped targets that the kernel did:
                                    xpmem_path.c */
    uint64_t staged;               /* small puts to memory peers that did not wait for the post */
    uint64_t joint;                /* puts and gets that were published for their target: joint.h */
    _Atomic uint64_t joint_helped; /* chunks that this process has copied for others */
    uint64_t parked;               /* packets that came before their epoch was open */
    uint64_t acks;                 /* acknowledgements received */
    _Atomic uint64_t lock_waits;   /* lock requests that found the lock taken */
    _Atomic uint64_t sleeps;       /* futex sleeps of application threads */
    uint64_t agent_wakeups;
    _Atomic uint64_t host_served;  /* entries into the host's progress that moved something */
    uint64_t late;                 /* packets for windows that had ended; nobody waited for them */
    uint64_t regions_registered;   /* regions registered with the network when they were first asked
                                      for: target/attach.c */
    uint64_t regions_unregistered; /* regions that were asked for and that packets alone reach */
    uint64_t regions_asked;        /* questions that this process has sent for regions of targets */
    _Atomic uint64_t refused;      /* packets or operations refused at this target */
    uint32_t routes;               /* a bit for the number of each route that a target has had */
};

#endif
