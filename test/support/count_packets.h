/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count_packets.h - runs of four processes by packets in which the packets of an epoch are counted.
 */
#ifndef MRMA_TEST_SUPPORT_COUNT_PACKETS_H
#define MRMA_TEST_SUPPORT_COUNT_PACKETS_H

#include "test/support/pkt_helper.h"

enum { PROCS = 4 };

/* check_count ends the test unless the process has sent as many packets of the type as expected. */
static inline void check_count(int rank, int type, int n, int expected)
{
    if (n == expected)
        return;
    print_error("process %d sent %d packets of type %d, expected %d\n", rank, n, type, expected);
    FABRIC_CHECK(!"number of messages");
}

/* run_counted runs body without agents and with them. */
static inline void run_counted(void (*body)(struct fabric_proc *p, void *arg),
                               enum conf_fence fence, void *arg)
{
    static const enum conf_progress progress[] = {CONF_PROGRESS_POLL, CONF_PROGRESS_AGENT};
    for (int i = 0; i < 2; i++) {
        fabric_watchdog(60);
        atomic_store(&pkt_arrived, 0);
        struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = PROCS,
                                                            .path = CONF_PATH_SHM_PACKETS,
                                                            .progress = progress[i],
                                                            .fence = fence});
        fabric_run(f, body, arg);
        fabric_free(f);
        fabric_watchdog(0);
    }
}

#endif
