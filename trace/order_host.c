/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order_host.c - finds who learns from whom by messages and by the host's other functions, and
 * when the buffers of messages are in use. See order.h.
 *
 * A message that has been received has been sent: nobody reads its send buffer any more by then,
 * though the sender may not know that yet.
 *
 * Of a collective operation a process learns from those whose data it needs (MPI 4.1, 6.1: none
 * but the barrier synchronizes more than that).
 */
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "messages.h"
#include "order_state.h"

/* ---- buffers of messages ---- */

void order_messages_end(struct order *order, uint32_t index)
{
    const struct trace *trace = order->trace;
    const uint32_t first = order->ended.first[index], behind = order->ended.first[index + 1];

    if (first == behind)
        return;
    const uint32_t now = clocks_tick(&order->clocks, trace->call[index].rank);
    for (uint32_t i = first; i < behind; i++) {
        struct message_end *end = &order->message[order->ended.op[i]];

        end->local = now;
        if (end->sent != NONE)
            order->message[end->sent].received = now;
    }
}

static uint32_t rank_of(const struct trace *trace, uint32_t message)
{
    return message < trace->nsendings ? trace->sending[message].rank
                                      : trace->receiving[message - trace->nsendings].rank;
}

bool order_message_before(const struct order *order, uint32_t message, const uint32_t *clock)
{
    const struct message_end *end = &order->message[message];

    return (end->local && clock[rank_of(order->trace, message)] >= end->local) ||
           (end->received && clock[order->trace->sending[message].peer] >= end->received);
}

static void one_message(void *data, const struct sending *sending,
                        const struct receiving *receiving)
{
    struct order *order = data;
    const struct trace *trace = order->trace;
    const size_t received = trace->nsendings + (size_t)(receiving - trace->receiving);

    order->message[received].sent = (uint32_t)(sending - trace->sending);
}

/* ---- whom messages order ---- */

