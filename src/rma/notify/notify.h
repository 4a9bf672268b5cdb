/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify.h - the notification counters of a window (doc/notified.md): where they are, how they are
 * raised, and how many notifications have come.
 *
 * A notification has a number below notify_win.n, and raises two counters at its target: the
 * counter of that number, and the counter of that number and its origin. Both only grow. How many
 * of its notifications a process has taken it keeps in its own memory, so only those who raise a
 * counter write to it.
 *
 * The counters are rows behind the stages of the target's control block: the row of all origins,
 * and one for each process of the node, which that process raises and, where its operation came by
 * packet, the target for it. The rows of origins that come by packets only are in the target's own
 * memory, made when the first of their notifications comes.
 *
 *   origin                                  target
 *   data of the operation are in place      C: sleepers += 1 (seq_cst)
 *   A: counter += 1 (release)                  fence, or membarrier (futex_event.h)
 *      fence, or none (futex_event.h)          B: counter >= wanted? (acquire) then loads the data
 *   D: sleepers? wake                          else sleep
 *
 * A pairs with B: a process that has read the counter sees the data, and where the operation is a
 * get, the data have been read when the counter is raised. Notifications of several origins to one
 * number are read-modify-writes of one counter, so that B sees the data of all that it counts.
 *
 * No wake-up is lost: the two fences are in one order. If the origin's comes first, B reads what A
 * has stored, and the target does not sleep. Otherwise D reads what C has stored, and wakes. The
 * target sleeps on the event of its struct polling, on which all processes of the node that may
 * raise its counters wake. B is looked at before C as well, and there without the second fence.
 *
 * Where the target does the operation, the thread of the target that applies the packet does A and
 * D. Where the network carries out the put by itself, the thread that learns of it does A and D
 * (notify_words.h). Both are under the engine's lock, and B is under it, too. D is left out where
 * only one thread of the application may call: then the thread that sleeps is woken by the agent
 * (agent.c), or it has applied the packet itself.
 *
 * Locks: none for the counters; the engine's for what was taken and for the rows in the target's
 * own memory.
 */
#ifndef MRMA_RMA_NOTIFY_NOTIFY_H
#define MRMA_RMA_NOTIFY_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "rma/win/win.h"
#include "sys/polling.h"

struct rma_wait;

/* notify_numbers returns how many numbers w has; 0: it has no notifications. */
static inline uint32_t notify_numbers(const struct win *w)
{
    return w->notify.n;
}

/* notify_ctl_bytes returns how many bytes the counters of n numbers take in a control block with so
 * many slots. */
size_t notify_ctl_bytes(uint64_t n, int nslots);

/* notify_init clears the counters for n numbers in a new control block, at bytes behind the block's
 * beginning. It is called before anybody else sees the block. */
void notify_init(struct win_ctl *ctl, size_t at, uint64_t n, int nslots);

/* notify_begin makes w ready for as many numbers as its processes have agreed on. It is called when
 * the control block and the hints of w are final. MRMA_ERR_NO_MEM. */
int notify_begin(struct win *w);

/* notify_end frees what notify_begin has made. */
void notify_end(struct win *w);

/* notify_attach finds the counters of a memory peer, whose control block t->ctl is, and those for
 * it in the control block of w: this process has slot me in t's block, and t has slot its in the
 * block here. */
void notify_attach(struct win *w, struct rma_target *t, int me, int its);

/* notify_detach frees what is kept of the notifications of t, because its window ends. */
void notify_detach(struct rma_target *t);

/* notify_expect makes sure that notifications of t can be counted and taken here. MRMA_ERR_NO_MEM.
 * Under the engine's lock. */
int notify_expect(struct win *w, struct rma_target *t);

/* win_count_notified counts one notification that an operation of this process has raised or sent,
 * under the same conditions as win_count. */
static inline void win_count_notified(struct win *w)
{
    if (likely(!w->rma->threads))
        w->rma->stats.notified++;
    else if (unlikely(w->rma->conf->stats[0]))
        __atomic_fetch_add(&w->rma->stats.notified, 1, __ATOMIC_RELAXED);
}

/* notify_raise raises the counters of t, a memory peer, for an operation of this process whose data
 * are in place, and wakes the threads that sleep there. mark: 1 + the number, as in
 * rma_op.notify.
 * It is inline for the short way of a put (fast.h), where the call would be a tenth of all
 * instructions. Both additions are A of the diagram. */
static inline __attribute__((always_inline)) void notify_raise(struct win *w,
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

/* notify_arrived raises this process's counters for an operation of t that came by packet or by the
 * network's own put, and whose data are in place, and wakes other threads of the application that
 * sleep. The caller has called notify_expect for t. Under the engine's lock. */
void notify_arrived(struct win *w, struct rma_target *t, uint32_t mark);

/* notify_count returns how many notifications of that number have come from t (NULL: from all) and
 * were not taken. (acquire) Under the engine's lock. */
uint64_t notify_count(const struct win *w, const struct rma_target *t, uint32_t number);

/* notify_take marks count of the notifications that notify_count returned as taken. Under the
 * engine's lock. */
void notify_take(struct win *w, struct rma_target *t, uint32_t number, uint64_t count);

/* ---- who awaits notifications: await_notified.c ---- */

/* notified_due returns whether a request awaits notifications in w. Under the engine's lock. */
bool notified_due(const struct win *w);

/* notified_awaits returns whether notifications of t are awaited: by wait or, if wait is NULL, by a
 * request. Notifications of any process count as awaited from t only when all other processes of w
 * have closed their connections, since until then another one may raise them. Under the engine's
 * lock. */
bool notified_awaits(struct win *w, const struct rma_wait *wait, const struct rma_target *t);

#endif
