/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted.c - the way to a kernel-assisted target: a process of this node whose window memory is
 * not shared.
 *
 * The origin reaches that memory by cross-memory attach (assisted_copy.h). Small contiguous puts
 * and gets are kept back until one system call does them all (sys/cma_queue.h): with a flush or the
 * end of the epoch, and before another operation on that target; the standard does not order them
 * (MPI 4.1, 12.7), but they are done in the order of the calls. Operations that nobody completes in
 * this way are done within a bounded time by the agent, or, without an agent, by a thread that
 * polls (progress/unsent.h). In fence and PSCW epochs small puts go into a stage first (stage.h).
 * In a passive target epoch the origin may send the operation as a packet instead, and the target
 * does it: it does so if a thread of the target polls now and an agent will serve packets that come
 * after that thread has stopped, since a packet through the ring costs less than a system call. It
 * also does so for the agent alone if the target's side is in many pieces, for which the kernel
 * takes longer than an agent takes to wake up. Large contiguous puts and gets are the kernel's in
 * any case, because origin and target would wait for each other on the way through the ring, and so
 * is everything on a node with more processes than processors, where a target that polls may have
 * no processor. assisted_choice.c chooses the way.
 *
 * The target's lock is taken in shared memory as always, so the packets ask for none
 * (PKT_EPOCH_NOCHECK). Operations that were sent are done when the target has acknowledged them,
 * for which flush and unlock wait. Accumulates of one origin on one location are done in the order
 * of the calls (MPI 4.1, 12.7.2): while some may be under way by packet (SENT_ACC), all later ones
 * to that target follow them. Both ways hold the stripe locks, so only one process at a time
 * changes an element.
 *
 * Order of stores and loads when the target does the operation. The origin holds the target's lock,
 * in shared memory:
 *
 *   origin                                target                        next holder of the lock
 *   lock word entered: sees what the      C: takes the packet (acquire)
 *     holder before has stored            stores into the window
 *   A: commits the packet (release)       D: commits the ACK or the
 *   E: takes that (acquire)                  reply (release)
 *   F: releases the lock word                                           G: enters it, sees F
 *
 * A pairs with C, D with E (shm/ring.h), F with G (win/lockword.h): so the target operates on what
 * the previous holder has left, whether that came by packet or by the kernel, and the next holder
 * sees what was stored. Between processes that hold the lock together only accumulates meet on an
 * element, under the stripe lock of its owner whichever way they come. A flush returns after E.
 *
 * Whether the target polls is read without order and may be wrong when the packet comes. Nothing
 * depends on it: the packet is sent like any other, so a thread that stops polling finds it, or its
 * sender finds nobody polling and wakes the agent (sys/polling.h). has_agent is set before
 * others know of the window, and stays.
 *
 * The kernel knows the target by a number, which another process may have once the target has
 * ended. So before it is asked, the target must have been seen alive within the last
 * PROCSTART_LOOK_NS; the look is a system call on a descriptor that belongs to one process for ever
 * (sys/procstart.h). A number comes back only when the kernel has given out all others, which takes
 * much longer than that, unless the machine's administrator chooses it.
 *
 * Locks: rma_target.sent, .gathered and win.nsent are changed under the engine's lock, which is
 * held during the system call for what was gathered, too: a flush finds done what another thread
 * has begun to do. They are set after a packet was issued: another thread that flushes meanwhile
 * need not wait for an operation that is concurrent to its flush.
 */
#include "base/err.h"
#include "rma/notify/notify.h"
#include "rma/origin/outstanding.h"
#include "rma/origin/pair_ops.h"
#include "rma/origin/passive_epoch.h"
#include "rma/origin/refused.h"
#include "sys/cma.h"
#include "sys/cma_queue.h"
#include "sys/procstart.h"
#include "dtype/dtype.h"
#include "rma/path/acc_atomic.h"
#include "rma/path/assisted_choice.h"
#include "rma/path/assisted_copy.h"
#include "rma/path/path.h"
#include "rma/progress/lost.h"
#include "rma/progress/progress.h"
#include "rma/progress/unsent.h"
#include "rma/progress/wait.h"
#include "rma/win/full_fence.h"
#include "rma/win/win.h"

