/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.c - see replay.h. The process whose clock is least goes on first, so that events and
 * requests for locks come in order of time.
 */
#include "replay.h"

#include <stdlib.h>

#include "table.h"

struct event {
    uint64_t time;
    uint32_t left;   /* how many must still reach it */
    uint32_t waiter; /* 1 + a rank, 0: none */
};

struct process {
    size_t at; /* its next step */
    uint64_t now;
    bool has_waited;      /* since its last work */
    uint32_t next_waiter; /* 1 + the next rank that awaits the same event, 0: none */
};

/* The locks of a target, or of all targets of a window together. */
struct held {
    uint32_t shared, exclusive;
};

struct lock_state {
    struct held *target; /* the locks on its target */
    uint64_t granted;    /* UINT64_MAX: not yet */
    uint32_t rank;       /* who has asked */
    uint32_t next;       /* 1 + the one that has asked next at this window and waits too, 0: none */
    bool awaited;        /* the process does not go on before */
};

struct window_state {
    struct held of_targets; /* the locks on one target each */
    uint32_t all;           /* locks on all targets */
    uint32_t first, last;   /* 1 + the requests that wait, in order; 0: none */
};

struct run {
    const struct play *play;
    struct event *event;
    struct process *process;
    uint32_t *heap; /* ranks that can go on, the one with the least clock first */
    uint32_t nheap;
    struct lock_state *lock;
    struct window_state *window;
    struct table targets; /* window and target to struct held */
};

/* ---- who goes on next ---- */

static bool sooner(const struct run *run, uint32_t a, uint32_t b)
{
    const uint64_t x = run->process[a].now, y = run->process[b].now;

    return x != y ? x < y : a < b;
}

static void push(struct run *run, uint32_t rank)
{
    uint32_t at = run->nheap++;

    for (; at > 0 && sooner(run, rank, run->heap[(at - 1) / 2]); at = (at - 1) / 2)
        run->heap[at] = run->heap[(at - 1) / 2];
    run->heap[at] = rank;
}

static uint32_t pop(struct run *run)
{
    const uint32_t first = run->heap[0], moved = run->heap[--run->nheap];
    uint32_t at = 0;

    for (uint32_t child; (child = 2 * at + 1) < run->nheap; at = child) {
        if (child + 1 < run->nheap && sooner(run, run->heap[child + 1], run->heap[child]))
            child++;
        if (!sooner(run, run->heap[child], moved))
            break;
        run->heap[at] = run->heap[child];
    }
    run->heap[at] = moved;
    return first;
}

static void wake(struct run *run, uint32_t rank, uint64_t time)
{
    run->process[rank].has_waited = run->process[rank].has_waited || time > run->process[rank].now;
    run->process[rank].now = u64_max(run->process[rank].now, time);
    push(run, rank);
}

/* ---- events ---- */

static void reach(struct run *run, struct event *event, uint64_t now)
{
    if (--event->left > 0)
        return;
    event->time = now;
    for (uint32_t waiter = event->waiter; waiter;) {
        const uint32_t rank = waiter - 1;

        waiter = run->process[rank].next_waiter;
        wake(run, rank, now);
    }
    event->waiter = 0;
}

/* True: the process goes on. */
static bool await(struct run *run, struct event *event, uint32_t rank)
{
    if (event->left == 0)
        return true;
    run->process[rank].next_waiter = event->waiter;
    event->waiter = rank + 1;
    return false;
}

/* ---- locks ---- */

static bool is_free(const struct run *run, uint32_t index)
{
    const struct replayed_lock *lock = &run->play->lock[index];
    const struct window_state *window = &run->window[lock->win];
    const struct held *target = run->lock[index].target;

    if (lock->target == NONE)
        return window->of_targets.exclusive == 0;
    if (lock->exclusive)
        return target->exclusive == 0 && target->shared == 0 && window->all == 0;
    return target->exclusive == 0;
}

static bool exclude(const struct replayed_lock *a, const struct replayed_lock *b)
{
    return (a->target == b->target || a->target == NONE || b->target == NONE) &&
           (a->exclusive || b->exclusive);
}

/* is_behind returns whether a process that has asked before, and waits, excludes it. */
static bool is_behind(const struct run *run, uint32_t index)
{
    const struct replayed_lock *lock = &run->play->lock[index];

    for (uint32_t at = run->window[lock->win].first; at && at - 1 != index;
         at = run->lock[at - 1].next)
        if (exclude(&run->play->lock[at - 1], lock))
            return true;
    return false;
}