static uint64_t pair_key(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

static void host_begins(struct order *order, const struct call *call)
{
    if (call->peer == NONE) {
        clocks_leave(&order->clocks, call->rank, &order->begun);
        return;
    }
    clocks_leave(&order->clocks, call->rank, &order->sent[call->peer]);
    order_leave_at(order, &order->pairs, pair_key(call->rank, call->peer), call->rank);
}

/* The receiver of one message learns from its source alone; NONE: it learns from all that have sent
 * to it. */
static void host_completes(struct order *order, const struct call *call, uint32_t source)
{
    clocks_learn(&order->clocks, call->rank,
                 source == NONE ? order->sent[call->rank]
                                : table_get(&order->pairs, pair_key(source, call->rank)));
    clocks_learn(&order->clocks, call->rank, order->begun);
}

/* source_of returns the source of the message that a call has received, if the call has completed
 * nothing besides. It returns NONE if it may have, or if the source is not known. */
static uint32_t source_of(const struct order *order, uint32_t index, enum host_kind kind)
{
    const struct trace *trace = order->trace;
    const struct call *call = &trace->call[index];
    uint32_t source = NONE;

    if (kind == HOST_RECEIVE && call->peer != NONE)
        return call->peer;
    if (kind == HOST_COMPLETE && !order->completes_one[call->call])
        return NONE;
    for (uint32_t i = order->ended.first[index]; i < order->ended.first[index + 1]; i++) {
        const uint32_t message = order->ended.op[i];

        if (message < trace->nsendings)
            continue;
        if (source != NONE)
            return NONE;
        source = trace->receiving[message - trace->nsendings].peer;
    }
    return source;
}

/* The collective call that the rank is in: by its communicator, and how many such calls the rank
 * has made of it. The standard has them in one order at all processes of a communicator. */
static uint64_t collective_key(struct order *order, const struct call *call, bool enters)
{
    const uint64_t key = (uint64_t)call->comm << 32 | call->rank;
    uint64_t count = table_number(&order->comm_counts, key);

    if (count == TABLE_NONE)
        count = 0;
    if (enters)
        table_put_number(&order->comm_counts, key, ++count);
    return (uint64_t)call->comm << 32 | count;
}

/* processes_of returns how many processes its communicator has, or 0 if that is not known. */
static uint32_t processes_of(const struct trace *trace, const struct call *call)
{
    const uint32_t group = call->comm < trace->ncomms ? trace->comm[call->comm] : NONE;

    return group < trace->ngroups ? trace->group[group].n : 0;
}

static enum host_kind kind_of(const struct order *order, const struct call *call)
{
    const enum host_kind kind = order->host_kind[call->call];

    return kind == HOST_COLLECTIVE && processes_of(order->trace, call) == 0 ? HOST_OTHER : kind;
}

/* ---- collective operations ---- */

/* Who learns from whom. */
enum flow { FROM_ALL_TO_ALL, FROM_ROOT, TO_ROOT, FROM_LOWER };

/* Of a call of which no more than its name is known all learn from all. */
static enum flow flow_of(const struct order *order, uint32_t index, bool *is_root)
{
    const struct trace *trace = order->trace;
    const uint64_t at = table_number(&order->togethers, index);
    const struct together *part = at == TABLE_NONE ? NULL : &trace->together[at];
    const unsigned pattern = part ? pattern_of_together(part->op) : WAIT_AT_NXN;

    *is_root = part && part->root == part->rank;
    if (part && (part->op == OTF2_COLLECTIVE_OP_SCAN || part->op == OTF2_COLLECTIVE_OP_EXSCAN))
        return FROM_LOWER;
    if (part && part->root != NONE && pattern == LATE_BROADCAST)
        return FROM_ROOT;
    if (part && part->root != NONE && pattern == EARLY_REDUCE)
        return TO_ROOT;
    return FROM_ALL_TO_ALL;
}

/* rank_in_group returns the rank of a call's process in the group of its communicator. */
static uint32_t rank_in_group(const struct trace *trace, const struct call *call)
{
    const struct ranks *group = &trace->group[trace->comm[call->comm]];
    uint32_t i = 0;

    while (i < group->n && group->rank[i] != call->rank)
        i++;
    return i;
}

/* What lower ranks have left is a binary indexed tree (Fenwick 1994) of clocks: node i has those of
 * the i & -i ranks up to i - 1, so that to leave a clock and to learn the lower ones takes the
 * logarithm of their number. */
static void leave_for_higher(struct order *order, struct meeting_point *point,
                             const struct call *call)
{
    const uint32_t n = processes_of(order->trace, call);

    if (!point->below) {
        point->nbelow = n + 1;
        point->below = zalloc(point->nbelow, sizeof *point->below);
    }
    for (uint32_t i = rank_in_group(order->trace, call) + 1; i < point->nbelow; i += i & -i)
        clocks_leave(&order->clocks, call->rank, &point->below[i]);
}

static void learn_from_lower(struct order *order, const struct meeting_point *point,
                             const struct call *call)
{
    for (uint32_t i = rank_in_group(order->trace, call); i > 0 && i < point->nbelow; i -= i & -i)
        clocks_learn(&order->clocks, call->rank, point->below[i]);
}

static void enter_collective(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];
    struct meeting_point *point =
        order_point(&order->collectives, collective_key(order, call, true));
    bool is_root;
    const enum flow flow = flow_of(order, index, &is_root);

    if (flow == FROM_LOWER)
        leave_for_higher(order, point, call);
    else if (flow != FROM_ROOT || is_root)
        clocks_leave(&order->clocks, call->rank, &point->known);
}

static void leave_collective(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];
    const uint64_t key = collective_key(order, call, false);
    const struct meeting_point *point = order_point(&order->collectives, key);
    bool is_root;
    const enum flow flow = flow_of(order, index, &is_root);

    if (flow == FROM_LOWER)
        learn_from_lower(order, point, call);
    else if (flow != TO_ROOT || is_root)
        clocks_learn(&order->clocks, call->rank, point->known);
    order_depart(&order->collectives, key, processes_of(order->trace, call));
}

/* ---- the host's functions ---- */

