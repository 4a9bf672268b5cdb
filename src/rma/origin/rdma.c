/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma.c - see rdma.h.
 *
 * Puts and gets go by the channel, in parts (rdma_op.h), or by packet (pair_ops.h); accumulates go
 * by the card where that was chosen for the window (atomics.h), else by packet. An operation that
 * may not begin before the target has begun its part of the epoch is deferred (rma.defer). No
 * state. Locks: see rdma.h.
 */
#include "rma/origin/rdma.h"

#include "base/err.h"
#include "rma/notify/notify.h"
#include "rma/notify/notify_words.h"
#include "rma/origin/atomics.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/origin_impl.h"
#include "rma/origin/pair_ops.h"
#include "rma/origin/rdma_choice.h"
#include "rma/origin/rdma_op.h"
#include "rma/origin/region_keys.h"
#include "rma/progress/wait.h"
#include "rma/win/win.h"

/* A put or get: the user's side of it, and the target's. */
struct transfer {
    bool put;
    char *local;
    const struct dtype *type;
    size_t count;
    uint64_t offset;
    size_t len;
    uint32_t word; /* the notification, if its only put carries it; 0: none */
    const struct rma_op *op;
};

static struct transfer transfer_of(enum pkt_op_kind kind, const struct rma_op *op, int64_t offset,
                                   size_t len)
{
    const bool put = kind == PKT_OP_PUT;
    return (struct transfer){.put = put,
                             .local = put ? (char *)(uintptr_t)op->oaddr : op->raddr,
                             .type = put ? op->otype : op->rtype,
                             .count = put ? op->ocount : op->rcount,
                             .offset = (uint64_t)offset,
                             .len = len,
                             .op = op};
}

/* A walk over both sides at once. */
struct walk {
    struct dtype_cursor here, there;
    size_t left_here, left_there; /* bytes of the present pieces */
    ptrdiff_t at_here, at_there;
};

static void walk_init(struct walk *k, const struct transfer *x)
{
    dtype_cursor_init(&k->here, x->type, x->count, DTYPE_BYTES);
    dtype_cursor_init(&k->there, x->op->ttype, x->op->tcount, DTYPE_BYTES);
    k->left_here = k->left_there = 0;
    k->at_here = k->at_there = 0;
}

/* walk_next finds the next stretch that is contiguous on both sides. Returns its length, 0 at the
 * end. */
static size_t walk_next(struct walk *k, ptrdiff_t *here, ptrdiff_t *there)
{
    if (!k->left_here)
        k->left_here = dtype_cursor_next(&k->here, SIZE_MAX, &k->at_here);
    if (!k->left_there)
        k->left_there = dtype_cursor_next(&k->there, SIZE_MAX, &k->at_there);
    const size_t len = k->left_here < k->left_there ? k->left_here : k->left_there;
    *here = k->at_here;
    *there = k->at_there;
    k->left_here -= len;
    k->left_there -= len;
    k->at_here += (ptrdiff_t)len;
    k->at_there += (ptrdiff_t)len;
    return len;
}

/* count_stretches returns how many stretches the transfer has; if they are more than most, some
 * number above most. */
static size_t count_stretches(const struct transfer *x, size_t most)
{
    struct walk k;
    ptrdiff_t here, there;
    size_t n = 0;
    if (x->type->contig && x->op->ttype->contig)
        return 1;
    if (most <= 1)
        return 2;
    walk_init(&k, x);
    while (n <= most && walk_next(&k, &here, &there))
        n++;
    return n;
}

/* issue_stretch moves one stretch that is contiguous on both sides, in parts as long as the channel
 * takes them. */
static int issue_stretch(struct origin_pair *pair, struct origin_rdma_part p)
{
    const size_t max = ch3_rdma_limits(&pair->target->peer->vc)->max;
    int err = MRMA_SUCCESS;
    for (size_t left = p.len; !err && left; p.local += p.len, p.remote += p.len, left -= p.len) {
        p.len = left < max ? left : max;
        err = origin_rdma_start(pair, &p);
    }
    return err;
}

/* key is that of the region; NULL: the window's memory. Returns the errors of origin_rdma_operate.
 */
