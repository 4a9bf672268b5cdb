/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_stats.c - what MPIRMA_STATS prints when an engine ends: a line on what went
 * over which path, and one on the network if it was used.
 *
 * A line is written in one piece, so that those of several processes do not mix.
 * Printed when the agent has ended: nothing changes any more.
 */
#include <stdio.h>

#include "engine_env.h"
#include "rma/layer.h"
#include "rma/win/stats.h"

typedef unsigned long long ull;

uint64_t engine_alloc_begin(const struct engine *e)
{
    return likely(e->conf.stats[0] == '\0') ? 0 : clock_monotonic_ns();
}

void engine_alloc_end(struct engine *e, uint64_t began, uint64_t calls, uint64_t bytes)
{
    if (likely(!began))
        return;
    atomic_fetch_add_explicit(&e->allocs, calls, memory_order_relaxed);
    atomic_fetch_add_explicit(&e->alloc_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&e->alloc_ns, clock_monotonic_ns() - began, memory_order_relaxed);
}

static void print_paths(struct engine *e, FILE *out)
{
    const struct rma_stats *s = &e->rma.stats;
    const struct ch3_stats *c = &e->ch3.stats;
    char text[2048];
    size_t at = (size_t)snprintf(text, sizeof text, "libmpi-rma[%d] stats: windows %llu",
                                 e->world_rank, (ull)s->windows);
    for (int p = 0; p < PATH_KINDS; p++)
        at += (size_t)snprintf(text + at, sizeof text - at, ", %s %llu ops %llu bytes",
                               rma_path_name((unsigned)p), (ull)s->paths.ops[p],
                               (ull)s->paths.bytes[p]);
    snprintf(text + at, sizeof text - at,
             ", cma by packet %llu, packets sent %llu (%llu bytes) received %llu queued %llu "
             "refused %llu, "
             "acks %llu, staged puts %llu, parked %llu, lock waits %llu, futex sleeps %llu, agent "
             "wake-ups %llu, "
             "shared in place %llu windows %llu bytes refused %llu, MPI_Alloc_mem %llu calls %llu "
             "bytes %.1f us\n",
             (ull)s->assisted_packets, (ull)c->packets_sent, (ull)c->bytes_sent,
             (ull)c->packets_received, (ull)c->queued, (ull)(s->refused + c->bad), (ull)s->acks,
             (ull)s->staged, (ull)s->parked, (ull)s->lock_waits, (ull)s->sleeps,
             (ull)s->agent_wakeups, (ull)s->shared, (ull)s->shared_bytes, (ull)s->share_refused,
             (ull)e->allocs, (ull)e->alloc_bytes, (double)e->alloc_ns / 1000);
    fputs(text, out);
}

static void print_net(struct engine *e, FILE *out)
{
    if (!e->net)
        return;
    const struct nmofi_stats *s = nmofi_get_stats(e->net);
    char text[1024];
    snprintf(text, sizeof text,
             "libmpi-rma[%d] network: %s, messages sent %llu (injected %llu, credits only %llu) "
             "received %llu "
             "dropped %llu, peers in use %llu (%llu bytes) lost %llu, buffers %llu bytes, stalls "
             "for credits "
             "%llu buffers %llu provider %llu, rdma puts %llu gets %llu (%llu bytes)\n",
             e->world_rank, nmofi_describe(e->net), (ull)s->sent, (ull)s->injected,
             (ull)s->credit_messages, (ull)s->received, (ull)s->dropped, (ull)s->links,
             (ull)s->link_bytes, (ull)s->lost, (ull)s->buffer_bytes, (ull)s->credit_stalls,
             (ull)s->buffer_stalls, (ull)s->provider_stalls, (ull)s->rdma_puts, (ull)s->rdma_gets,
             (ull)s->rdma_bytes);
    fputs(text, out);
}

void engine_print_stats(struct engine *e)
{
    if (!e->conf.stats[0])
        return;
    FILE *out = stderr;
    if (e->conf.stats[0] != '1' || e->conf.stats[1])
        out = fopen(e->conf.stats, "a");
    if (!out) {
        log_msg(&e->log, LOG_LEVEL_ERROR, "MPIRMA_STATS: cannot open %s", e->conf.stats);
        return;
    }
    print_paths(e, out);
    print_net(e, out);
    if (out != stderr)
        fclose(out);
}
