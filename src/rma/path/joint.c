/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * joint.c - the origin's side of joint.h: what is published, and how it is completed.
 *
 * A thread that completes an operation may meet another one that does the same. Both take chunks;
 * the first that finds all of them done removes the operation (path_rma.own). An operation is known
 * by its entry and the entry's number, which changes with each use: all that a thread knows of it
 * it looks up under the engine's lock. A thread that holds a chunk may use the place without the
 * lock, since the operation cannot end before that chunk is done.
 *
 * A put is in place for others when the call that completes it returns: what the target has copied
 * is visible here (C and D of sys/joint_board.h), and what this process has copied becomes visible
 * as all that it has copied by this way, since the window is dirty (full_fence.h).
 */
#include "rma/path/joint.h"

#include <string.h>

#include "base/err.h"
#include "rma/path/joint_choice.h"
#include "rma/path/path.h"
#include "rma/progress/progress.h"
#include "rma/progress/wait.h"
#include "rma/win/full_fence.h"
#include "rma/win/sync_ops.h"
#include "sys/procstart.h"

static_assert(sizeof(struct rma_mem_loc) == sizeof(uint64_t[JOINT_WHERE_WORDS]), "a location");

/* ---- publishing ---- */

/* Only targets that synchronize through memory have a board, and their accessible needs no lock. */
void joint_await_access(struct win *w, struct rma_target *t)
{
    if (!t->peer->board || !t->ctl || rma_is_oversubscribed(w->rma))
        return;
    for (int i = 0; i < RMA_SPINS_INLINE && !target_sync(t)->accessible(w, t); i++)
        ;
}

/* buffer_of returns the origin's side of a put or get. */
static void *buffer_of(enum pkt_op_kind kind, const struct rma_op *op)
{
    return kind == PKT_OP_PUT ? (void *)(uintptr_t)op->oaddr : op->raddr;
}

/* look_at sets *where to the place of the origin's buffer in shared memory, if it is there. */
static struct joint_facts look_at(const struct win *w, const struct rma_target *t,
                                  enum pkt_op_kind kind, const struct rma_op *op, size_t len,
                                  struct rma_mem_loc *where)
{
    const struct rma_env *env = w->rma->env;
    struct joint_facts facts = {
        .len = len,
        .copy = kind == PKT_OP_PUT || kind == PKT_OP_GET,
        .awaited = op->req || op->notify,
        .self = t->peer->self,
        .oversubscribed = rma_is_oversubscribed(w->rma),
        .helped = t->peer->board && !t->peer->joint_refused && joint_helped(t->peer->board),
        .fence = !epoch_is_passive(&w->epoch) && epoch_now(&w->epoch) != EPOCH_PSCW,
        .mapped = t->path == PATH_MAPPED,
        .kernel = t->peer->assisted};
    *where = (struct rma_mem_loc){{0}};
    if (!facts.copy || !facts.helped)
        return facts;
    const struct dtype *here = kind == PKT_OP_PUT ? op->otype : op->rtype;
    facts.contig = here->contig && op->ttype->contig;
    facts.shared = env->mem_find(env->ctx, buffer_of(kind, op), len, where);
    return facts;
}

/* free_entry returns an entry of path_rma.own that is free, or NULL. Under the engine's lock. */
static struct joint_own *free_entry(struct rma *r)
{
    for (int i = 0; i < JOINT_OWN; i++)
        if (!r->path_side.own[i].win)
            return &r->path_side.own[i];
    return NULL;
}

/* own_started returns when this process began, for those who look whether it lives. */
static uint32_t own_started(struct rma *r)
{
    if (!r->path_side.started)
        r->path_side.started = (uint32_t)procstart_of(0);
    return r->path_side.started;
}

/* enter takes a place and an entry for the operation, or returns NULL. Under the engine's lock. */
static struct joint_own *enter(struct win *w, struct rma_target *t)
{
    struct joint_own *own = free_entry(w->rma);
    const int place = own ? joint_find_place(t->peer->board, w->rma->env->record->uid) : -1;
    if (place < 0)
        return NULL;
    own->win = w;
    own->target = t;
    own->place = place;
    own->number++;
    own->err = MRMA_SUCCESS;
    own->redone = false;
    atomic_fetch_add_explicit(&t->joint, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->path_side.njoint, 1, memory_order_relaxed);
    w->nsent++;
    win_set_flush_quick(w);
    w->rma->stats.joint++;
    return own;
}

