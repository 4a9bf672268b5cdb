/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * by_memory.c - synchronization with a target of this node whose control block is mapped here
 * (win/sync_ops.h): signals are stores into slots of that block, locks are taken in its lock word
 * by the origin itself (the usual case in rma/layer/fast.h, all others here). Operations on such a
 * target are done when they are issued; or they wait in its stages (path/stage.h), or here until
 * its post or its fence is seen (path/deferred.h). Under locks the first access waits for the
 * target's last fence and for the end of exclusive locks there. Locks: none is held by the caller,
 * except where sync_ops.h says so.
 *
 * Order of stores and loads. A slot is one line in the control block of a process, written by one
 * peer. Its counters only grow.
 *
 *   target                                origin
 *   loads and stores of its memory        B: slot.posts >= due (acquire)
 *   A: slot.posts = n (release)           put, get
 *
 * A pairs with B; MPI_Win_complete and MPI_Win_wait do the same in the other direction. An epoch of
 * small puts does not wait for the post (path/stage.c). With MPI_MODE_NOCHECK the post has been
 * called before the start (MPI 4.1, 12.5.2). For packet peers the handlers store into the target's
 * own signals, so waiting is the same. Sleepers: a full fence after each store, or membarrier,
 * then a look at the peer's event count (sys/futex_event.h).
 *
 * In a fence with MPI_MODE_NOPRECEDE there is no barrier: a process only says that it has entered
 * the fence.
 *
 *   target                                origin
 *   loads and stores of its memory        B: ctl.exposed >= phase (acquire)
 *   A: ctl.exposed = phase (release)      put
 *
 * A pairs with B. The origin looks once per target and phase. The target wakes nobody, since it
 * does not know who waits; such a wait sleeps for short times only.
 */
#include "base/err.h"
#include "rma/path/deferred.h"
#include "rma/path/path.h"
#include "rma/path/stage.h"
#include "rma/progress/wait.h"
#include "rma/sync/sync.h"
#include "rma/traced/traced_path.h"
#include "rma/win/path_ops.h"
#include "rma/win/target_lock.h"

/* wake is called after a signal was stored, and wakes those that sleep for it. */
static void wake(const struct rma_target *t)
{
    if (!t->peer->self)
        event_notify(&t->peer->polling->threads, t->peer->doorbell_fd);
}

/* ---- the first access in an epoch ---- */

struct exposed_arg {
    const struct rma_target *t;
    uint32_t phase;
};

static bool target_exposed(void *arg)
{
    const struct exposed_arg *a = arg;
    return seq_reached(atomic_load_explicit(&a->t->ctl->exposed, memory_order_acquire), a->phase);
}

/* known_exposed returns whether a barrier has told that the target may be accessed. After a barrier
 * it may, unless puts of the last phase may still lie in its stages or be on their way from another
 * node: then only when the target says so. */
static bool known_exposed(const struct win *w, const struct rma_target *t)
{
    if (!w->sync.fence_known || w->npackets)
        return false;
    if (t->path != PATH_ASSISTED)
        return true;
    const uint32_t phase = atomic_load_explicit(&t->ctl->staged_phase, memory_order_relaxed);
    return !seq_reached(phase, w->phase); /* its load is ordered by the barrier */
}

static bool is_exposed(const struct win *w, const struct rma_target *t)
{
    return t->peer->self || known_exposed(w, t) ||
           target_exposed(&(struct exposed_arg){t, w->phase});
}

/* wait_exposed waits until the target is as far as this process's last fence. The target wakes
 * nobody when it gets there (it does not know who waits), so a sleeper looks again by itself; see
 * fence.c. */
static int wait_exposed(struct win *w, struct rma_target *t)
{
    struct exposed_arg arg = {t, w->phase};
    if (is_exposed(w, t))
        return MRMA_SUCCESS;
    return rma_wait_until(w, &(struct rma_wait){.done = target_exposed,
                                                .arg = &arg,
                                                .poll_only = true,
                                                .what = "the target's fence",
                                                .rank = t->rank});
}

static bool has_posted(const struct rma_target *t)
{
    return seq_reached(
        atomic_load_explicit(&t->in->posts, memory_order_acquire), /* pairs with memory_post */
        t->posts_due);
}

static bool target_posted(void *arg)
{
    return has_posted(arg);
}

static int wait_post(struct win *w, struct rma_target *t)
{
    RMA_SPIN_UNTIL(w->rma, has_posted(t));
    if (has_posted(t))
        return MRMA_SUCCESS;
    win_event(w, t->rank, TRACE_POST_WAIT, 0);
    const int err = rma_wait_until(w, &(struct rma_wait){.done = target_posted,
                                                         .arg = t,
                                                         .what = "MPI_Win_post of the target",
                                                         .rank = t->rank});
    win_event(w, t->rank, TRACE_POST_SEEN, 0);
    return err;
}

