/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair.c - see pair.h: the state of a pair of window and target from its first packet to its end.
 * Locks: the engine's, held by the caller.
 */

#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/origin_impl.h"
#include "rma/origin/pair.h"
#include "rma/origin/rdma_choice.h"
#include "rma/origin/rdma_op.h"
#include "rma/origin/region_keys.h"
#include "rma/types/type_table.h"
#include "rma/win/win.h"

enum { ROOM_FIRST = 256 };

/* See rma_target.plain_max. */
static size_t plain_max(const struct win *w, const struct rma_target *t)
{
    if (w->strict || w->dynamic || w->rma->env->trace)
        return 0;
    if (t->path == PATH_PACKETS)
        return SIZE_MAX;
    if (t->path != PATH_RDMA)
        return 0;
    const struct origin_rdma_thresholds th =
        origin_rdma_thresholds(ch3_rdma_limits(&t->peer->vc)->by, w->rma->conf);
    const size_t least = origin_rdma_least(&th);
    return least ? least - 1 : 0;
}

struct origin_pair *origin_pair_get(struct win *w, struct rma_target *t)
{
    struct origin_pair *pair = t->pair;
    if (!pair) {
        pair = calloc(1, sizeof *pair);
        unsigned char *buf = pair ? malloc(ROOM_FIRST) : NULL;
        if (!buf) {
            free(pair);
            return NULL;
        }
        *pair = (struct origin_pair){.win = w,
                                     .target = t,
                                     .buf = buf,
                                     .room = ROOM_FIRST,
                                     .used = sizeof(struct pkt_hdr),
                                     .lock_seq = w->first_number,
                                     .open_seq = w->phase,              /* not the present one */
                                     .post_asked = w->first_number - 1, /* none */
                                     .acks_due = w->first_number,
                                     .acks_seen = w->first_number,
                                     .written = w->first_number,
                                     .flushed = w->first_number};
        list_init(&pair->requests);
        list_init(&pair->under_way);
        pair->epoch_seen = atomic_load_explicit(&w->gen, memory_order_relaxed) - 1;
        pair->unsent.leave = origin_leave_unsent;
        t->pair = pair;
        atomic_store_explicit(&t->plain_max, plain_max(w, t), memory_order_relaxed);
    }
    const uint64_t gen = atomic_load_explicit(&w->gen, memory_order_relaxed);
    if (pair->epoch_seen != gen) {
        pair->epoch_seen = gen;
        pair->asked = pair->awaited = pair->refused = false;
        pair->needs_open = false;
        pair->packets = 0;
        pair->packed = 0;
        if (epoch_now(&w->epoch) == EPOCH_LOCK_ALL && origin_epoch_kind(pair) == PKT_EPOCH_LOCK) {
            pair->lock = ORIGIN_LOCK_DUE;
            pair->lock_seq++;
        }
    }
    origin_early_note(pair);
    return pair;
}

void origin_pair_touch(struct origin_pair *pair)
{
    if (!list_node_queued(&pair->touched))
        list_push_back(&pair->win->origin_side.touched, &pair->touched);
}

void origin_forget_touched(struct win *w)
{
    LIST_EACH_SAFE (node, &w->origin_side.touched)
        if (!LIST_ENTRY(node, struct origin_pair, touched)->unlocking)
            list_remove(node);
}

void origin_lock_ended(struct origin_pair *pair)
{
    struct rma *r = pair->win->rma;
    pair->lock = ORIGIN_LOCK_NONE;
    if (r->lock_due == pair)
        r->lock_due = NULL; /* the next lock need not wait for this one */
    pair->unlocking = origin_unlocks_weakly(pair) && !seq_reached(pair->acks_seen, pair->acks_due);
    pair->unconfirmed |= pair->unlocking;
    pair->unread = false; /* the puts were sent before the unlock, or have been confirmed */
    /* a pair that is unlocking stays, so that the next flush of all targets waits for it */
    if (list_node_queued(&pair->touched) && !pair->unlocking)
        list_remove(&pair->touched);
}

void origin_window_init(struct win *w)
{
    list_init(&w->origin_side.touched);
}

static void fail(struct origin_pair *pair, int err)
{
    origin_fail_requests(pair, err);
    origin_rdma_fail(pair, err);
}

void origin_pair_lost(struct rma_target *t)
{
    struct origin_pair *pair = t->pair;
    if (!pair || (!pair->replies && !pair->rdma_ops))
        return;
    fail(pair, MRMA_ERR_PROC_FAILED);
    if (!pair->win->origin_side.err)
        pair->win->origin_side.err = MRMA_ERR_PROC_FAILED;
}

void origin_fail_all(struct win *w, int err)
{
    for (int i = 0; i < w->nlocal; i++)
        if (w->local[i].pair)
            fail(w->local[i].pair, err);
    LIST_EACH (node, &w->remote) {
        const struct rma_target *t = LIST_ENTRY(node, struct rma_target, remote_link);
        if (t->pair)
            fail(t->pair, err);
    }
}

void origin_pair_free(struct rma_target *t)
{
    struct origin_pair *pair = t->pair;
    if (!pair)
        return;
    fail(pair, MRMA_ERR_PROC_FAILED);
    pair->acks_seen = pair->acks_due; /* nobody waits any more */
    origin_lock_ended(pair);
    unsent_gone(pair->win->rma, &pair->unsent);
    type_table_free(pair->types);
    origin_keys_free(pair);
    free(pair->buf);
    free(pair);
    t->pair = NULL;
}

struct origin_debt origin_debt_of(const struct rma_target *t)
{
    const struct origin_pair *pair = t->pair;
    if (!pair)
        return (struct origin_debt){0};
    const uint64_t gen = atomic_load_explicit(&pair->win->gen, memory_order_relaxed);
    return (struct origin_debt){
        .acks = pair->acks_due - pair->acks_seen,
        .replies = pair->replies,
        .large = pair->streams > pair->rdma_ops ? pair->streams : pair->rdma_ops,
        .lock = pair->lock == ORIGIN_LOCK_SENT,
        .post = pair->epoch_seen == gen && (pair->needs_open || pair->replies)};
}
