/*
 * pattern_accumulates.c - Serialized accumulates: atomic operations of several origins at one
 * target and window, of which one must wait for another.
 *
 * Where the origin does the work itself (mapped memory, kernel-assisted) the operation's call is
 * open until the data is there: an operation of another origin that ends meanwhile was before it.
 * By packets, the target's serving of others between issue and service is what it waits for.
 */
#include <stdlib.h>

#include "analysis.h"
#include "base/map.h"
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

/* The longest time that another origin with atomic operations was served between from and to. */
static void one_by_packets(struct analysis *analysis, const struct operation *op,
                           const struct doings *served, const struct map *origins)
{
    const struct trace *trace = analysis->trace;
    const struct call *call = &trace->call[op->completer];
    const struct doing *mine = doings_first(served, op->target, op->rank, op->win, op->issue);
    uint64_t from = u64_max(op->issue, call->enter);
    struct instance times = {.cause = NONE, .cause_call = NONE};
    uint64_t sum = 0, longest = 0;

    if (!mine || mine->begin <= from)
        return;
    for (uint32_t origin = 0; origin < trace->nranks; origin++) {
        uint64_t at = from;
        const struct doing *theirs;

        if (origin == op->rank || !map_get(origins, key_of(op->win, op->target, origin)))
            continue;
        while ((theirs = doings_first(served, op->target, origin, op->win, at)) &&
               theirs->begin < mine->begin) {
            uint64_t length = u64_min(theirs->end, mine->begin) - theirs->begin;

            sum += length;
            if (length > longest) {
                longest = length;
                times.cause = origin;
            }
            at = theirs->begin + 1;
        }
    }
    times.begin = from;
    times.end = from + u64_min(sum, u64_minus(u64_min(mine->begin, call->leave), from));
    add(analysis, op, op->completer, times);
}

static void by_packets(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    struct doings served = doings_by_rank(trace, OWN_SERVE);
    struct map origins = {0};
    uint32_t done = NONE; /* the completing call that was looked at last */

    for (size_t i = 0; i < trace->nops; i++)
        if (is_atomic(&trace->op[i]) && !by_itself(&trace->op[i]) &&
            map_put(&origins, key_of(trace->op[i].win, trace->op[i].target, trace->op[i].rank),
                    &origins, NULL) != 0)
            break;
    for (size_t i = 0; served.n > 0 && i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];

        if (!is_atomic(op) || by_itself(op) || op->completer == NONE || op->completer == done)
            continue;
        done = op->completer;
        one_by_packets(analysis, op, &served, &origins);
    }
    map_fini(&origins);
    free(served.doing);
}

void find_accumulates(struct analysis *analysis)
{
    direct(analysis);
    by_packets(analysis);
}