static bool open_to_all(void *arg)
{
    struct rma_target *t = arg;
    return lockword_open_to_all(&t->ctl->lock);
}

/* A process that has counted itself holds the lock when no exclusive lock is held. */
static int await_open(struct win *w, struct rma_target *t)
{
    if (open_to_all(t))
        return MRMA_SUCCESS;
    atomic_fetch_add_explicit(&w->rma->stats.lock_waits, 1, memory_order_relaxed);
    return rma_wait_until(w, &(struct rma_wait){.done = open_to_all,
                                                .arg = t,
                                                .event = &t->ctl->lock_event,
                                                .what = "an exclusive lock to be released",
                                                .rank = t->rank});
}

/* count_once takes the engine's lock, since several threads may be the first to access t. */
static void count_once(struct win *w, struct rma_target *t)
{
    rma_enter(w->rma);
    if (t->lock == WIN_LOCK_NONE) {
        t->lock = WIN_LOCK_TICKETLESS;
        list_push_back(&w->sync.ticketless, &t->sync.ticketless_link);
        lock_count(t);
    }
    rma_leave(w->rma);
}

/* In windows from MPI_Win_allocate_shared the call itself has acquired all locks. */
static int memory_lock_all(struct win *w, struct rma_target *t)
{
    if (w->all_nocheck || w->flavor == WIN_ALLOCATE_SHARED)
        return MRMA_SUCCESS;
    count_once(w, t);
    return await_open(w, t);
}

static bool memory_accessible(const struct win *w, const struct rma_target *t)
{
    return epoch_now(&w->epoch) == EPOCH_PSCW ? has_posted(t) : is_exposed(w, t);
}

static int memory_await(struct win *w, struct rma_target *t)
{
    return epoch_now(&w->epoch) == EPOCH_PSCW ? wait_post(w, t) : wait_exposed(w, t);
}

static int memory_access(struct win *w, struct rma_target *t)
{
    const enum epoch_state now = epoch_now(&w->epoch);
    if (epoch_is_passive(&w->epoch)) {
        const int err = wait_exposed(w, t);
        return !err && now == EPOCH_LOCK_ALL ? memory_lock_all(w, t) : err;
    }
    if (unlikely(w->watched)) /* strict mode checks at once what the target's exposure allows */
        return memory_await(w, t);
    if (!memory_accessible(w, t) && deferred_begin(w, t))
        return MRMA_SUCCESS;
    return deferred_run(w, t, MRMA_SUCCESS);
}

/* ---- active target epochs ---- */

static int memory_post(struct win *w, struct rma_target *t)
{
    (void)w;
    atomic_store_explicit(&t->out->posts, ++t->posted,
                          memory_order_release); /* pairs with has_posted */
    wake(t);
    return MRMA_SUCCESS;
}

static int memory_complete(struct win *w, struct rma_target *t)
{
    const int err = likely(stage_seek_room(t)) ? MRMA_SUCCESS : wait_post(w, t);
    const int gathered = assisted_settle(w, t);
    if (err) /* a peer is lost: what t has not read yet must stay */
        return err;
    stage_complete(t);
    wake(t);
    return gathered;
}

static int memory_end_phase(struct win *w, struct rma_target *t)
{
    (void)w, (void)t; /* barrier_node follows */
    return MRMA_SUCCESS;
}

static int memory_enter(struct win *w, struct rma_target *t, int kind, int err)
{
    struct barrier_signal *out = &t->out->sync.barriers[kind];
    atomic_store_explicit(&out->err, err, memory_order_relaxed);
    atomic_store_explicit(&out->entered, w->sync.barriers[kind],
                          memory_order_release); /* A of the barrier */
    wake(t);
    return MRMA_SUCCESS;
}

/* ---- locks ---- */

/* note stores, only where reports are wanted, what this process does with t's lock, whether
 * exclusively, and the ticket. */
static void note(const struct win *w, struct rma_target *t, enum lock_use use, bool exclusive,
                 uint32_t ticket)
{
    if (unlikely(w->rma->conf->hang_report > 0))
        atomic_store_explicit(&t->out->sync.lock,
                              (uint32_t)use | (uint32_t)exclusive << 2 | ticket << 3,
                              memory_order_relaxed);
}

