/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.c - two processes that give each other two messages a step, as the halo exchange of two
 * does: by the bare endpoint, by MPI_Isend and MPI_Irecv, and by notified puts; see bench.h.
 *
 * The bare endpoint sends as many bytes as the library's packets have, so that what notified puts
 * take beyond it is the library's own work. The three come in turns, and medians are compared: over
 * tcp each is mostly calls of the system, whose time changes from second to second.
 */
#define _GNU_SOURCE 1
#include <mpi-rma.h>

#include "bench/common/clock.h"
#include "bench/common/host.h"
#include "bench/common/stats.h"
#include "bench/common/watchdog.h"
#include "bench/net/bench.h"

enum {
    EACH = 2, /* messages a step, each way */
    STEPS = 2000,
    TURNS = 9,
    MOST = 4096 /* bytes of a message */
};

/* Bytes of a packet beside the data of one notified put. */
enum { HEADS = 64 };

enum way { BARE, MESSAGES, NOTIFIED, WAYS };
static const char *const way_name[WAYS] = {"bare", "isend", "notified"};

struct pair {
    struct net *b;
    int peer;
    size_t size;
    MPI_Win win;
    char *base;
    __typeof__(MPIRMA_Put_notify) *put;
    __typeof__(MPIRMA_Notify_wait) *wait;
};

static void messages_step(struct pair *p)
{
    MPI_Request requests[2 * EACH];
    MPI_Status statuses[2 * EACH];
    for (int i = 0; i < EACH; i++)
        MPI_Irecv(p->b->buf + MOST * (EACH + i), (int)p->size, MPI_BYTE, p->peer, i, p->b->pair,
                  &requests[i]);
    for (int i = 0; i < EACH; i++)
        MPI_Isend(p->b->buf + MOST * i, (int)p->size, MPI_BYTE, p->peer, i, p->b->pair,
                  &requests[EACH + i]);
    MPI_Waitall(2 * EACH, requests, statuses);
}

/* A peer may be one step ahead: two buffers in turn. */
static void notified_step(struct pair *p, int step)
{
    const int first = step % 2 * EACH;
    for (int i = first; i < first + EACH; i++)
        p->put(p->b->buf, (int)p->size, MPI_BYTE, p->peer, MOST * (MPI_Aint)i, (int)p->size,
               MPI_BYTE, p->win, i);
    for (int i = first; i < first + EACH; i++)
        p->wait(p->win, MPI_ANY_SOURCE, i, 1);
    MPI_Win_flush_local_all(p->win);
}

/* Time of a step, in ns. */
static double turn(struct pair *p, enum way way)
{
    MPI_Barrier(p->b->pair);
    if (way == BARE)
        return raw_ep_exchange(p->b->raw, p->size + HEADS, EACH, STEPS);
    const double start = clock_ns();
    for (int i = 0; i < STEPS; i++) {
        if (way == MESSAGES)
            messages_step(p);
        else
            notified_step(p, i);
    }
    return (clock_ns() - start) / STEPS;
}

static void compare(struct pair *p)
{
    double ns[WAYS][TURNS], median[WAYS];
    char what[80];
    for (int t = -1; t < TURNS; t++) /* once to warm up */
        for (enum way way = BARE; way < WAYS; way++)
            ns[way][t < 0 ? 0 : t] = turn(p, way);
    for (enum way way = BARE; way < WAYS; way++) {
        median[way] = stats_median(ns[way], TURNS);
        net_keep(p->b, "exchange", way_name[way], p->size, median[way], 0);
    }
    snprintf(what, sizeof what, "notified puts of %zu B, over the bare endpoint", p->size);
    net_goal(p->b, "15", what, median[NOTIFIED] / median[BARE], 1.2, false);
    snprintf(what, sizeof what, "  over MPI_Isend and MPI_Irecv");
    net_goal(p->b, "15", what, median[NOTIFIED] / median[MESSAGES], 1.2, false);
}

void net_notified(struct net *b)
{
    struct pair p = {.b = b, .peer = 1 - b->rank};
    MPI_Info info;
    if (b->pair == MPI_COMM_NULL)
        return net_meet_asleep();
    host_function("MPIRMA_Put_notify", &p.put);
    host_function("MPIRMA_Notify_wait", &p.wait);
    if (!b->raw || !p.put || !p.wait) {
        if (b->rank == 0)
            printf("notified: needs libmpi-rma and the bare endpoint\n");
        return net_meet_asleep();
    }
    watchdog_arm(120, "net, notified puts");
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_notifications", "4");
    if (MPI_Win_allocate(2 * EACH * MOST, 1, info, b->pair, &p.base, &p.win))
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Info_free(&info);
    MPI_Win_lock_all(0, p.win);
    for (p.size = 16; p.size <= MOST; p.size *= 4)
        compare(&p);
    MPI_Win_unlock_all(p.win);
    MPI_Win_free(&p.win);
    watchdog_arm(0, "idle");
    net_meet_asleep();
}
