/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.c - see plan.h: from a plan to steps, and what changes need. plan_make.c makes the plan.
 *
 * The steps of a call are its happenings in order, with work between them:
 *
 *     enter        request    wait begins       wait ends          leave
 *       |-- work --|-- work --|==== no step ====|------- work -------|
 *     REACH     REQUEST     AWAIT
 *
 * In a replay without a change each wait ends when it did, since what it waits for happens when it
 * did.
 */
#include "plan.h"

#include <stdlib.h>

/* ---- links ---- */

void links_add(struct links *links, uint32_t call, uint32_t other)
{
    links->link = grow(links->link, links->n, &links->cap, sizeof *links->link);
    links->link[links->n++] = (struct link){call, other};
}

static int by_calls(const void *a, const void *b)
{
    const struct link *x = a, *y = b;

    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return x->other < y->other ? -1 : x->other > y->other;
}

void links_sort(struct links *links)
{
    size_t n = 0;

    sort(links->link, links->n, sizeof *links->link, by_calls);
    for (size_t i = 0; i < links->n; i++)
        if (n == 0 || by_calls(&links->link[i], &links->link[n - 1]) != 0)
            links->link[n++] = links->link[i];
    links->n = n;
}

void links_free(struct links *links)
{
    free(links->link);
    *links = (struct links){0};
}

size_t links_of(const struct links *links, uint32_t call)
{
    size_t low = 0, high = links->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (links->link[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low < links->n && links->link[low].call == call ? low : links->n;
}

void change_free(struct change *change)
{
    free(change->work);
    free(change->order);
    free(change->shared);
    free(change->pairwise);
    links_free(&change->completes);
    links_free(&change->posts);
    *change = (struct change){0};
}

/* ---- steps ---- */

struct making {
    const struct plan *plan;
    const struct change *change;
    struct play play;
    size_t n, cap;
};

static void add(struct making *making, enum step_kind kind, uint32_t ref, uint64_t ns)
{
    if (kind == STEP_WORK && ns == 0)
        return;
    making->play.step = grow(making->play.step, making->n, &making->cap, sizeof *making->play.step);
    making->play.step[making->n++] = (struct step){ns, ref, (uint8_t)kind};
}

/* The events of a plan: each call is entered, each changed fence has posted, and each meeting. */
static uint32_t posted(const struct plan *plan, uint32_t call)
{
    return (uint32_t)plan->trace->ncalls + call;
}

static void await_each(struct making *making, const struct links *links, uint32_t call,
                       bool are_posts)
{
    for (size_t i = links_of(links, call); i < links->n && links->link[i].call == call; i++)
        add(making, STEP_AWAIT,
            are_posts ? posted(making->plan, links->link[i].other) : links->link[i].other, 0);
}

static void add_call(struct making *making, const struct activity *activity, uint64_t work)
{
    const struct plan *plan = making->plan;
    const struct change *change = making->change;
    const uint32_t call = activity->call;
    const bool pairwise = change->pairwise && change->pairwise[call];
    uint64_t now = activity->begin;

    await_each(making, &change->posts, call, true);
    add(making, STEP_REACH, call, 0);
    if (pairwise) {
        await_each(making, &change->completes, call, false);
        add(making, STEP_REACH, posted(plan, call), 0);
    }
    for (size_t i = plan->first_happening[call]; i < plan->first_happening[call + 1]; i++) {
        const struct happening *happening = &plan->happening[i];

        if (work == UINT64_MAX)
            add(making, STEP_WORK, NONE, u64_minus(happening->begin, now));
        if (!pairwise)
            add(making, (enum step_kind)happening->kind, happening->ref, 0);
        now = u64_max(now, happening->end);
    }
    if (work == UINT64_MAX)
        add(making, STEP_WORK, plan->group[call], u64_minus(activity->end, now));
    else
        add(making, STEP_WORK, NONE, work);
}

static void add_rank(struct making *making, uint32_t rank)
{
    const struct timeline *line = making->plan->line;
    const struct change *change = making->change;

    for (size_t i = line->first[rank]; i < line->first[rank + 1]; i++) {
        const size_t at = change->order ? change->order[i] : i;
        const struct activity *activity = &line->activity[at];
        const uint64_t work = change->work ? change->work[at] : UINT64_MAX;

        if (activity->call == NONE)
            add(making, STEP_WORK, NONE,
                work == UINT64_MAX ? activity->end - activity->begin : work);
        else
            add_call(making, activity, work);
    }
}

static struct replayed_lock *changed_locks(const struct plan *plan, const struct change *change)
{
    struct replayed_lock *lock = zalloc(plan->trace->nlocks, sizeof *lock);

    for (size_t i = 0; i < plan->trace->nlocks; i++) {
        lock[i] = plan->lock[i];
        if (change->shared && change->shared[i])
            lock[i].exclusive = false;
    }
    return lock;
}

uint64_t plan_replay(const struct plan *plan, const struct change *change)
{
    static const struct change none;
    const struct trace *trace = plan->trace;
    struct making making = {.plan = plan, .change = change ? change : &none};
    struct play *play = &making.play;
    struct replayed_lock *lock = changed_locks(plan, making.change);

    play->first = zalloc(trace->nranks + 1, sizeof *play->first);
    play->nranks = trace->nranks;
    play->nevents = 2 * trace->ncalls + plan->nmeetings;
    play->lock = lock;
    play->nlocks = trace->nlocks;
    play->nwindows = trace->nwindows;
    play->unwaited = plan->unwaited;
    for (uint32_t rank = 0; rank < trace->nranks; rank++) {
        play->first[rank] = making.n;
        add_rank(&making, rank);
    }
    play->first[trace->nranks] = making.n;
    const uint64_t length = replay(play);
    free(play->step);
    free(play->first);
    free(lock);
    return length;
}

uint64_t plan_work(const struct plan *plan, size_t activity)
{
    const struct activity *at = &plan->line->activity[activity];
    uint64_t now = at->begin, work = 0;

    if (at->call == NONE)
        return at->end - at->begin;
    for (size_t i = plan->first_happening[at->call]; i < plan->first_happening[at->call + 1]; i++) {
        work += u64_minus(plan->happening[i].begin, now);
        now = u64_max(now, plan->happening[i].end);
    }
    return work + u64_minus(at->end, now);
}
