/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify_raise.h - notify_raise (notify.h) as an inline function, for the short way of a put
 * (fast.h), where the call would be a tenth of all instructions.
 */
#ifndef MRMA_RMA_WIN_NOTIFY_RAISE_H
#define MRMA_RMA_WIN_NOTIFY_RAISE_H

#include "base/cpu.h"
#include "rma/win/win.h"
#include "sys/polling.h"

/* notify_raise_here does what notify_raise does. Both additions are A of the diagram in
 * notify.h. */
static inline __attribute__((always_inline)) void notify_raise_here(struct win *w,
                                                                    const struct rma_target *t,
                                                                    uint32_t mark)
{
    atomic_fetch_add_explicit(&t->notify.to[mark - 1], 1, memory_order_release);
    atomic_fetch_add_explicit(&t->notify.to_all[mark - 1], 1, memory_order_release);
    win_count_notified(w);
    if (likely(!t->peer->self))
        event_notify(&t->peer->polling->threads, t->peer->doorbell_fd);
    else if (w->rma->threads)
        event_notify(&w->rma->env->polling->threads, w->rma->env->doorbell_fd);
}

#endif
