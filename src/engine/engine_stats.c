/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_stats.c - what an engine counts, for MPIRMA_STATS (mpi/process/print_stats.h).
 *
 * COUNTERS is the list of all counters, in the order of the printed tables; the user guide has the
 * same list. The number of windows stands first (ENGINE_COUNTER_WINDOWS). The counters are read
 * when the agent has ended.
 *
 * No locks: no counter changes any more, except those of MPI_Alloc_mem, which are atomic.
 * Neighbours: src/mpi, which writes the tables; counter_table.c, which has their forms.
 */
#include <stdio.h>

#include "engine/engine_impl.h"
#include "rma/create/route.h"
#include "rma/layer/layer.h"
#include "rma/win/win_stats.h"

/* X(name, unit, meaning, value): s counts for src/rma, c for packets, n for the network. */
#define COUNTERS(X)                                                                                \
    X(windows, "", "windows created", s->windows)                                                  \
    X(mapped_ops, "", "operations issued to memory that is mapped", s->paths.ops[STATS_MAPPED])    \
    X(mapped_bytes, "bytes", "bytes of mapped_ops, of the target side",                            \
      s->paths.bytes[STATS_MAPPED])                                                                \
    X(cma_ops, "", "operations issued to memory that the kernel reaches", s->paths.ops[STATS_CMA]) \
    X(cma_bytes, "bytes", "bytes of cma_ops, of the target side", s->paths.bytes[STATS_CMA])       \
    X(shm_packets_ops, "", "operations issued to targets that packets within the node reach",      \
      s->paths.ops[STATS_SHM_PACKETS])                                                             \
    X(shm_packets_bytes, "bytes", "bytes of shm_packets_ops, of the target side",                  \
      s->paths.bytes[STATS_SHM_PACKETS])                                                           \
    X(net_packets_ops, "", "operations issued to targets on the network",                          \
      s->paths.ops[STATS_NET_PACKETS])                                                             \
    X(net_packets_bytes, "bytes", "bytes of net_packets_ops, of the target side",                  \
      s->paths.bytes[STATS_NET_PACKETS])                                                           \
    X(cma_by_packet, "",                                                                           \
      "of cma_ops, those that the target did, from a packet, since it was "                        \
      "seen to poll",                                                                              \
      s->assisted_packets)                                                                         \
    X(xpmem_attached, "", "regions of other processes that XPMEM mapped here",                     \
      engine_attach_count(e))                                                                      \
    X(mapped_by_kernel, "",                                                                        \
      "of mapped_ops, those on several regions of a dynamic window, or on one that XPMEM did "     \
      "not map",                                                                                   \
      s->unattached)                                                                               \
    X(notifications, "", "notifications that operations issued here raise at their targets",       \
      s->notified)                                                                                 \
    X(staged_puts, "", "small puts that another process copied to their place", s->staged)         \
    X(joint_copies, "", "large puts and gets that were offered to their target, which waited",     \
      s->joint)                                                                                    \
    X(joint_chunks, "", "parts of such copies that this process has made for others",              \
      s->joint_helped)                                                                             \
    X(packets_sent, "", "packets of every kind", c->packets_sent)                                  \
    X(packets_sent_bytes, "bytes", "packets_sent with their headers", c->bytes_sent)               \
    X(packets_received, "", "packets of every kind", c->packets_received)                          \
    X(packets_queued, "", "sends that found no room, or others waiting", c->queued)                \
    X(packets_refused, "",                                                                         \
      "packets or operations that this process refused as a target, and "                          \
      "malformed packets",                                                                         \
      s->refused + c->bad)                                                                         \
    X(packets_late, "", "packets of windows that had ended, which nobody awaited", s->late)        \
    X(packets_parked, "", "packets that came before their epoch or lock and were kept", s->parked) \
    X(acks_received, "", "acknowledgements of flush and unlock", s->acks)                          \
    X(lock_waits, "", "requests that found the lock taken, of this process or by packet to it",    \
      s->lock_waits)                                                                               \
    X(futex_sleeps, "", "waits of application threads that went to sleep", s->sleeps)              \
    X(agent_wakeups, "", "returns of the agent thread from sleep", s->agent_wakeups)               \
    X(host_served, "", "polls from within calls of the MPI library that found something to do",    \
      s->host_served)                                                                              \
    X(alloc_mem_calls, "", "calls of MPI_Alloc_mem that gave memory", e->allocs)                   \
    X(alloc_mem_bytes, "bytes", "the memory of alloc_mem_calls", e->alloc_bytes)                   \
    X(alloc_mem_ns, "ns", "the time in MPI_Alloc_mem and MPI_Free_mem", e->alloc_ns)               \
    X(regions_registered, "",                                                                      \
      "regions of dynamic windows that others have used and the network reaches without "          \
      "packets",                                                                                   \
      s->regions_registered)                                                                       \
    X(regions_unregistered, "",                                                                    \
      "regions of dynamic windows that could not be registered with the network",                  \
      s->regions_unregistered)                                                                     \
    X(regions_asked, "", "questions to other processes for the key of a region", s->regions_asked) \
    X(net_sent, "",                                                                                \
      "messages to other nodes: packets and what the network channel says "                        \
      "itself",                                                                                    \
      n->sent)                                                                                     \
    X(net_injected, "", "of net_sent, those that left without a completion", n->injected)          \
    X(net_credits_only, "", "of net_sent, those that had nothing but credits to send",             \
      n->credit_messages)                                                                          \
    X(net_received, "", "messages from other nodes", n->received)                                  \
    X(net_dropped, "", "messages refused before they were read", n->dropped)                       \
    X(net_peers, "", "processes to or from which something has gone, in use at the end", n->links) \
    X(net_peers_bytes, "bytes", "memory of net_peers beyond the buffers", n->link_bytes)           \
    X(net_peers_lost, "", "connections that broke", n->lost)                                       \
    X(net_buffers_bytes, "bytes", "transmit and receive buffers, for all peers together",          \
      n->buffer_bytes)                                                                             \
    X(net_credit_stalls, "", "sends that had to wait for credits of the peer", n->credit_stalls)   \
    X(net_buffer_stalls, "", "sends that had to wait for a transmit buffer", n->buffer_stalls)     \
    X(net_provider_stalls, "", "sends that had to wait for the provider", n->provider_stalls)      \
    X(rdma_puts, "", "puts by the provider's own remote memory access", n->rdma_puts)              \
    X(rdma_gets, "", "gets by the provider's own remote memory access", n->rdma_gets)              \
    X(rdma_atomics, "", "atomic operations of the provider's own", n->rdma_atomics)                \
    X(rdma_words, "", "notifications that went with puts of the provider's own", n->rdma_words)    \
    X(rdma_bytes, "bytes", "bytes of rdma_puts, rdma_gets and rdma_atomics", n->rdma_bytes)

#define COUNTER(name, unit, meaning, value) {#name, unit, meaning},
const struct counter engine_counters[] = {COUNTERS(COUNTER)};
static_assert(sizeof engine_counters / sizeof *engine_counters == ENGINE_COUNTERS, "all counters");

void engine_count(struct engine *e, struct engine_counts *sum)
{
    static const struct nmofi_stats no_network;

    engine_agent_end(e);
    const struct rma_stats *s = &e->rma.stats;
    const struct ch3_stats *c = &e->ch3.stats;
    const struct nmofi_stats *n = e->net ? nmofi_get_stats(e->net) : &no_network;
#define VALUE(name, unit, meaning, value) value,
    const uint64_t values[] = {COUNTERS(VALUE)};
    static_assert(sizeof values == sizeof sum->values, "a value for each");

    for (int i = 0; i < ENGINE_COUNTERS; i++)
        sum->values[i] += values[i];
    route_list(s->routes, sum->routes, sizeof sum->routes);
    if (e->net)
        snprintf(sum->network, sizeof sum->network, "%s", nmofi_describe(e->net));
}

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