static bool is_acc(enum pkt_op_kind kind)
{
    return kind != PKT_OP_PUT && kind != PKT_OP_GET;
}

static bool in_pieces(const struct dtype *type)
{
    return !type->contig && type->size / ASSISTED_PIECE_MAX < type->pieces;
}

/* target_pieces returns the number of short pieces of op's target side. */
static size_t target_pieces(const struct rma_op *op)
{
    size_t all;
    if (!in_pieces(op->ttype))
        return 0;
    return __builtin_mul_overflow(op->ttype->pieces, op->tcount, &all) ? SIZE_MAX : all;
}

static bool is_polled(const struct win *w, const struct rma_target *t)
{
    return polling_is_polled(t->peer->polling, &t->peer->polls, w->rma->clock);
}

static struct assisted_facts look_at(const struct win *w, const struct rma_target *t,
                                     enum pkt_op_kind kind, const struct rma_op *op, size_t len)
{
    const bool copy = !is_acc(kind), passive = epoch_is_passive(&w->epoch);
    const struct dtype *here = kind == PKT_OP_PUT ? op->otype : op->rtype;
    return (struct assisted_facts){.len = len,
                                   .pieces = target_pieces(op),
                                   .copy = copy,
                                   .contig = copy && op->ttype->contig && here->contig,
                                   .in_pieces = copy && (in_pieces(op->ttype) || in_pieces(here)),
                                   .request = op->req != NULL,
                                   .passive = passive,
                                   .behind_packets = t->sent == SENT_ACC,
                                   .oversubscribed = rma_is_oversubscribed(w->rma),
                                   .polled = passive && is_polled(w, t),
                                   .has_agent = passive && polling_has_agent(t->peer->polling)};
}

/* note_sent notes that something is under way to t. Under the engine's lock. */
static void note_sent(struct win *w, struct rma_target *t, enum sent sent)
{
    if (t->sent == SENT_NOTHING)
        w->nsent++;
    if (t->sent < sent)
        t->sent = (uint8_t)sent;
    win_set_flush_quick(w);
}

static int settle(struct win *w, struct rma_target *t);

static bool leave_gathered(struct unsent *u)
{
    struct rma_target *t = LIST_ENTRY(u, struct rma_target, path_side.unsent);
    struct win *w = t->path_side.unsent_of;
    const int err = settle(w, t);
    if (unlikely(err))
        origin_keep_error(w, err);
    return true;
}

/* The entry also serves operations that wait for their target (deferred.c): never at the same time,
 * since these end before the first one is gathered. */
static void enter_unsent(struct win *w, struct rma_target *t)
{
    t->path_side.unsent.leave = leave_gathered;
    t->path_side.unsent_of = w;
    unsent_add(w->rma, &t->path_side.unsent);
}

static int gather(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                  const struct rma_op *op, int64_t offset, size_t len)
{
    const bool write = kind == PKT_OP_PUT;
    const uint64_t vaddr = t->vaddr + (uint64_t)offset;
    void *here = write ? (void *)(uintptr_t)op->oaddr : op->raddr;
    rma_enter(w->rma);
    if (unlikely(!t->path_side.gathered))
        t->path_side.gathered =
            cma_queue_create(t->peer->pid, w->rma->log, (size_t)w->rma->conf->tune.assisted_queue);
    const int err = t->path_side.gathered
                        ? cma_queue_add(t->path_side.gathered, write, here, vaddr, len)
                        : MRMA_ERR_NO_MEM;
    if (!list_node_queued(&t->path_side.unsent.link) && t->path_side.gathered)
        enter_unsent(w, t);
    note_sent(w, t, SENT_GATHERED);
    rma_leave(w->rma);
    return err;
}

