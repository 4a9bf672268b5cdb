/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_accumulates.c - Serialized accumulates: atomic operations of several origins at one
 * target and window, of which one must wait for another.
 *
 * Where the origin does the work itself (mapped memory, kernel-assisted) the operation's call is
 * open until the data is there: an operation of another origin that ends meanwhile was before it.
 * By packets, what it waits for is the target's serving of others until its own last packet.
 */
#include <stdlib.h>

#include "analysis.h"
#include "table.h"
#include "index.h"

static bool is_atomic(const struct operation *op)
{
    return op->op >= TRACE_ACCUMULATE;
}

static bool by_itself(const struct operation *op)
{
    return op->path == TRACE_MAPPED || op->path == TRACE_ASSISTED;
}

static int by_arrival(const void *a, const void *b)
{
    const struct operation *x = *(const struct operation *const *)a;
    const struct operation *y = *(const struct operation *const *)b;

    if (x->win != y->win)
        return x->win < y->win ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return x->arrived < y->arrived ? -1 : x->arrived > y->arrived;
}

static void add(struct analysis *analysis, const struct operation *op, uint32_t call,
                struct instance times)
{
    times.pattern = SERIALIZED_ACCUMULATES;
    times.rank = op->rank;
    times.win = op->win;
    times.call = call;
    found(analysis, times);
}

static void direct(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    const struct operation **list = zalloc(trace->nops, sizeof *list);
    const struct operation *last = NULL, *other = NULL; /* of two origins, the latest of each */
    size_t n = 0;

    for (size_t i = 0; i < trace->nops; i++)
        if (is_atomic(&trace->op[i]) && by_itself(&trace->op[i]) && trace->op[i].arrived &&
            trace->op[i].call != NONE)
            list[n++] = &trace->op[i];
    sort(list, n, sizeof *list, by_arrival);
    for (size_t i = 0; i < n; i++) {
        const struct operation *op = list[i];
        const struct call *call = &trace->call[op->call];

        if (last && (last->win != op->win || last->target != op->target))
            last = other = NULL;
        const struct operation *before = last && last->rank == op->rank ? other : last;
        if (before)
            add(analysis, op, op->call,
                (struct instance){.begin = call->enter,
                                  .end = u64_min(before->arrived, call->leave),
                                  .cause = before->rank,
                                  .cause_call = before->call});
        if (last && last->rank != op->rank)
            other = last;
        last = op;
    }
    free(list);
}

static uint64_t key_of(uint32_t win, uint32_t target, uint32_t origin)
{
    return ((uint64_t)win << 48) ^ ((uint64_t)target << 24) ^ origin;
}

/* last_service returns when the last of the origin's packets is served that are served between from
 * and to, or 0 if none is. */
static uint64_t last_service(const struct doings *served, const struct operation *op, uint64_t from,
                             uint64_t to)
{
    const struct doing *mine;
    uint64_t last = 0;

    while ((mine = doings_first(served, op->target, op->rank, op->win, from)) && mine->begin < to) {
        last = mine->begin;
        from = last + 1;
    }
    return last;
}

/* In a call that waits for the operation to be served, from a time on: for how long other origins
 * with atomic operations are served before its last packet is. */
static void in_call(struct analysis *analysis, const struct operation *op, uint32_t waiting,
                    const struct doings *served, const struct table *origins)
{
    const struct trace *trace = analysis->trace;
    const struct call *call = &trace->call[waiting];
    uint64_t from = u64_max(op->issue, call->enter);
    uint64_t to = last_service(served, op, from, call->leave), sum = 0, longest = 0;
    struct instance times = {.cause = NONE, .cause_call = NONE};

    for (uint32_t origin = 0; to && origin < trace->nranks; origin++) {
        const struct doing *theirs;
        uint64_t at = from, length = 0;

        if (origin == op->rank || !table_get(origins, key_of(op->win, op->target, origin)))
            continue;
        while ((theirs = doings_first(served, op->target, origin, op->win, at)) &&
               theirs->begin < to) {
            length += u64_min(theirs->end, to) - theirs->begin;
            at = theirs->begin + 1;
        }
        sum += length;
        if (length > longest) {
            longest = length;
            times.cause = origin;
        }
    }
    times.begin = from;
    times.end = from + u64_min(sum, u64_minus(to, from));
    add(analysis, op, waiting, times);
}

static void by_packets(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    struct doings served = doings_by_rank(trace, OWN_SERVE);
    struct table origins = {0};
    uint32_t done = NONE; /* the completing call that was looked at last */

    for (size_t i = 0; i < trace->nops; i++)
        if (is_atomic(&trace->op[i]) && !by_itself(&trace->op[i]))
            (void)table_put(&origins,
                            key_of(trace->op[i].win, trace->op[i].target, trace->op[i].rank),
                            &origins);
    for (size_t i = 0; served.n > 0 && i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];

        if (!is_atomic(op) || by_itself(op))
            continue;
        /* A large operation's own call lasts until all its packets have found room. */
        if (op->call != NONE && op->call != op->completer)
            in_call(analysis, op, op->call, &served, &origins);
        if (op->completer != NONE && op->completer != done)
            in_call(analysis, op, op->completer, &served, &origins);
        done = op->completer;
    }
    table_end(&origins, NULL);
    free(served.doing);
}

void find_accumulates(struct analysis *analysis)
{
    direct(analysis);
    by_packets(analysis);
}
