/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active.c - epochs with targets that poll, and streams; see bench.h.
 */
#define _GNU_SOURCE 1
#include <stdio.h>

#include "bench/net/bench.h"

void net_active(struct net *b)
{
    static const char *const name[NET_COUNTS] = {"lock_put_unlock", "lock_16_put_unlock",
                                                 "lock_100_put_unlock"};
    double ns;
    char what[80];
    for (int i = 0; i < NET_COUNTS; i++) {
        ns =
            net_polling(b, lock_puts, &(struct epoch_arg){.n = net_puts[i], .size = 8}, 500, false);
        net_keep(b, name[i], "polling", 8, ns, 0);
        snprintf(what, sizeof what, "lock / %d puts of 8 B / unlock, round trips", net_puts[i]);
        net_goal(b, "14", what, ns / (2 * b->T), 1.2, false);
        net_goal(b, "14", "  over a round trip of as many bytes", ns / b->same[i], 1.2, false);
    }
    for (int d = 1; d < b->nprocs; d++) {
        ns = net_polling(b, flush_puts, &(struct epoch_arg){.n = 1, .d = d, .size = 8}, 500, true);
        net_keep(b,
                 d == 1   ? "put_flush_1"
                 : d == 2 ? "put_flush_2"
                          : "put_flush_more",
                 "polling", 8, ns, 0);
        snprintf(what, sizeof what, "put 8 B to %d targets, flush all, round trips", d);
        net_goal(b, "14", what, ns / (2 * b->T), 1.3, false);
        const double raw = net_raw_fan(b, d);
        net_keep(b, "fan", "raw", 8, raw, 0);
        snprintf(what, sizeof what, "  over bare endpoints, %d peers asleep", d);
        net_goal(b, "14", what, ns / raw, 1.3, false);
    }
}

void net_rates(struct net *b)
{
    double ns =
        net_polling(b, flush_puts, &(struct epoch_arg){.n = 50000, .d = 1, .size = 8}, 1, true) /
        50000;
    net_keep(b, "put_rate", "polling", 8, ns, 0);
    net_goal(b, "17", "put rate 8 B over that of full packets on the bare endpoint",
             b->raw_full * NET_PUT / NET_FULL / ns, 0.6, true);
    for (size_t s = 64 << 10; s <= 4 << 20; s *= 4) {
        ns = net_polling(b, flush_puts, &(struct epoch_arg){.n = 16, .d = 1, .size = s}, 12, true) /
             16;
        net_keep(b, "put_stream", "polling", s, ns, 0);
        if (s == 1 << 20)
            net_goal(b, "17", "bandwidth, put 1 MiB, over the bare endpoint's", b->raw_1m / ns, 0.9,
                     true);
        ns = net_polling(b, flush_gets, &(struct epoch_arg){.n = 16, .size = s}, 12, true) / 16;
        net_keep(b, "get_stream", "polling", s, ns, 0);
        if (s == 1 << 20)
            net_goal(b, "17", "bandwidth, get 1 MiB, over the bare endpoint's", b->raw_1m / ns, 0.9,
                     true);
    }
}