static struct joint_place *place_of(const struct joint_own *own)
{
    return &own->target->peer->board->places[own->place];
}

/* publish publishes the operation. False: there is no room, and nothing was done. */
static bool publish(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                    const struct rma_op *op, int64_t offset, size_t len,
                    const struct rma_mem_loc *where)
{
    struct rma *r = w->rma;
    rma_enter(r);
    struct joint_own *own = enter(w, t);
    if (own) {
        own->buf = buffer_of(kind, op);
        own->offset = offset;
        own->put = kind == PKT_OP_PUT;
        struct joint_copy *copy = &place_of(own)->copy;
        *copy = (struct joint_copy){.owner_addr = t->vaddr + (uint64_t)offset,
                                    .origin_addr = (uint64_t)(uintptr_t)own->buf,
                                    .len = len,
                                    .published = r->clock(),
                                    .chunk = (uint32_t)joint_chunk_bytes(len),
                                    .pid = win_peek(w, w->rank)->peer->pid,
                                    .started = own_started(r),
                                    .to_owner = own->put};
        memcpy(copy->where, where->word, sizeof copy->where);
        joint_publish(t->peer->board, own->place);
    }
    rma_leave(r);
    return own != NULL;
}

/* ---- completing ---- */

/* An operation that a thread completes. */
struct job {
    struct win *w;
    struct rma_target *t;
    struct joint_own *own;
    uint32_t number; /* the entry's, while it is this operation's */
};

/* is_current returns whether the operation has not been removed. Under the engine's lock. */
static bool is_current(const struct job *job)
{
    return job->own->win == job->w && job->own->number == job->number;
}

static int copy_bytes(const struct job *job, const struct joint_own *own, struct joint_chunk part)
{
    char *here = (char *)own->buf + part.at;
    const int64_t offset = own->offset + (int64_t)part.at;
    if (job->t->path != PATH_MAPPED)
        return assisted_copy_bytes(job->w, job->t, own->put, here, offset, part.len);
    char *there = job->t->base + offset;
    memcpy(own->put ? there : here, own->put ? here : there, part.len);
    return MRMA_SUCCESS;
}

/* take copies one chunk of the operation. False: there is none left. */
static bool take(const struct job *job)
{
    struct rma *r = job->w->rma;
    uint32_t left = 0;
    rma_enter(r);
    const bool taken = is_current(job) && joint_take(place_of(job->own), &left);
    rma_leave(r);
    if (!taken)
        return false;
    struct joint_place *place = place_of(job->own); /* nobody removes it now */
    const int err = copy_bytes(job, job->own, joint_chunk_of(&place->copy, left));
    if (unlikely(err)) {
        rma_enter(r);
        job->own->err = err;
        rma_leave(r);
    }
    joint_done(place, false);
    return true;
}

/* is_over returns whether all chunks are done, or another thread has removed the operation. Under
 * the engine's lock. */
static bool is_over(void *arg)
{
    const struct job *job = arg;
    bool failed;
    return !is_current(job) || (!job->own->redone && joint_is_done(place_of(job->own), &failed));
}

/* outlast waits while the target lives and has a chunk, after a wait has failed since some process
 * is lost: the buffer must not be used before. A target ends its chunk without waiting. */
static void outlast(struct job *job)
{
    struct rma *r = job->w->rma;
    for (unsigned round = 0;; round++) {
        rma_enter(r);
        const bool over = is_over(job) || !r->env->peer_alive(r->env->ctx, job->t->peer);
        rma_leave(r);
        if (over)
            return;
        rma_backoff(r, round);
    }
}

/* remove_entry forgets the operation. Under the engine's lock. */
static void remove_entry(struct joint_own *own)
{
    struct win *w = own->win;
    if (own->put && own->target->path == PATH_MAPPED)
        win_set_dirty(w);
    own->win = NULL;
    own->number++;
    atomic_fetch_sub_explicit(&own->target->joint, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&w->path_side.njoint, 1,
                              memory_order_release); /* pairs with joint_any */
    w->nsent--;
    win_set_flush_quick(w);
}