static int issue_stretches(struct origin_pair *pair, const struct transfer *x,
                           struct origin_key *key)
{
    struct origin_rdma_part p = {.put = x->put,
                                 .local = x->local,
                                 .remote = x->offset,
                                 .len = x->len,
                                 .req = x->op->req,
                                 .key = key,
                                 .word = x->word};
    struct walk k;
    ptrdiff_t here, there;
    int err = MRMA_SUCCESS;
    if (x->type->contig && x->op->ttype->contig)
        return issue_stretch(pair, p);
    walk_init(&k, x);
    while (!err && (p.len = walk_next(&k, &here, &there)) != 0) {
        p.local = x->local + here;
        p.remote = x->offset + (uint64_t)there;
        err = issue_stretch(pair, p);
    }
    return err;
}

/* span_of returns the target's side from its first byte to its last, in a dynamic window;
 * operations.c has checked before that there is a byte. */
static struct span span_of(const struct transfer *x)
{
    ptrdiff_t lo = 0, hi = 0;
    (void)dtype_span(x->op->ttype, x->op->tcount, &lo, &hi);
    return (struct span){x->offset + (uint64_t)lo, (uint64_t)(hi - lo)};
}

/* reaches returns whether the channel reaches all of the target's side. *key is set to the key to
 * use, NULL for the window's memory. In a dynamic window one region must have all of it, and that
 * region's key must be known. */
static bool reaches(const struct origin_pair *pair, const struct transfer *x,
                    struct origin_key **key)
{
    *key = NULL;
    if (likely(!pair->win->dynamic))
        return true;
    const struct span span = span_of(x);
    *key = origin_key_at(pair, span.addr, span.len);
    return *key && (*key)->registered;
}

/* word_of returns the word with which the operation notifies the target; 0: there is none, and a
 * packet notifies. */
static uint32_t word_of(const struct origin_pair *pair, const struct rma_op *op)
{
    const bool takes = op->notify && ch3_rdma_takes_word(&pair->target->peer->vc);
    return takes ? notify_word_to(pair->win, pair->target, op->notify) : 0;
}

/* goes_by_packet returns whether the transfer goes by packet, and sets x->word. *ask is set if it
 * does so only because the key of the target's region is not known. */
static bool goes_by_packet(const struct origin_pair *pair, struct transfer *x,
                           const struct origin_rdma_thresholds *th, bool *ask)
{
    const uint32_t word = word_of(pair, x->op);
    const struct ch3_rdma_limits *limits = ch3_rdma_limits(&pair->target->peer->vc);
    struct origin_rdma_facts facts = {.len = x->len,
                                      .segments = count_stretches(x, th->segments),
                                      .put = x->put,
                                      .notifies = word != 0,
                                      .passive = epoch_is_passive(&pair->win->epoch),
                                      .open = origin_epoch_is_open(pair),
                                      .packed = pair->packed};
    struct origin_key *key;
    const bool reached = reaches(pair, x, &key);
    /* A region is asked for before the epoch is open, so that the next operations find it. */
    facts.open |= !reached;
    const enum origin_rdma_way way = origin_rdma_choose(&facts, limits, th);
    x->word = origin_rdma_takes_word(way, &facts, limits, th) ? word : 0;
    *ask = !reached && way != ORIGIN_RDMA_PACKET;
    return way == ORIGIN_RDMA_PACKET || !reached;
}

/* issue_open is called when the epoch has begun at the target. While this process waited for that,
 * the target may have taken the region back; from here on it cannot do so before the operation has
 * ended. */
static int issue_open(struct origin_pair *pair, const struct transfer *x)
{
    struct origin_key *key;
    if (!reaches(pair, x, &key))
        return MRMA_ERR_NO_MEM;
    origin_key_use(key);
    const int err = issue_stretches(pair, x, key);
    origin_key_done(pair, key, false);
    return err;
}

/* The operation counts as one of the pair's streams until it is done. MRMA_ERR_NO_MEM: it is not
 * under way, or not all of it, and packets may do it. */
static int issue(struct win *w, struct rma_target *t, struct transfer *x,
                 const struct origin_rdma_thresholds *th)
{
    rma_enter(w->rma);
    struct origin_pair *pair = origin_pair_get(w, t);
    bool ask = false;
    const bool by_packet = pair && goes_by_packet(pair, x, th, &ask);
    if (ask)
        origin_key_ask(pair, span_of(x).addr);
    int err = MRMA_ERR_NO_MEM;
    if (by_packet)
        pair->packed += x->len; /* this counts in active target epochs */
    else if (pair)
        err = origin_rdma_open(pair, x->op->req);
    if (pair && !err && !by_packet)
        err = issue_open(pair, x);
    if (err && err != MRMA_AGAIN && err != MRMA_ERR_NO_MEM && x->op->req)
        err = origin_abandon(pair, x->op->req, err);
    rma_leave(w->rma);
    return err;
}

