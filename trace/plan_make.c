/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan_make.c - finds what happens in the calls of a recorded run: for whom each of them waits,
 * and for how long it did. See plan.h.
 *
 * The epochs tell for whom a call waits, also where it did not wait, since in a changed run it
 * may. A wait that the clocks contradict, since it would have ended after the call, is left out,
 * and stays a part of what the call takes itself.
 */
#include <stdlib.h>

#include "groups.h"
#include "holders.h"
#include "notified.h"
#include "plan_make.h"

static void add(struct plan *plan, struct happening happening)
{
    if (plan->activity[happening.call] == SIZE_MAX)
        return;
    plan->happening =
        grow(plan->happening, plan->nhappenings, &plan->happenings_cap, sizeof happening);
    plan->happening[plan->nhappenings++] = happening;
}

void plan_await_event(struct plan *plan, uint32_t call, uint64_t from, uint32_t event,
                      uint64_t time)
{
    const struct call *at = &plan->trace->call[call];
    const uint64_t begin = u64_max(at->enter, from);

    if (!at->unrecorded && time <= at->leave)
        add(plan, (struct happening){begin, u64_max(begin, time), call, event, STEP_AWAIT});
}

void plan_happens(struct plan *plan, uint32_t call, enum step_kind kind, uint32_t ref,
                  uint64_t time)
{
    add(plan, (struct happening){time, time, call, ref, (uint8_t)kind});
}

void plan_await_call(struct plan *plan, uint32_t call, uint64_t from, uint32_t other)
{
    plan_await_event(plan, call, from, other, plan->trace->call[other].enter);
}

uint32_t plan_new_meeting(struct plan *plan)
{
    return (uint32_t)(2 * plan->trace->ncalls + plan->nmeetings++);
}

/* ---- collective calls on windows ---- */

struct attendance {
    uint32_t win, sequence, call;
    uint16_t kind;
};

static int by_meeting(const void *a, const void *b)
{
    const struct attendance *x = a, *y = b;

    if (x->win != y->win)
        return x->win < y->win ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static bool is_same(const struct attendance *a, const struct attendance *b)
{
    return a->win == b->win && a->kind == b->kind && a->sequence == b->sequence;
}

/* One that returns before the last has come does not wait. */
static void one_meeting(struct plan *plan, const struct attendance *list, size_t n)
{
    const struct call *calls = plan->trace->call;
    const uint32_t event = plan_new_meeting(plan);
    uint64_t last = 0;

    for (size_t i = 0; i < n; i++)
        last = u64_max(last, calls[list[i].call].enter);
    for (size_t i = 0; i < n; i++) {
        const struct call *call = &calls[list[i].call];

        plan_happens(plan, list[i].call, STEP_REACH, event, call->enter);
        if (call->synchronizes)
            plan_await_event(plan, list[i].call, call->enter, event, last);
    }
}

static void find_meetings(struct plan *plan)
{
    const struct trace *trace = plan->trace;
    struct attendance *list = zalloc(trace->ncalls, sizeof *list);
    size_t n = 0;

    for (size_t i = 0; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];
        const bool is_creation =
            call->call != TRACE_CALL_Win_fence && call->call != TRACE_CALL_Win_free;

        if (call->sequence != NONE && call->win != NONE)
            list[n++] = (struct attendance){call->win, call->sequence, (uint32_t)i,
                                            is_creation ? TRACE_CALL_Win_create : call->call};
    }
    sort(list, n, sizeof *list, by_meeting);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && is_same(&list[end], &list[i]);)
            end++;
        one_meeting(plan, &list[i], end - i);
    }
    free(list);
}

/* ---- post, start, complete, wait ---- */

static uint64_t rank_and_call(uint32_t rank, uint32_t call)
{
    return (uint64_t)rank << 32 | call;
}