/* count counts a lock that is granted (one: 1) or given back (-1). */
static void count(struct run *run, uint32_t index, int one)
{
    const struct replayed_lock *lock = &run->play->lock[index];
    struct window_state *window = &run->window[lock->win];
    struct held *target = run->lock[index].target;

    if (lock->target == NONE) {
        window->all += (uint32_t)one;
    } else if (lock->exclusive) {
        target->exclusive += (uint32_t)one;
        window->of_targets.exclusive += (uint32_t)one;
    } else {
        target->shared += (uint32_t)one;
    }
}

static void grant(struct run *run, uint32_t index, uint64_t now)
{
    struct lock_state *lock = &run->lock[index];

    lock->granted = now;
    count(run, index, 1);
    if (lock->awaited)
        wake(run, lock->rank, now);
}

static void request(struct run *run, uint32_t index, uint32_t rank, uint64_t now)
{
    const struct replayed_lock *lock = &run->play->lock[index];
    struct window_state *window = &run->window[lock->win];
    const uint64_t key = (uint64_t)lock->win << 32 | lock->target;
    struct held *target = table_get(&run->targets, key);

    if (!target) {
        target = zalloc(1, sizeof *target);
        (void)table_put(&run->targets, key, target);
    }
    run->lock[index] = (struct lock_state){.target = target, .granted = UINT64_MAX, .rank = rank};
    if (is_free(run, index) && !is_behind(run, index)) {
        grant(run, index, now);
        return;
    }
    *(window->last ? &run->lock[window->last - 1].next : &window->first) = index + 1;
    window->last = index + 1;
}

static void release(struct run *run, uint32_t index, uint64_t now)
{
    struct window_state *window = &run->window[run->play->lock[index].win];
    uint32_t *link = &window->first, before = 0;

    count(run, index, -1);
    while (*link) {
        const uint32_t at = *link - 1;

        if (is_free(run, at) && !is_behind(run, at)) {
            *link = run->lock[at].next;
            if (window->last == at + 1)
                window->last = before;
            grant(run, at, now);
        } else {
            before = at + 1;
            link = &run->lock[at].next;
        }
    }
}

static bool granted(struct run *run, uint32_t index)
{
    run->lock[index].awaited = run->lock[index].granted == UINT64_MAX;
    return !run->lock[index].awaited;
}

/* ---- the steps ---- */

/* Who has not waited need not be woken. */
static uint64_t work_of(const struct run *run, const struct process *process,
                        const struct step *step)
{
    return step->ref == NONE || process->has_waited
               ? step->ns
               : u64_min(step->ns, run->play->unwaited[step->ref]);
}

/* go_on runs the steps of one process up to its next work, or until it waits. It returns true if
 * the process can go on later. */
static bool go_on(struct run *run, uint32_t rank)
{
    struct process *process = &run->process[rank];

    while (process->at < run->play->first[rank + 1]) {
        const struct step *step = &run->play->step[process->at];

        switch (step->kind) {
        case STEP_WORK:
            process->now += work_of(run, process, step);
            process->has_waited = false;
            process->at++;
            return true;
        case STEP_REACH:
            reach(run, &run->event[step->ref], process->now);
            break;
        case STEP_AWAIT:
            if (!await(run, &run->event[step->ref], rank))
                return false;
            break;
        case STEP_REQUEST:
            request(run, step->ref, rank, process->now);
            break;
        case STEP_GRANTED:
            if (!granted(run, step->ref))
                return false;
            break;
        default:
            release(run, step->ref, process->now);
            break;
        }
        process->at++;
    }
    return false;
}

uint64_t replay(const struct play *play)
{
    struct run run = {.play = play};
    uint64_t last = 0;

    run.event = zalloc(play->nevents, sizeof *run.event);
    run.process = zalloc(play->nranks, sizeof *run.process);
    run.heap = zalloc(play->nranks, sizeof *run.heap);
    run.lock = zalloc(play->nlocks, sizeof *run.lock);
    run.window = zalloc(play->nwindows, sizeof *run.window);
    for (size_t i = 0; i < play->first[play->nranks]; i++)
        if (play->step[i].kind == STEP_REACH)
            run.event[play->step[i].ref].left++;
    for (uint32_t rank = 0; rank < play->nranks; rank++) {
        run.process[rank].at = play->first[rank];
        push(&run, rank);
    }
    while (run.nheap > 0) {
        const uint32_t rank = pop(&run);

        if (go_on(&run, rank))
            push(&run, rank);
    }
    for (uint32_t rank = 0; rank < play->nranks; rank++) {
        const bool stuck = run.process[rank].at < play->first[rank + 1];

        last = stuck ? UINT64_MAX : u64_max(last, run.process[rank].now);
    }
    table_end(&run.targets, free);
    free(run.event);
    free(run.process);
    free(run.heap);
    free(run.lock);
    free(run.window);
    return last;
}