static void forget(struct win *w, struct rma_target *t)
{
    if (t->sent == SENT_NOTHING)
        return;
    t->sent = SENT_NOTHING;
    w->nsent--;
    win_set_flush_quick(w);
}

static bool seen_lately(const struct win *w, const struct rma_target *t)
{
    return w->rma->clock() - atomic_load_explicit(&t->peer->seen_alive, memory_order_relaxed) <
           PROCSTART_LOOK_NS;
}

/* look checks that the target's process number is still its own. Under the engine's lock. */
static int look(struct win *w, struct rma_target *t)
{
    struct rma *r = w->rma;
    const uint64_t now = r->clock(); /* before it is seen */
    if (!r->env->peer_alive(r->env->ctx, t->peer))
        return rma_died(w, t);
    atomic_store_explicit(&t->peer->seen_alive, now, memory_order_relaxed);
    return MRMA_SUCCESS;
}

/* Under the engine's lock. */
static int settle(struct win *w, struct rma_target *t)
{
    int err = MRMA_SUCCESS;
    unsent_gone(w->rma, &t->path_side.unsent);
    if (t->path_side.gathered && t->sent == SENT_GATHERED && unlikely(!seen_lately(w, t)))
        err = look(w, t);
    if (likely(!err) && t->path_side.gathered)
        err = cma_queue_run(t->path_side.gathered);
    if (origin_all_done(t))
        forget(w, t);
    if (unlikely(err == MRMA_ERR_PROC_FAILED))
        win_lost(w, t->rank);
    return err;
}

int assisted_settle(struct win *w, struct rma_target *t)
{
    if (likely(t->sent == SENT_NOTHING))
        return MRMA_SUCCESS;
    rma_enter(w->rma);
    const int err = settle(w, t);
    rma_leave(w->rma);
    return err;
}

int assisted_settle_all(struct win *w)
{
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    for (int i = 0; i < w->nlocal && w->nsent; i++) {
        const int failed = settle(w, &w->local[i]);
        err = err ? err : failed;
    }
    rma_leave(w->rma);
    return err;
}

void assisted_end_all(struct win *w)
{
    rma_enter(w->rma);
    for (int i = 0; i < w->nlocal && w->nsent; i++)
        forget(w, &w->local[i]);
    rma_leave(w->rma);
}

void assisted_drop(struct rma_target *t)
{
    cma_queue_free(t->path_side.gathered);
    t->path_side.gathered = NULL;
    if (list_node_queued(&t->path_side.unsent.link))
        list_remove(&t->path_side.unsent.link);
}

void assisted_lose(struct win *w, struct rma_target *t)
{
    assisted_drop(t);
    forget(w, t);
}

/* found_dead is called when the kernel has found no such process. */
static int found_dead(struct win *w, const struct rma_target *t)
{
    rma_enter(w->rma);
    win_lost(w, t->rank);
    rma_leave(w->rma);
    return MRMA_ERR_PROC_FAILED;
}

/* look_now_and_then makes sure that the target's number is used only if the target was seen alive
 * lately. */
static int look_now_and_then(struct win *w, struct rma_target *t)
{
    if (likely(seen_lately(w, t)))
        return MRMA_SUCCESS;
    rma_enter(w->rma);
    const int err = look(w, t);
    if (err)
        win_lost(w, t->rank);
    rma_leave(w->rma);
    return err;
}

/* begin comes before an operation that the kernel does: it does what was gathered and, for an
 * accumulate, makes sure that all accumulates use the stripes. */
static int begin(struct win *w, struct rma_target *t, enum pkt_op_kind kind)
{
    const int err = assisted_settle(w, t);
    return likely(!err) && is_acc(kind) ? acc_lock_mode(w, t->ctl, false) : err;
}

