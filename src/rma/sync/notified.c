/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.c - notifications at their target: how many have come, waiting for them, and taking them
 * (doc/notified.md). The counters, and the order of what they tell, are those of win/notify.h.
 *
 * Who waits for any process looks for a loss of all, and not only of those that it has had to do
 * with: it makes their targets, whose connections are probed in a long wait. In large windows these
 * are the next ranks and the partners of win_lost, from which it hears of the others.
 *
 * Locks: none is held by the caller, but for notified.h; what was taken, and who waits, is read and
 * changed under the engine's.
 */
#include "rma/sync/notified.h"

#include "base/err.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/traced/traced.h"
#include "rma/win/win.h"

enum { WATCHED = 64 }; /* ranks behind the own one */

uint32_t rma_notify_numbers(const struct win *w)
{
    return w->notify.n;
}

static int no_such_number(const struct win *w, int number)
{
    if (!w->notify.n)
        return log_fail(w->rma->log, MRMA_ERR_ARG,
                        "the window was made without the info key mpirma_notifications");
    return log_fail(w->rma->log, MRMA_ERR_ARG,
                    "notification number %d is not from 0 to %u, as mpirma_notifications says",
                    number, w->notify.n - 1);
}

/* What one call counts: notifications of a number, from t or, NULL, from all. */
struct counted {
    struct win *w;
    struct rma_target *t;
    uint32_t number;
    uint64_t wanted;
    bool taken;
};

static int find(struct win *w, int source, int number, struct counted *c)
{
    int err = MRMA_SUCCESS;
    if ((unsigned)number >= w->notify.n)
        return no_such_number(w, number);
    *c = (struct counted){.w = w, .number = (uint32_t)number};
    if (source == RMA_NOTIFY_ANY)
        return MRMA_SUCCESS;
    rma_enter(w->rma);
    err = win_target_locked(w, source, &c->t);
    if (!err)
        err = notify_expect(w, c->t);
    rma_leave(w->rma);
    return err;
}

int rma_notify_expect(struct win *w, int source, int number)
{
    struct counted c;
    return find(w, source, number, &c);
}

/* ---- lost processes ---- */

/* Once for a window. Who cannot be made or reached is left out. Under the engine's lock. */
static void watch_all(struct win *w)
{
    struct rma_target *t;
    if (w->notify.watching || !w->npackets)
        return;
    w->notify.watching = true;
    for (int64_t step = 1; step < w->nproc; step = step < WATCHED ? step + 1 : 2 * step)
        (void)win_target_locked(w, (int)((w->rank + step) % w->nproc), &t);
}

/* All others have closed their connections: nobody is left that could raise a notification. */
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

void rma_notify_await(struct win *w, int source, bool awaits)
{
    const uint32_t by = awaits ? 1 : UINT32_MAX; /* modulo 2^32: one more, or one less */
    rma_enter(w->rma);
    w->notify.awaited += by;
    if (source == RMA_NOTIFY_ANY)
        w->notify.awaited_any += by;
    else
        win_peek(w, source)->notify.awaited += by;
    if (source == RMA_NOTIFY_ANY && awaits)
        watch_all(w);
    rma_leave(w->rma);
}

/* ---- counting and taking ---- */

/* So many have come. Under the engine's lock. */
static void take_counted(const struct counted *c, uint64_t count)
{
    notify_take(c->w, c->t, c->number, count);
    rma_event(c->w->rma, (struct trace_record){.kind = TRACE_TAKEN,
                                               .win = c->w->index + 1,
                                               .peer = c->t ? c->t->rank : -1,
                                               .arg = c->number,
                                               .bytes = count});
}

/* Under the engine's lock. Another thread may take them at the same time. */
static bool try_take(void *arg)
{
    struct counted *c = arg;
    if (!c->taken && notify_count(c->w, c->t, c->number) >= c->wanted) {
        take_counted(c, c->wanted);
        c->taken = true;
    }
    return c->taken;
}

static bool take(struct counted *c)
{
    rma_enter(c->w->rma);
    const bool taken = try_take(c);
    rma_leave(c->w->rma);
    return taken;
}

int rma_notify_read(struct win *w, int source, int number, uint64_t *value)
{
    struct counted c;
    const int err = find(w, source, number, &c);
    if (err)
        return err;
    (void)rma_progress(w->rma);
    if (win_count_call(w))
        rma_look_around(w);
    rma_enter(w->rma);
    *value = notify_count(w, c.t, c.number);
    rma_leave(w->rma);
    return MRMA_SUCCESS;
}

int rma_notify_take(struct win *w, int source, int number, uint64_t count, bool *taken)
{
    struct counted c;
    const int err = find(w, source, number, &c);
    if (err)
        return err;
    c.wanted = count;
    *taken = take(&c);
    return *taken || likely(!win_has_lost(w)) ? MRMA_SUCCESS : MRMA_ERR_PROC_FAILED;
}

int rma_notify_wait(struct win *w, int source, int number, uint64_t count)
{
    struct counted c;
    const int err = find(w, source, number, &c);
    if (err)
        return err;
    c.wanted = count;
    if (likely(take(&c)))
        return MRMA_SUCCESS;
    if (source == RMA_NOTIFY_ANY) {
        rma_enter(w->rma);
        watch_all(w);
        rma_leave(w->rma);
    }
    return rma_wait_until(w, &(struct rma_wait){.done = try_take,
                                                .arg = &c,
                                                .locked = true,
                                                .what = "notifications",
                                                .rank = source,
                                                .phase = RMA_WAIT_NOTIFIED});
}

int rma_notify_reset(struct win *w, int source, int number, uint64_t *value)
{
    struct counted c;
    const int err = find(w, source, number, &c);
    if (err)
        return err;
    (void)rma_progress(w->rma);
    rma_enter(w->rma);
    *value = notify_count(w, c.t, c.number);
    take_counted(&c, *value);
    rma_leave(w->rma);
    return MRMA_SUCCESS;
}
