/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slow_rdma.h - a channel of simulated processes, whose own puts and gets take their time.
 *
 * The channel is the fabric's: a put or get is done only many
 * polls later, and often there is no room to start one. A put's data is in place
 * when it is done, or (RDMA_ORDERED) no earlier than the next packet to that peer; a get reads the
 * target's memory when it is done. A card's puts may be
 * injected, and where nothing but a get behind a put tells that its data is in place, it is not in
 * place before that, or before a packet.
 */
#ifndef MRMA_TEST_SLOW_RDMA_H
#define MRMA_TEST_SLOW_RDMA_H

#include "pkt_run.h"

enum {
    SLOW_RDMA_MIN = 1000, /* bytes from which processes put and get by it */
    SLOW_RDMA_UNDER_WAY = 4,
    SLOW_RDMA_INJECT = 64,
    SLOW_RDMA_UNPLACED = 64
};

struct slow_rdma_op {
    struct ch3_rdma *op;
    struct ch3_vc *vc;
    unsigned left; /* polls */
    bool moved;
    unsigned char copy[SLOW_RDMA_INJECT]; /* of what was injected */
};

/* A put that is done, and whose data is not in place. */
struct slow_rdma_unplaced {
    struct ch3_vc *vc;
    uint64_t remote;
    size_t len;
    unsigned char bytes[SLOW_RDMA_INJECT];
};

/* The channel of each process, by rank; what it has counted, and what it is to refuse. */
extern struct slow_rdma {
    struct ch3_channel_ops ops;
    const struct ch3_channel_ops *below;
    struct slow_rdma_op under_way[SLOW_RDMA_UNDER_WAY];
    _Atomic unsigned n; /* under way */
    unsigned puts, gets, registered;
    struct slow_rdma_unplaced unplaced[SLOW_RDMA_UNPLACED];
    unsigned nunplaced;
    unsigned refuses; /* 1 + how many it takes before it refuses one; 0: takes all */
    int refusal;      /* with this error */
} slow_rdma[FABRIC_MAX];

/* slow_rdma_init has the channel of process p put and get by itself, in order with packets if
 * ordered. Called before the processes run. */
void slow_rdma_init(struct fabric_proc *p, bool ordered);

#endif
