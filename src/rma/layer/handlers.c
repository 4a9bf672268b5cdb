/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handlers.c - one handler per packet type: find the window and the sender, call
 * one function, return. The table is const, indexed by type, and handed to CH3.
 *
 * The handlers check that only a PKT_OPS belongs to an epoch and has flags of one; that the
 * window's index and generation name a live window, that the sender's rank exists there, and that
 * this rank is the peer from which the packet came; and that posts, acknowledgements, barrier
 * packets and packets about regions are those that are due. Anything else is refused.
 */
#include "rma/layer/layer.h"

#include "base/copy.h"
#include "base/err.h"
#include "rma/origin/region_keys.h"
#include "rma/origin/replies.h"
#include "rma/sync/barrier.h"
#include "rma/sync/fence_counts.h"
#include "rma/target/attach.h"
#include "rma/target/target.h"
#include "rma/win/bad_packet.h"
#include "rma/win/remote.h"

/* comes_late returns whether the packet is for a window that has ended. A packet for which nobody
 * waits may still be under way when its window ends, since in the last barrier only partners know
 * that they have received everything from each other. */
static bool comes_late(const struct rma *r, const struct pkt_hdr *hdr)
{
    if (hdr->win >= r->nwins || !hdr->win_gen || hdr->win_gen > r->win_gens[hdr->win])
        return false;
    return hdr->type == PKT_POST || hdr->type == PKT_OPEN || hdr->type == PKT_ERROR ||
           hdr->type == PKT_REGION_ASK || hdr->type == PKT_REGION;
}

/* find returns the window to which a packet belongs, and sets its sender in that; or NULL. */
static struct win *find(struct rma *r, struct ch3_vc *from, const struct pkt_hdr *hdr,
                        struct rma_target **t)
{
    struct win *w =
        hdr->win < r->nwins && r->win_gens[hdr->win] == hdr->win_gen ? r->wins[hdr->win] : NULL;
    const int flags = hdr->type == PKT_REPLY ? PKT_F_FLUSH : 0;
    const bool sound =
        hdr->type == PKT_OPS || (hdr->epoch == PKT_EPOCH_NONE && !(hdr->flags & ~flags));
    if (w && sound && hdr->rank < (uint32_t)w->nproc) {
        if (win_target_from(w, (int)hdr->rank, from, t))
            return w;
    } else if (!w && comes_late(r, hdr)) {
        r->stats.late++;
        return NULL;
    }
    rma_bad_packet(r, "packet of type %d refused: %s (window %u.%u, rank %u)", hdr->type,
                   sound ? "no such window with this rank at its sender" : "wrong epoch or flags",
                   hdr->win, hdr->win_gen, hdr->rank);
    return NULL;
}

static void refuse(struct win *w, const struct rma_target *t, const char *what, uint32_t seq)
{
    rma_bad_packet(w->rma, "%s number %u of rank %d refused in window %u: it is not due", what, seq,
                   t->rank, w->index);
}

/* If so, its signals are stores into this process's control block, never packets. */
static bool is_told_by_memory(const struct rma_target *t)
{
    return t->ctl != NULL;
}

/* How many exposure epochs t has posted to this process comes with several types. */
static bool take_posts(struct win *w, struct rma_target *t, uint32_t posts)
{
    if (likely(is_told_by_memory(t) || origin_got_posts(t, posts)))
        return true;
    refuse(w, t, "post", posts);
    return false;
}

static void on_ops(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr, const void *body)
{
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w && (hdr->epoch != PKT_EPOCH_PSCW || take_posts(w, t, hdr->total)))
        target_ops(w, t, hdr, body);
}

static void on_post(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr, const void *body)
{
    (void)body;
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w && (is_told_by_memory(t) || !origin_got_posts(t, hdr->seq)))
        refuse(w, t, "post", hdr->seq);
}

static void on_open(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr, const void *body)
{
    (void)body;
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w && take_posts(w, t, hdr->total))
        origin_got_open(t, hdr->seq, hdr->count != 0);
}

static void on_ack(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr, const void *body)
{
    (void)body;
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w && take_posts(w, t, hdr->total) && !origin_got_ack(t, hdr->seq))
        refuse(w, t, "acknowledgement", hdr->seq);
}

static void on_reply(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr, const void *body)
{
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (!w)
        return;
    /* Also where the rest is refused, what it acknowledges is taken: otherwise somebody may wait
     * for ever for that. */
    const bool taken = take_posts(w, t, hdr->total) && origin_reply(w, t, hdr, body);
    if (hdr->flags & PKT_F_FLUSH && !origin_got_ack(t, hdr->seq) && taken)
        refuse(w, t, "acknowledgement", hdr->seq);
}

static void on_error(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr, const void *body)
{
    (void)body;
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w)
        origin_error(w, t, hdr);
}

static void on_sync(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr, const void *body)
{
    (void)body;
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w && (is_told_by_memory(t) || !barrier_got(t, hdr->seq, hdr->total)))
        refuse(w, t, "barrier packet", hdr->seq);
}

static void on_counts(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr, const void *body)
{
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w && !fence_counts_got(w, t, hdr, body))
        refuse(w, t, "counts of fence", hdr->seq);
}

static void on_region_ask(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr,
                          const void *body)
{
    (void)body;
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w)
        target_region_asked(w, t, hdr->offset);
}

static void on_region(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr, const void *body)
{
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w && !origin_key_got(t, hdr, body))
        refuse(w, t, "region", hdr->seq);
}

static void on_region_gone(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr,
                           const void *body)
{
    (void)body;
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w)
        origin_key_gone(w, t, hdr->seq, hdr->offset);
}

static void on_region_left(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr,
                           const void *body)
{
    (void)body;
    struct rma_target *t;
    struct win *w = find(ctx, from, hdr, &t);
    if (w && !target_region_left(w, t, hdr->seq))
        refuse(w, t, "word on region", hdr->seq);
}

const ch3_handler rma_handlers[PKT_TYPE_LAST] = {
    [PKT_OPS] = on_ops,
    [PKT_POST] = on_post,
    [PKT_OPEN] = on_open,
    [PKT_ACK] = on_ack,
    [PKT_REPLY] = on_reply,
    [PKT_ERROR] = on_error,
    [PKT_SYNC] = on_sync,
    [PKT_COUNTS] = on_counts,
    [PKT_REGION_ASK] = on_region_ask,
    [PKT_REGION] = on_region,
    [PKT_REGION_GONE] = on_region_gone,
    [PKT_REGION_LEFT] = on_region_left,
};
static_assert(PKT_TYPE_LAST == 13, "a handler for every packet type");