struct lock_note lock_noted(const struct rma_target *t, int slot)
{
    const uint32_t word =
        atomic_load_explicit(&t->ctl->slots[slot].signals.sync.lock, memory_order_relaxed);
    return (struct lock_note){(enum lock_use)(word & 3), word >> 2 & 1, word >> 3};
}

struct turn {
    struct win *w;
    struct rma_target *t;
    uint32_t ticket;
    bool exclusive, served, yielded;
};

static bool try_turn(void *arg)
{
    struct turn *a = arg;
    if (a->served) /* the lock is entered once; the waiter may ask again */
        return true;
    a->served = lockword_enter(&a->t->ctl->lock, a->ticket, a->exclusive);
    if (a->served && !a->exclusive)
        lock_notify(a->t); /* the next shared request may be asleep */
    return a->served;
}

static bool try_pass(void *arg)
{
    struct turn *a = arg;
    return lock_try_pass(a->w, a->t, &a->yielded);
}

/* await_lock waits for the lock with this ticket: behind earlier tickets and, if it is exclusive,
 * behind holders without a ticket. */
static int await_lock(struct win *w, struct turn *turn)
{
    const int rank = turn->t->rank;
    int err = MRMA_SUCCESS;
    if (!turn->served) {
        atomic_fetch_add_explicit(&w->rma->stats.lock_waits, 1, memory_order_relaxed);
        err = rma_wait_until(w, &(struct rma_wait){.done = try_turn,
                                                   .arg = turn,
                                                   .event = &turn->t->ctl->lock_event,
                                                   .what = "the window's lock",
                                                   .rank = rank});
    }
    if (!err && turn->exclusive && !try_pass(turn))
        err = rma_wait_until(w, &(struct rma_wait){.done = try_pass,
                                                   .arg = turn,
                                                   .event = &turn->t->ctl->lock_event,
                                                   .what = "the end of shared locks",
                                                   .rank = rank});
    return err;
}

static int lock_ticketless(struct win *w, struct rma_target *t)
{
    lock_count(t);
    const int err = await_open(w, t);
    if (err)
        lock_uncount(t);
    return err;
}

static int memory_lock(struct win *w, struct rma_target *t, bool exclusive)
{
    const bool ticketless = t->lock == WIN_LOCK_TICKETLESS;
    struct turn turn = {.w = w, .t = t, .exclusive = exclusive, .ticket = LOCK_NO_TICKET};
    int err = MRMA_SUCCESS;
    if (t->lock == WIN_LOCK_NOCHECK)
        return MRMA_SUCCESS;
    if (!ticketless)
        turn.ticket = lockword_take(&t->ctl->lock, exclusive, &turn.served);
    note(w, t, LOCK_AWAITED, exclusive, turn.ticket);
    if (ticketless)
        err = lock_ticketless(w, t);
    else if (unlikely(!turn.served) || exclusive)
        err = await_lock(w, &turn);
    if (!err) {
        note(w, t, LOCK_HELD, exclusive, turn.ticket);
        win_event(w, t->rank, TRACE_LOCKED, 0);
    }
    return err;
}

static int memory_unlock(struct win *w, struct rma_target *t)
{
    const int err = route_enter(w, t)->unlock(w, t);
    if (t->lock == WIN_LOCK_NOCHECK)
        return err;
    note(w, t, LOCK_UNUSED, false, 0);
    if (t->lock == WIN_LOCK_TICKETLESS) {
        lock_uncount(t);
        return err;
    }
    lockword_release(&t->ctl->lock, t->lock == WIN_LOCK_EXCLUSIVE); /* pairs with lockword_enter */
    lock_notify(t);
    return err;
}

/* ---- lost processes ---- */

/* memory_tell_lost names the generation of the window, since t may have left the last barrier of
 * this window already, and its block may belong to another window now (ctl_blocks.h). */
static void memory_tell_lost(struct win *w, struct rma_target *t, int rank)
{
    (void)w;
    if (!t->ctl) /* not mapped yet: the window's creation finds out */
        return;
    atomic_store_explicit(&t->ctl->lost, (uint64_t)t->remote_gen << 32 | ((uint32_t)rank + 1),
                          memory_order_relaxed);
    wake(t);
}

const struct sync_ops sync_by_memory = {
    .access = memory_access,
    .accessible = memory_accessible,
    .await = memory_await,
    .post = memory_post,
    .complete = memory_complete,
    .completed = stage_completed,
    .take = stage_apply,
    .end_phase = memory_end_phase,
    .lock = memory_lock,
    .unlock = memory_unlock,
    .lock_all = memory_lock_all,
    .enter = memory_enter,
    .tell_lost = memory_tell_lost,
};
