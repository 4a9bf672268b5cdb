/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.c - notifications at their target: how many have come, waiting for them, and taking them
 * (doc/notified.md). The counters, and the order of what they tell, are those of win/notify.h.
 *
 * Locks: none is held by the caller; what was taken is read and changed under the engine's.
 */
#include "base/err.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/traced/traced.h"
#include "rma/win/win.h"

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
    if (win_count_call(w))
        rma_look_around(w);
    c.wanted = count;
    *taken = take(&c);
    const bool lost = c.t ? c.t->lost : win_has_lost(w);
    return *taken || likely(!lost) ? MRMA_SUCCESS : MRMA_ERR_PROC_FAILED;
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
    return rma_wait_until(
        w,
        &(struct rma_wait){
            .done = try_take, .arg = &c, .locked = true, .what = "notifications", .rank = source});
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