/* Where accesses have waited for a post. */
static void find_late_posts(struct plan *plan, const struct analysis *analysis, struct table *known)
{
    for (size_t i = 0; i < analysis->ninstances; i++) {
        const struct instance *instance = &analysis->instance[i];

        if (instance->pattern != LATE_POST || instance->call == NONE)
            continue;
        plan_await_call(plan, instance->call, instance->begin, instance->cause_call);
        (void)table_put(known, rank_and_call(instance->rank, instance->cause_call), known);
    }
}

static uint32_t post_of(const struct epochs *epochs, const struct pairing *pairing)
{
    return pairing->exposure == NONE ? NONE : epochs->exposure[pairing->exposure].first;
}

/* Who accesses the target's memory itself, or needs an answer, puts the operation off until the
 * post is there, to MPI_Win_complete at the latest. One with a request or a notification waits in
 * its call, since the program may await these before. A put by packet goes ahead. */
uint32_t plan_waits_for_post(const struct operation *op, uint32_t complete)
{
    if (op->path != TRACE_MAPPED && op->path != TRACE_ASSISTED && op->op == TRACE_PUT)
        return NONE;
    return op->request || op->notification != NONE ? op->call : complete;
}

/* Where accesses would wait for a post that came later. */
static void find_posts(struct plan *plan, struct table *known)
{
    const struct trace *trace = plan->trace;
    const struct epochs *epochs = &plan->epochs;

    for (size_t i = 0; i < trace->nops; i++) {
        const struct operation *op = &trace->op[i];
        const uint32_t access = epochs_of_op(epochs, trace, op);
        const struct pairing *pairing =
            access == NONE ? NULL : epochs_pairing(epochs, access, op->target);
        const uint32_t post = pairing ? post_of(epochs, pairing) : NONE;
        const uint32_t call = pairing ? plan_waits_for_post(op, epochs->access[access].last) : NONE;

        if (post == NONE || call == NONE || trace->call[post].enter > trace->call[call].enter)
            continue;
        if (table_put(known, rank_and_call(op->rank, post), known) == NULL)
            plan_await_call(plan, call, 0, post);
    }
}

static void find_waits(struct plan *plan)
{
    const struct trace *trace = plan->trace;
    const struct epochs *epochs = &plan->epochs;

    for (size_t i = 0; i < epochs->npairings; i++) {
        const struct pairing *pairing = &epochs->pairing[i];
        const uint32_t complete = epochs->access[pairing->access].last;
        const uint32_t wait =
            pairing->exposure == NONE ? NONE : epochs->exposure[pairing->exposure].last;

        if (complete != NONE && wait != NONE && trace->call[wait].call == TRACE_CALL_Win_wait)
            plan_await_call(plan, wait, 0, complete);
    }
}

static void find_notifications(struct plan *plan)
{
    const struct trace *trace = plan->trace;
    uint32_t *last = notified_last(trace);

    for (size_t i = 0; i < trace->ntakings; i++) {
        const struct operation *op = last[i] == NONE ? NULL : &trace->op[last[i]];

        if (op && op->call != NONE && trace->taking[i].call != NONE &&
            op->rank != trace->taking[i].rank)
            plan_await_call(plan, trace->taking[i].call, 0, op->call);
    }
    free(last);
}

/* ---- locks ---- */

static int by_grant(const void *a, const void *b)
{
    const struct lock_use *x = *(const struct lock_use *const *)a;
    const struct lock_use *y = *(const struct lock_use *const *)b;

    if (x->win != y->win)
        return x->win < y->win ? -1 : 1;
    return x->acquire < y->acquire ? -1 : x->acquire > y->acquire;
}

/* call_at returns the call of a rank that is open at a time, or ends or begins then. It returns
 * NONE if there is none. */
static uint32_t call_at(const struct plan *plan, uint32_t rank, uint64_t time)
{
    const struct timeline *line = plan->line;
    const size_t at = timeline_at(line, rank, time);

    for (size_t i = at; i < line->first[rank + 1] && i <= at + 1; i++)
        if (line->activity[i].call != NONE && line->activity[i].begin <= time)
            return line->activity[i].call;
    if (at > line->first[rank] && line->activity[at - 1].end == time)
        return line->activity[at - 1].call;
    return NONE;
}

