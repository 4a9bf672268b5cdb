/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * await_notified.c - notifications at their target: counts them, waits for them, and takes them
 * (doc/notified.md). The counters, and the order of what they tell, are those of notify.h.
 *
 * A call that waits for notifications of any process looks for the loss of all processes, and not
 * only of those with which this one has had to do: it makes their targets, whose connections are
 * probed in a long wait. In large windows it makes the targets of the next ranks and of the
 * partners of win_lost, from which this process hears of the others.
 *
 * Locks: the caller holds none, except for notified_due and notified_awaits; what was taken, and
 * who waits, is read and changed under the engine's lock.
 */
#include "base/err.h"
#include "base/fault.h"
#include "rma/notify/notify.h"
#include "rma/progress/lost.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/traced/traced_path.h"
#include "rma/win/win.h"

enum { WATCHED = 64 }; /* how many ranks behind its own one a process watches */

uint32_t rma_notify_numbers(const struct win *w)
{
    return w->notify.n;
}

static int no_such_number(const struct win *w, const struct rma_notified *what)
{
    if (!w->notify.n)
        return FAULT(w->rma->log, NOTIFY_NONE);
    if (what->n != 1)
        return FAULT(w->rma->log, NOTIFY_RANGE, what->n, what->first, w->notify.n - 1);
    return FAULT(w->rma->log, NOTIFY_NUMBER, what->first, w->notify.n - 1);
}

/* What one call counts: notifications of a range of numbers, from t or, if t is NULL, from all
 * processes. */
struct wanted {
    struct win *w;
    struct rma_target *t;
    uint32_t first, end;
    uint64_t wanted;
    int taken; /* number whose notifications were taken; -1: none yet */
};

static bool numbers_exist(const struct win *w, const struct rma_notified *what)
{
    return what->first >= 0 && what->n > 0 &&
           (int64_t)what->first + what->n <= (int64_t)w->notify.n;
}

static int find(struct win *w, const struct rma_notified *what, struct wanted *c)
{
    int err = MRMA_SUCCESS;
    if (unlikely(!numbers_exist(w, what)))
        return no_such_number(w, what);
    *c = (struct wanted){.w = w,
                         .first = (uint32_t)what->first,
                         .end = (uint32_t)(what->first + what->n),
                         .wanted = what->count,
                         .taken = -1};
    if (what->source == RMA_NOTIFY_ANY)
        return MRMA_SUCCESS;
    rma_enter(w->rma);
    err = win_target_locked(w, what->source, &c->t);
    if (!err)
        err = notify_expect(w, c->t);
    rma_leave(w->rma);
    return err;
}

static int find_one(struct win *w, int source, int number, struct wanted *c)
{
    return find(w, &(struct rma_notified){.source = source, .first = number, .n = 1}, c);
}

int rma_notify_expect(struct win *w, const struct rma_notified *what)
{
    struct wanted c;
    return find(w, what, &c);
}

/* ---- lost processes ---- */

/* watch_all is called once for a window. Targets that cannot be made or reached are left out. Under
 * the engine's lock. */
static void watch_all(struct win *w)
{
    struct rma_target *t;
    if (w->notify.watching || !w->npackets)
        return;
    w->notify.watching = true;
    for (int64_t step = 1; step < w->nproc; step = step < WATCHED ? step + 1 : 2 * step)
        (void)win_target_locked(w, (int)((w->rank + step) % w->nproc), &t);
}

/* nobody_left returns whether all others have closed their connections, so that nobody is left that
 * could raise a notification. */
static bool nobody_left(struct win *w)
{
    for (int i = 0; i < w->nproc; i++) {
        const struct rma_target *t = win_peek(w, i);
        if (!t->peer || (!t->peer->self && !ch3_vc_is_closed(&t->peer->vc)))
            return false;
    }
    return true;
}

bool notified_due(const struct win *w)
{
    return w->notify.awaited != 0;
}

bool notified_awaits(struct win *w, const struct rma_wait *wait, const struct rma_target *t)
{
    const bool any = wait ? wait->phase == RMA_WAIT_NOTIFIED && wait->rank == RMA_NOTIFY_ANY
                          : w->notify.awaited_any != 0;
    return (!wait && t->notify.awaited) || (any && nobody_left(w));
}