/* issue_one_part starts a transfer that is one part, if the channel has room for it. MRMA_AGAIN: it
 * has none; MRMA_ERR_NO_MEM: the transfer is several parts, some of which might have to wait, and
 * packets have to do it. In both cases nothing was done. */
static int issue_one_part(struct origin_pair *pair, const struct transfer *x)
{
    const struct origin_rdma_part p = {
        .put = x->put, .local = x->local, .remote = x->offset, .len = x->len};
    const bool one = x->type->contig && x->op->ttype->contig;
    if (!one || x->len > ch3_rdma_limits(&pair->target->peer->vc)->max)
        return MRMA_ERR_NO_MEM;
    return origin_rdma_start_at_once(pair, &p);
}

int origin_rdma_deferred(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                         const struct rma_op *op, int64_t offset, size_t len)
{
    const struct origin_rdma_thresholds th =
        origin_rdma_thresholds(ch3_rdma_limits(&t->peer->vc)->by, w->rma->conf);
    struct transfer x = transfer_of(kind, op, offset, len);
    struct origin_pair *pair = t->pair;
    bool ask;
    if (!pair || !origin_make_ready_now(pair))
        return MRMA_AGAIN;
    if (len < origin_rdma_least(&th))
        return MRMA_ERR_NO_MEM;
    if (goes_by_packet(pair, &x, &th, &ask)) {
        pair->packed += len;
        return MRMA_ERR_NO_MEM;
    }
    origin_pair_touch(pair);
    return issue_one_part(pair, &x);
}

bool origin_rdma_takes_at_once(const struct win *w, const struct rma_target *t, size_t len)
{
    const struct ch3_rdma_limits *limits = ch3_rdma_limits(&t->peer->vc);
    const struct origin_rdma_thresholds th = origin_rdma_thresholds(limits->by, w->rma->conf);
    return len <= limits->inject || len < origin_rdma_least(&th);
}

/* notify_behind sends the notification of op, which has not gone with the data, by packet behind
 * the data: at once where the channel keeps that order, else when the operation is done. Without
 * the engine's lock. May wait; errors as origin_operate. */
static int notify_behind(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    struct rma_op only = *op;
    only.oaddr = NULL;
    only.otype = only.ttype; /* a get has none */
    only.ocount = only.tcount = 0;
    const int err = origin_rdma_await(w, t->pair, false);
    return err ? err : origin_operate(w, t, PKT_OP_PUT, &only, 0, 0);
}

/* move does a put or get on t by the channel where the rule says so, else by packet. MRMA_AGAIN:
 * nothing was done, and the operation is to be deferred (path/deferred.h). */
static int move(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
                int64_t offset, size_t len)
{
    const struct origin_rdma_thresholds th =
        origin_rdma_thresholds(ch3_rdma_limits(&t->peer->vc)->by, w->rma->conf);
    if (len < origin_rdma_least(&th))
        return origin_operate(w, t, kind, op, offset, len);
    struct transfer x = transfer_of(kind, op, offset, len);
    const int err = issue(w, t, &x, &th);
    if (!err && x.word)
        win_count_notified(w);
    else if (!err && op->notify)
        return notify_behind(w, t, op);
    /* The channel may be unable to reach this process's own memory, which packets can. */
    return err == MRMA_ERR_NO_MEM ? origin_operate(w, t, kind, op, offset, len) : err;
}

/* MRMA_AGAIN: nothing was done, since the operation would wait for its target. */
static int issue_now(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                     const struct rma_op *op, int64_t offset, size_t len)
{
    if (kind == PKT_OP_PUT || kind == PKT_OP_GET)
        return move(w, t, kind, op, offset, len);
    if (likely(!origin_atomics_used(w) || !origin_atomics_serve(w, kind, op)))
        return origin_operate(w, t, kind, op, offset, len);
    const int err = origin_atomic_operate(w, t, kind, op, offset);
    return !err && op->notify ? notify_behind(w, t, op) : err;
}

int origin_rdma_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                        const struct rma_op *op, int64_t offset, size_t len)
{
    return origin_issue_or_defer(issue_now, w, t, kind, op, offset, len);
}