/* Up to when a lock was held that excludes this one, of those that were granted before it; 0: up to
 * no time behind its request. One that the record says was given back only behind the grant of this
 * one was given back then, which is noted in until, of each lock of the trace. */
static uint64_t held_until(const struct holders *holders, uint64_t *until,
                           const struct lock_use *lock)
{
    struct excluders excluders;
    const struct lock_use *held;
    uint64_t last = 0;

    excluders_begin(&excluders, holders, lock);
    while ((held = excluders_next(&excluders, lock->acquire)) != NULL) {
        uint64_t *given_back = &until[held - holders->trace->lock];

        *given_back = u64_min(*given_back, lock->acquire);
        last = u64_max(last, *given_back);
    }
    return last > lock->request ? last : 0;
}

/* When the request has come to the target, at the earliest: behind those that were granted before
 * it. One of a lock that is put off is made in the call that needs the lock. */
static uint64_t arrival(struct table *arrived, const struct lock_use *lock, uint64_t request)
{
    const uint64_t key = (uint64_t)lock->win << 32 | lock->target;
    const uint64_t before = table_number(arrived, key);
    const uint64_t time = before == TABLE_NONE ? request : u64_max(request, before);

    table_put_number(arrived, key, time);
    return time;
}

static void one_lock(struct plan *plan, struct table *arrived, const struct lock_use *lock,
                     uint64_t held, uint64_t until)
{
    const struct trace *trace = plan->trace;
    const uint32_t index = (uint32_t)(lock - trace->lock);
    const uint32_t granted = call_at(plan, lock->rank, lock->acquire);
    const uint32_t released = call_at(plan, lock->rank, lock->release);

    if (granted == NONE || released == NONE || lock->nocheck || lock->acquire < lock->request ||
        until < lock->acquire)
        return;
    const uint64_t asked =
        granted == lock->call ? lock->request : u64_max(lock->request, trace->call[granted].enter);
    const uint64_t request = arrival(arrived, lock, asked);
    plan_happens(plan, granted, STEP_REQUEST, index, request);
    add(plan, (struct happening){request, u64_max(request, held), granted, index, STEP_GRANTED});
    plan_happens(plan, released, STEP_RELEASE, index, u64_max(until, trace->call[released].enter));
    plan->is_replayed[index] = true;
}

static void find_locks_of(struct plan *plan)
{
    const struct trace *trace = plan->trace;
    const struct lock_use **granted = zalloc(trace->nlocks, sizeof *granted); /* in order of that */
    uint64_t *held = zalloc(trace->nlocks, sizeof *held); /* of each in that order */
    uint64_t *until = zalloc(trace->nlocks, sizeof *until);
    struct table arrived = {0};
    struct holders holders;
    size_t n = 0;

    plan->lock = zalloc(trace->nlocks, sizeof *plan->lock);
    plan->is_replayed = zalloc(trace->nlocks, sizeof *plan->is_replayed);
    for (size_t i = 0; i < trace->nlocks; i++) {
        const struct lock_use *lock = &trace->lock[i];

        plan->lock[i] = (struct replayed_lock){lock->win, lock->target, lock->exclusive};
        until[i] = lock->release;
        if (lock->acquire && lock->release)
            granted[n++] = lock;
    }
    sort(granted, n, sizeof *granted, by_grant);
    holders_begin(&holders, trace);
    for (size_t i = 0; i < n; i++)
        held[i] = granted[i]->nocheck ? 0 : held_until(&holders, until, granted[i]);
    for (size_t i = 0; i < n; i++)
        one_lock(plan, &arrived, granted[i], held[i], until[granted[i] - trace->lock]);
    holders_end(&holders);
    table_end(&arrived, NULL);
    free(granted);
    free(held);
    free(until);
}

/* ---- the plan ---- */

/* At one time a lock is asked for before it is awaited, and given back last; an event is reached
 * before others are awaited. */
static int rank_of_kind(uint8_t kind)
{
    return kind == STEP_REACH ? 0 : kind == STEP_REQUEST ? 1 : kind == STEP_RELEASE ? 3 : 2;
}