void rma_notify_await(struct win *w, const struct rma_notified *what, bool awaits)
{
    const bool any = what->source == RMA_NOTIFY_ANY;
    const uint32_t by = awaits ? 1 : UINT32_MAX; /* 1, or -1 modulo 2^32 */
    rma_enter(w->rma);
    w->notify.awaited += by;
    if (any)
        w->notify.awaited_any += by;
    else
        win_peek(w, what->source)->notify.awaited += by;
    if (any && awaits)
        watch_all(w);
    rma_leave(w->rma);
}

/* ---- counting and taking ---- */

/* take_wanted takes count notifications of that number, which have come. Under the engine's
 * lock. */
static void take_wanted(const struct wanted *c, uint32_t number, uint64_t count)
{
    notify_take(c->w, c->t, number, count);
    rma_event(c->w->rma, (struct trace_record){.kind = TRACE_TAKEN,
                                               .win = c->w->index + 1,
                                               .peer = c->t ? c->t->rank : -1,
                                               .arg = number,
                                               .bytes = count});
}

/* Under the engine's lock. Another thread may take them at the same time. */
static bool try_take(void *arg)
{
    struct wanted *c = arg;
    for (uint32_t i = c->first; c->taken < 0 && i < c->end; i++)
        if (notify_count(c->w, c->t, i) >= c->wanted) {
            take_wanted(c, i, c->wanted);
            c->taken = (int)i;
        }
    return c->taken >= 0;
}

static bool take(struct wanted *c)
{
    rma_enter(c->w->rma);
    const bool taken = try_take(c);
    rma_leave(c->w->rma);
    return taken;
}

/* find_served does what find_one does for a call that does not wait: it serves first what has
 * come. */
static int find_served(struct win *w, int source, int number, struct wanted *c)
{
    const int err = find_one(w, source, number, c);
    if (err)
        return err;
    (void)rma_progress(w->rma);
    if (win_count_call(w))
        rma_look_around(w);
    return MRMA_SUCCESS;
}

int rma_notify_read(struct win *w, int source, int number, uint64_t *value)
{
    struct wanted c;
    const int err = find_served(w, source, number, &c);
    if (err)
        return err;
    rma_enter(w->rma);
    *value = notify_count(w, c.t, c.first);
    rma_leave(w->rma);
    return MRMA_SUCCESS;
}

int rma_notify_take(struct win *w, const struct rma_notified *what, int *number)
{
    struct wanted c;
    const int err = find(w, what, &c);
    if (err)
        return err;
    const bool taken = take(&c);
    *number = c.taken;
    return taken || likely(!win_has_lost(w)) ? MRMA_SUCCESS : MRMA_ERR_PROC_FAILED;
}

/* watch also watches processes with which this one has had nothing to do, if notifications of any
 * process are awaited. */
static void watch(struct win *w, const struct wanted *c)
{
    if (c->t)
        return;
    rma_enter(w->rma);
    watch_all(w);
    rma_leave(w->rma);
}

int rma_notify_test(struct win *w, const struct rma_notified *what, int *number)
{
    struct wanted c;
    int err = find(w, what, &c);
    if (err)
        return err;
    (void)rma_progress(w->rma);
    if (!take(&c)) {
        watch(w, &c);
        err = win_lost_error(w);
    }
    if (!err && c.taken < 0)
        err = rma_between_tests(w->rma, w);
    *number = c.taken;
    return err;
}

int rma_notify_wait(struct win *w, const struct rma_notified *what, int *number)
{
    struct wanted c;
    int err = find(w, what, &c);
    if (err)
        return err;
    if (win_count_call(w))
        rma_look_around(w);
    if (unlikely(!take(&c))) {
        watch(w, &c);
        err = rma_wait_until(w, &(struct rma_wait){.done = try_take,
                                                   .arg = &c,
                                                   .locked = true,
                                                   .what = "notifications",
                                                   .rank = what->source,
                                                   .phase = RMA_WAIT_NOTIFIED});
    }
    *number = c.taken;
    return err;
}

int rma_notify_reset(struct win *w, int source, int number, uint64_t *value)
{
    struct wanted c;
    const int err = find_served(w, source, number, &c);
    if (err)
        return err;
    rma_enter(w->rma);
    *value = notify_count(w, c.t, c.first);
    take_wanted(&c, c.first, *value);
    rma_leave(w->rma);
    return MRMA_SUCCESS;
}
