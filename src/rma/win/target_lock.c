/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_lock.c - see target_lock.h.
 */
#include "rma/win/target_lock.h"

void lock_wake_owner(struct rma_target *t)
{
    polling_wake_all(t->peer->polling, t->peer->doorbell_fd);
}

static bool has_ticketless(const struct win *w, const struct rma_target *t)
{
    return atomic_load_explicit(&t->ctl->ticketless, memory_order_seq_cst) != 0 ||
           (atomic_load_explicit(&w->lead->all, memory_order_seq_cst) & LOCK_ALL_HOLDERS) != 0;
}

bool lock_try_pass(struct win *w, struct rma_target *t, bool *yielded)
{
    struct win_ctl *lead = w->lead;
    if (*yielded) {
        if (has_ticketless(w, t))
            return false;
        lockword_set_yielded(&t->ctl->lock, false);
    }
    const bool pass = !has_ticketless(w, t); /* D */
    if (!pass) {
        if (!*yielded)
            atomic_fetch_add_explicit(&lead->all_blocked, 1, memory_order_seq_cst);
        lockword_set_yielded(&t->ctl->lock, true); /* G */
        lock_notify(t);
    } else if (*yielded) {
        atomic_fetch_sub_explicit(&lead->all_blocked, 1, memory_order_seq_cst);
        event_notify(&lead->all_event, EVENT_NO_POLL);
    }
    *yielded = !pass;
    return pass;
}

void lock_count(struct rma_target *t)
{
    atomic_fetch_add_explicit(&t->ctl->ticketless, 1, memory_order_seq_cst); /* A */
}

/* wake_yielded is called when the last ticketless process has gone: it wakes the exclusive
 * request that has stepped back, which may try again. */
static void wake_yielded(struct rma_target *t)
{
    if (unlikely(atomic_load_explicit(&t->ctl->lock, memory_order_seq_cst) & LOCKWORD_YIELDED))
        lock_notify(t); /* F */
}

void lock_uncount(struct rma_target *t)
{
    const uint32_t before =
        atomic_fetch_sub_explicit(&t->ctl->ticketless, 1, memory_order_seq_cst); /* E */
    atomic_rmw_fence(); /* as in lockword_release: what follows must not be done before this */
    if (before == 1)
        wake_yielded(t);
}

struct rma_target *lock_all_try(struct win *w)
{
    atomic_fetch_add_explicit(&w->lead->all, 1, memory_order_seq_cst); /* A */
    for (int i = 0; i < w->nmemory; i++) {
        struct rma_target *t = win_peek(w, w->memory_ranks[i]);
        if (!lockword_open_to_all(&t->ctl->lock)) {
            lock_all_leave(w);
            return t;
        }
    }
    return NULL;
}

void lock_all_leave(struct win *w)
{
    const uint64_t all = atomic_fetch_sub_explicit(&w->lead->all, 1, memory_order_seq_cst); /* E */
    atomic_rmw_fence();
    if ((all & LOCK_ALL_HOLDERS) != 1 ||
        !atomic_load_explicit(&w->lead->all_blocked, memory_order_seq_cst))
        return;
    for (int i = 0; i < w->nmemory; i++)
        wake_yielded(win_peek(w, w->memory_ranks[i]));
}

bool lock_is_nested(const struct win *w)
{
    return w->rma->passive > 1 || w->nlocks > 1;
}
