/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_lock.c - see target_lock.h.
 */
#include "rma/win/target_lock.h"

void lock_wake_owner(struct rma_target *t)
{
    attention_wake_all(t->peer->attention);
}

bool lock_all_pass(struct win *w, struct rma_target *t, bool *yielded)
{
    struct win_ctl *lead = w->lead;
    if (*yielded) {
        if (atomic_load_explicit(&lead->all_holders, memory_order_seq_cst) != 0)
            return false;
        lockword_set_yielded(&t->ctl->lock, false);
    }
    bool pass = atomic_load_explicit(&lead->all_holders, memory_order_seq_cst) == 0;
    if (!pass) {
        if (!*yielded)
            atomic_fetch_add_explicit(&lead->all_blocked, 1, memory_order_seq_cst);
        lockword_set_yielded(&t->ctl->lock, true);
        lock_notify(t);
    } else if (*yielded) {
        atomic_fetch_sub_explicit(&lead->all_blocked, 1, memory_order_seq_cst);
        event_notify(&lead->all_event);
    }
    *yielded = !pass;
    return pass;
}

/* The last holder has gone: whoever stepped back may try again. */
static void wake_blocked(struct win *w)
{
    event_notify(&w->lead->all_event);
    for (int i = 0; i < w->ndirect; i++) {
        struct rma_target *t = win_peek(w, w->direct[i]);
        if (atomic_load_explicit(&t->ctl->packets_wait, memory_order_seq_cst))
            lock_wake_owner(t);
    }
}

void lock_all_join(struct win *w)
{
    atomic_fetch_add_explicit(&w->lead->all_holders, 1, memory_order_seq_cst);
}

void lock_all_leave(struct win *w)
{
    if (atomic_fetch_sub_explicit(&w->lead->all_holders, 1, memory_order_seq_cst) == 1 &&
        atomic_load_explicit(&w->lead->all_blocked, memory_order_seq_cst))
        wake_blocked(w);
}
