/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * raw.c - the bare libfabric endpoint, which is the anchor of bench/net; see bench.h.
 */
#define _GNU_SOURCE 1
#include <math.h>

#include "bench/common/clock.h"
#include "bench/common/watchdog.h"
#include "bench/net/bench.h"

const int net_puts[NET_COUNTS] = {1, 16, 100};

double net_raw_fan(struct net *b, int d)
{
    char reason[200];
    MPI_Comm some;
    double ns = NAN;
    if (d >= RAW_EP_MAX)
        return NAN;
    watchdog_arm(60, "net, bare endpoints, %d peers", d);
    MPI_Comm_split(MPI_COMM_WORLD, b->rank <= d ? 0 : MPI_UNDEFINED, b->rank, &some);
    if (some != MPI_COMM_NULL) {
        struct raw_ep *e = raw_ep_open(some, b->provider, b->interface, reason, sizeof reason);
        if (e) {
            ns = raw_ep_fan(e, 8, 2500);
            raw_ep_close(e);
        }
        MPI_Comm_free(&some);
    }
    net_meet_asleep();
    watchdog_arm(0, "idle");
    return ns;
}

void net_anchors(struct net *b)
{
    char reason[200] = "";
    double t[4] = {NAN, NAN, NAN, NAN};
    for (int i = 0; i < NET_COUNTS; i++)
        b->same[i] = NAN;
    if (b->pair != MPI_COMM_NULL && b->nprocs > 1)
        b->raw = raw_ep_open(b->pair, b->provider, b->interface, reason, sizeof reason);
    if (b->raw) {
        watchdog_arm(60, "net, bare endpoint");
        t[0] = raw_ep_round_trip(b->raw, 8, 8, 4000, 0) / 2;
        t[1] = raw_ep_round_trip(b->raw, 8, 8, 2000, 1) / 2;
        t[2] = raw_ep_stream(b->raw, NET_FULL, 10000);
        t[3] = raw_ep_stream(b->raw, 1 << 20, 600);
        for (int i = 0; i < NET_COUNTS; i++)
            b->same[i] = raw_ep_round_trip(b->raw, NET_HEADS + NET_PUT * (size_t)net_puts[i],
                                           NET_HEADS, 2500, 0);
        watchdog_arm(0, "idle");
    } else if (b->rank == 0) {
        printf("no anchors: %s\n", reason);
    }
    b->T = t[0];
    b->W = 2 * (t[1] - t[0]);
    b->raw_full = t[2];
    b->raw_1m = t[3];
    net_meet_asleep();
    if (!b->raw || b->rank != 0)
        return;
    printf("bare endpoint: %s on %s\n", raw_ep_provider(b->raw),
           b->interface ? b->interface : "any interface");
    net_keep(b, "T", "raw", 8, b->T, 0);
    net_keep(b, "W", "raw", 8, b->W, 0);
    net_keep(b, "stream", "raw", NET_FULL, b->raw_full, 0);
    net_keep(b, "stream", "raw", 1 << 20, b->raw_1m, 0);
}