void order_host_enter(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];
    const enum host_kind kind = kind_of(order, call);

    for (uint32_t i = order->begun_in.first[index]; i < order->begun_in.first[index + 1]; i++)
        order->calls.message(order->calls.arg, order->begun_in.op[i],
                             clocks_of(&order->clocks, call->rank));
    switch (kind) {
    case HOST_SEND:
    case HOST_SYNC_SEND:
    case HOST_EXCHANGE:
        host_begins(order, call);
        break;
    case HOST_COLLECTIVE:
        enter_collective(order, index);
        break;
    case HOST_BEGIN:
    case HOST_OTHER:
        clocks_leave(&order->clocks, call->rank, &order->begun);
        break;
    default:
        break;
    }
    if (order->sync_sends &&
        (kind == HOST_RECEIVE || kind == HOST_IRECEIVE || kind == HOST_EXCHANGE))
        clocks_leave(&order->clocks, call->rank, &order->received);
}

void order_host_leave(struct order *order, uint32_t index)
{
    const struct call *call = &order->trace->call[index];
    const enum host_kind kind = kind_of(order, call);

    if (call->unrecorded)
        return;
    order_messages_end(order, index);
    if (kind == HOST_RECEIVE || kind == HOST_EXCHANGE || kind == HOST_COMPLETE ||
        kind == HOST_OTHER)
        host_completes(order, call, source_of(order, index, kind));
    if (kind == HOST_SYNC_SEND || (kind == HOST_COMPLETE && order->sync_sends))
        clocks_learn(&order->clocks, call->rank, order->received);
    if (kind == HOST_COLLECTIVE)
        leave_collective(order, index);
}

/* ---- begin and end ---- */

static void find_messages_of_calls(struct order *order)
{
    const struct trace *trace = order->trace;
    const size_t n = trace->nsendings + trace->nreceivings;
    uint32_t *begin = zalloc(n, sizeof *begin), *end = zalloc(n, sizeof *end);

    for (size_t i = 0; i < n; i++) {
        const bool sends = i < trace->nsendings;
        const size_t k = sends ? i : i - trace->nsendings;

        begin[i] = sends ? trace->sending[k].call : trace->receiving[k].call;
        end[i] = sends ? trace->sending[k].completer : trace->receiving[k].completer;
    }
    order_list_ends(&order->begun_in, begin, n, trace->ncalls);
    order_list_ends(&order->ended, end, n, trace->ncalls);
    free(begin);
    free(end);
}

void order_host_begin(struct order *order)
{
    static const char *const one[] = {"MPI_Wait", "MPI_Waitany", "MPI_Test", "MPI_Testany"};
    const struct trace *trace = order->trace;
    const size_t nmessages = trace->nsendings + trace->nreceivings;

    order->sent = zalloc(trace->nranks, sizeof *order->sent);
    order->host_kind = zalloc(trace->ncall_names, sizeof *order->host_kind);
    order->completes_one = zalloc(trace->ncall_names, sizeof *order->completes_one);
    for (unsigned i = 0; i < trace->ncall_names; i++) {
        order->host_kind[i] = host_kind(trace->call_name[i]);
        for (size_t k = 0; k < sizeof one / sizeof *one; k++)
            order->completes_one[i] |= strcmp(trace->call_name[i], one[k]) == 0;
    }
    for (size_t i = 0; i < trace->ncalls; i++)
        order->sync_sends |= order->host_kind[trace->call[i].call] == HOST_SYNC_SEND;
    order->message = zalloc(nmessages, sizeof *order->message);
    for (size_t i = 0; i < nmessages; i++)
        order->message[i].sent = NONE;
    for (size_t i = 0; i < trace->ntogethers; i++)
        table_put_number(&order->togethers, trace->together[i].call, i);
    find_messages_of_calls(order);
    messages_match(trace, one_message, order);
}

void order_host_end(struct order *order)
{
    for (uint32_t i = 0; i < order->trace->nranks; i++)
        free(order->sent[i]);
    free(order->sent);
    free(order->host_kind);
    free(order->completes_one);
    free(order->message);
    free(order->begun_in.first);
    free(order->begun_in.op);
    free(order->ended.first);
    free(order->ended.op);
    free(order->begun);
    free(order->received);
    table_end(&order->pairs, free);
    table_end(&order->comm_counts, NULL);
    table_end(&order->collectives, order_free_point);
    table_end(&order->togethers, NULL);
}
