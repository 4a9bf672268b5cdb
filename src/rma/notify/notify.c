/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify.c - see notify.h.
 */
#include "rma/notify/notify.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/win/win.h"

/* row_counters returns how many counters a row takes, rounded up to whole cache lines, since each
 * row but that of all origins is raised for one origin alone. */
static size_t row_counters(uint64_t n)
{
    return ((size_t)n + NOTIFY_LINE - 1) / NOTIFY_LINE * NOTIFY_LINE;
}

size_t notify_ctl_bytes(uint64_t n, int nslots)
{
    return row_counters(n) * sizeof(notify_counter) * (1 + (size_t)nslots);
}

void notify_init(struct win_ctl *ctl, size_t at, uint64_t n, int nslots)
{
    ctl->notify_at = at;
    memset((char *)ctl + at, 0, notify_ctl_bytes(n, nslots));
}

/* Row 0 is that of all origins, row 1 + i that of slot i. */
static notify_counter *row(struct win_ctl *ctl, uint64_t n, int i)
{
    notify_counter *first = (void *)((char *)ctl + ctl->notify_at);
    return first + row_counters(n) * (size_t)i;
}

int notify_begin(struct win *w)
{
    w->notify.n = (uint32_t)w->hints.notifications;
    if (!w->notify.n)
        return MRMA_SUCCESS;
    w->notify.all = row(w->ctl, w->notify.n, 0);
    w->notify.taken = calloc(w->notify.n, sizeof *w->notify.taken);
    return w->notify.taken ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
}

void notify_end(struct win *w)
{
    free(w->notify.taken);
    w->notify.n = 0;
    w->notify.all = NULL;
    w->notify.taken = NULL;
}

void notify_attach(struct win *w, struct rma_target *t, int me, int its)
{
    const uint64_t n = w->hints.notifications;
    if (!n)
        return;
    t->notify.to_all = row(t->ctl, n, 0);
    t->notify.to = row(t->ctl, n, 1 + me);
    t->notify.from = row(w->ctl, n, 1 + its);
}

void notify_detach(struct rma_target *t)
{
    if (!t->ctl)
        free(t->notify.from);
    free(t->notify.taken);
    t->notify = (struct notify_target){NULL};
}

int notify_expect(struct win *w, struct rma_target *t)
{
    const size_t n = w->notify.n;
    if (!t->notify.from)
        t->notify.from = calloc(n, sizeof *t->notify.from);
    if (t->notify.from && !t->notify.taken)
        t->notify.taken = calloc(n, sizeof *t->notify.taken);
    if (t->notify.from && t->notify.taken)
        return MRMA_SUCCESS;
    return log_fail(w->rma->log, MRMA_ERR_NO_MEM, "no memory for the notifications of rank %d",
                    t->rank);
}

/* A of the diagram. */
static void raise_by_one(notify_counter *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_release);
}

void notify_arrived(struct win *w, struct rma_target *t, uint32_t mark)
{
    raise_by_one(&t->notify.from[mark - 1]);
    raise_by_one(&w->notify.all[mark - 1]);
    /* D: a call that begins an epoch may apply the packet without a poll, so the wake-up is here */
    if (w->rma->threads)
        event_notify(&w->rma->env->polling->threads, w->rma->env->doorbell_fd);
}

uint64_t notify_count(const struct win *w, const struct rma_target *t, uint32_t number)
{
    notify_counter *counters = t ? t->notify.from : w->notify.all;
    const uint64_t *taken = t ? t->notify.taken : w->notify.taken;
    if (!counters)
        return 0;
    return atomic_load_explicit(&counters[number], memory_order_acquire) - /* B of the diagram */
           (taken ? taken[number] : 0);
}

void notify_take(struct win *w, struct rma_target *t, uint32_t number, uint64_t count)
{
    uint64_t *taken = t ? t->notify.taken : w->notify.taken;
    taken[number] += count;
}