/* redo makes the whole copy, since the target could not make its part. The entry is marked, so that
 * no other thread does the same. */
static int redo(const struct job *job)
{
    struct rma *r = job->w->rma;
    job->own->redone = true;
    job->t->peer->joint_refused = true;
    rma_leave(r);
    const int err =
        copy_bytes(job, job->own, (struct joint_chunk){0, place_of(job->own)->copy.len});
    rma_enter(r);
    return err;
}

/* settle removes the operation, whose chunks are done, unless the wait for that has failed. */
static int settle(struct job *job, int waited)
{
    struct rma *r = job->w->rma;
    bool failed;
    int err = waited;
    rma_enter(r);
    if (is_current(job) && !job->own->redone) {
        struct joint_board *board = job->t->peer->board;
        const int place = job->own->place;
        const bool done = joint_is_done(&board->places[place], &failed);
        err = err ? err : job->own->err;
        if (unlikely(done && failed))
            err = redo(job);
        if (likely(done))
            joint_give_place(board, place);
        else
            joint_abandon(board, place);
        remove_entry(job->own);
    }
    rma_leave(r);
    return err;
}

static int complete(struct job *job)
{
    struct rma *r = job->w->rma;
    int err = MRMA_SUCCESS;
    rma_enter(r);
    const bool over = is_over(job);
    rma_leave(r);
    if (!over)
        err = rma_wait_until(job->w, &(struct rma_wait){.done = is_over,
                                                        .arg = job,
                                                        .locked = true,
                                                        .poll_only = true,
                                                        .what = "its part of a large copy",
                                                        .rank = job->t->rank});
    if (unlikely(err))
        outlast(job);
    return settle(job, err);
}

/* find_job sets *job to the operation of entry i, if that is one of w on t (NULL: on any target).
 */
static bool find_job(struct win *w, const struct rma_target *t, int i, struct job *job)
{
    struct joint_own *own = &w->rma->path_side.own[i];
    rma_enter(w->rma);
    const bool found = own->win == w && (!t || own->target == t);
    if (found)
        *job = (struct job){w, own->target, own, own->number};
    rma_leave(w->rma);
    return found;
}

/* All chunks that are left are taken first, and only then those of the targets are awaited. */
int joint_complete(struct win *w, struct rma_target *t)
{
    struct job job;
    int err = MRMA_SUCCESS;
    for (int i = 0; i < JOINT_OWN; i++)
        while (find_job(w, t, i, &job) && take(&job))
            ;
    for (int i = 0; i < JOINT_OWN; i++) {
        const int ended = find_job(w, t, i, &job) ? complete(&job) : MRMA_SUCCESS;
        err = err ? err : ended;
    }
    return err;
}

void joint_drop(struct win *w, struct rma_target *t)
{
    struct rma *r = w->rma;
    for (int i = 0; i < JOINT_OWN; i++) {
        struct joint_own *own = &r->path_side.own[i];
        if (own->win != w || own->target != t)
            continue;
        joint_abandon(t->peer->board, own->place);
        remove_entry(own);
    }
}

/* ---- the filter ---- */

static int joint_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                         const struct rma_op *op, int64_t offset, size_t len)
{
    if (unlikely(len >= w->joint_min)) {
        struct rma_mem_loc where;
        const struct joint_facts facts = look_at(w, t, kind, op, len, &where);
        if (joint_choose(&facts, w->rma->conf) && publish(w, t, kind, op, offset, len, &where))
            return MRMA_SUCCESS;
    }
    return route_way(target_route(t))->operate(w, t, kind, op, offset, len);
}

static int joint_flush(struct win *w, struct rma_target *t, bool local)
{
    const int ended = joint_end(w, t);
    const int err = route_way(target_route(t))->flush(w, t, local);
    return ended ? ended : err;
}

static int joint_unlock(struct win *w, struct rma_target *t)
{
    const int ended = joint_end(w, t);
    const int err = route_way(target_route(t))->unlock(w, t);
    return ended ? ended : err;
}

const struct path_ops path_joint = {
    .name = "joint",
    .operate = joint_operate,
    .flush = joint_flush,
    .unlock = joint_unlock,
};