static int by_call(const void *a, const void *b)
{
    const struct happening *x = a, *y = b;

    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->kind != y->kind)
        return rank_of_kind(x->kind) - rank_of_kind(y->kind);
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->ref < y->ref ? -1 : x->ref > y->ref;
}

static void find_calls(struct plan *plan)
{
    const struct trace *trace = plan->trace;
    const struct timeline *line = plan->line;

    plan->activity = zalloc(trace->ncalls, sizeof *plan->activity);
    for (size_t i = 0; i < trace->ncalls; i++)
        plan->activity[i] = SIZE_MAX;
    for (size_t i = 0; i < line->first[trace->nranks]; i++) {
        if (line->activity[i].call != NONE)
            plan->activity[line->activity[i].call] = i;
        plan->measured = u64_max(plan->measured, line->activity[i].end);
    }
}

static void index_calls(struct plan *plan)
{
    const size_t n = plan->trace->ncalls;

    sort(plan->happening, plan->nhappenings, sizeof *plan->happening, by_call);
    plan->first_happening = zalloc(n + 1, sizeof *plan->first_happening);
    for (size_t i = 0, call = 0; call <= n; call++) {
        while (i < plan->nhappenings && plan->happening[i].call < call)
            i++;
        plan->first_happening[call] = i;
    }
}

/* A call that has not waited. */
struct timed {
    uint64_t ns;
    size_t group;
};

static int by_group(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static bool has_waited(const struct plan *plan, size_t call)
{
    for (size_t i = plan->first_happening[call]; i < plan->first_happening[call + 1]; i++)
        if (plan->happening[i].end > plan->happening[i].begin)
            return true;
    return false;
}

/* How long calls are that need not wait: the median of those that have not. */
static void find_unwaited(struct plan *plan)
{
    const struct trace *trace = plan->trace;
    struct timed *timed = zalloc(trace->ncalls, sizeof *timed);
    struct groups groups = {0};
    size_t n = 0;

    plan->group = zalloc(trace->ncalls, sizeof *plan->group);
    for (size_t i = 0; i < trace->ncalls; i++) {
        plan->group[i] = NONE;
        if (plan->activity[i] == SIZE_MAX ||
            plan->first_happening[i] == plan->first_happening[i + 1])
            continue;
        const size_t group = groups_of(&groups, trace, trace->call[i].win, (uint32_t)i);
        if (has_waited(plan, i))
            plan->group[i] = (uint32_t)group;
        else
            timed[n++] = (struct timed){plan_work(plan, plan->activity[i]), group};
    }
    plan->unwaited = zalloc(groups.n, sizeof *plan->unwaited);
    for (size_t i = 0; i < groups.n; i++)
        plan->unwaited[i] = UINT64_MAX;
    sort(timed, n, sizeof *timed, by_group);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && timed[end].group == timed[i].group;)
            end++;
        plan->unwaited[timed[i].group] = timed[i + (end - i) / 2].ns;
    }
    groups_free(&groups);
    free(timed);
}

void plan_make(struct plan *plan, const struct analysis *analysis, const struct timeline *line)
{
    struct table known = {0};

    *plan = (struct plan){.trace = analysis->trace, .line = line};
    epochs_find(&plan->epochs, plan->trace);
    find_calls(plan);
    find_meetings(plan);
    find_late_posts(plan, analysis, &known);
    find_posts(plan, &known);
    find_waits(plan);
    find_notifications(plan);
    find_locks_of(plan);
    plan_messages(plan);
    plan_together(plan);
    index_calls(plan);
    find_unwaited(plan);
    table_end(&known, NULL);
}

void plan_free(struct plan *plan)
{
    epochs_free(&plan->epochs);
    free(plan->happening);
    free(plan->first_happening);
    free(plan->activity);
    free(plan->lock);
    free(plan->is_replayed);
    free(plan->group);
    free(plan->unwaited);
    *plan = (struct plan){0};
}