static int copy_now(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                    const struct rma_op *op, int64_t offset, size_t len)
{
    (void)len;
    int err = begin(w, t, kind);
    if (likely(!err))
        err = look_now_and_then(w, t);
    if (unlikely(err))
        return err;
    err = assisted_by_kernel(t->peer, w->rma->log, kind, t->vaddr + (uint64_t)offset, op);
    return likely(err != MRMA_ERR_PROC_FAILED) ? err : found_dead(w, t);
}

int assisted_copy_bytes(struct win *w, struct rma_target *t, bool write, void *here, int64_t offset,
                        size_t len)
{
    int err = look_now_and_then(w, t);
    if (likely(!err))
        err = cma_copy(t->peer->pid, w->rma->log, write, here, t->vaddr + (uint64_t)offset, len);
    return likely(err != MRMA_ERR_PROC_FAILED) ? err : found_dead(w, t);
}

static int send(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
                int64_t offset, size_t len)
{
    int err = begin(w, t, kind);
    if (unlikely(err))
        return err;
    err = origin_operate(w, t, kind, op, offset, len);
    rma_enter(w->rma);
    note_sent(w, t, is_acc(kind) ? SENT_ACC : SENT_COPY);
    w->rma->stats.assisted_packets++;
    rma_leave(w->rma);
    return err;
}

/* For each way the function that does an operation, and whether the target raises its
 * notification. */
static const struct way {
    int (*operate)(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                   const struct rma_op *op, int64_t offset, size_t len);
    bool notifies;
} ways[ASSISTED_WAYS] = {
    [ASSISTED_AT_ONCE] = {.operate = copy_now},
    [ASSISTED_QUEUE] = {.operate = gather},
    [ASSISTED_PACKET] = {.operate = send, .notifies = true},
};

/* raise_notification raises the notification behind what the kernel has copied; gathered copies are
 * done before. */
static int raise_notification(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    const int gathered = assisted_settle(w, t);
    if (!gathered)
        notify_raise(w, t, op->notify);
    return gathered;
}

static int assisted_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                            const struct rma_op *op, int64_t offset, size_t len)
{
    if (unlikely(!len)) /* a notification alone */
        return raise_notification(w, t, op);
    const struct assisted_facts facts = look_at(w, t, kind, op, len);
    const struct way *way = &ways[assisted_choose(&facts, w->rma->conf)];
    const int err = way->operate(w, t, kind, op, offset, len);
    return likely(err || !op->notify || way->notifies) ? err : raise_notification(w, t, op);
}

/* The kernel does the operation at once: nobody waits for the time that its call takes. */
bool assisted_leave(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                    const struct rma_op *op, int64_t offset, size_t len, int *err)
{
    (void)len;
    *err = is_acc(kind) ? acc_lock_mode(w, t->ctl, true) : MRMA_SUCCESS;
    if (!*err && !seen_lately(w, t))
        *err = look(w, t);
    if (!*err)
        *err = assisted_by_kernel(t->peer, w->rma->log, kind, t->vaddr + (uint64_t)offset, op);
    if (*err == MRMA_ERR_PROC_FAILED)
        win_lost(w, t->rank);
    return true;
}

static int assisted_flush(struct win *w, struct rma_target *t, bool local)
{
    if (!local)
        win_full_fence(w);
    int err = assisted_settle(w, t);
    if (likely(err || t->sent == SENT_NOTHING))
        return err;
    err = origin_flush(w, t, local);
    const int settled = assisted_settle(w, t);
    return err ? err : settled;
}

static int assisted_unlock(struct win *w, struct rma_target *t)
{
    int err = assisted_settle(w, t);
    if (unlikely(t->sent != SENT_NOTHING)) {
        const int ended = origin_lock_end(w, t);
        err = err ? err : ended;
        rma_enter(w->rma);
        forget(w, t);
        rma_leave(w->rma);
    }
    if (t->lock == WIN_LOCK_NOCHECK)
        win_full_fence(w);
    return err;
}

const struct path_ops path_assisted = {
    .name = "cma",
    .operate = assisted_operate,
    .flush = assisted_flush,
    .unlock = assisted_unlock,
};
