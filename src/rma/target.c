/*
 * target.c - a PKT_OPS at its target: now, later, or after the lock.
 *
 *   epoch in packet   applied when
 *   FENCE seq         seq <= phase (all fences up to it are passed here)
 *   PSCW seq          this process has posted seq exposure epochs to the origin
 *   LOCK              the origin holds the lock; a packet that asks for it waits
 *   NOCHECK           at once
 *
 * Otherwise it is parked, copied, and so is everything later of the same origin
 * in this window: operations of a pair are never reordered. What rides on a
 * packet takes effect after its records, and not before earlier get replies to
 * the same process have been read out of the window (a stream without packets
 * stands in the send queue until then).
 */
#include "rma/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/lock_queue.h"
#include "rma/win.h"

struct parked_packet {
    struct list_node link;
    struct pkt_hdr hdr; /* the packet follows, header included */
};

/* What is to happen behind replies that are still queued. */
struct rider {
    struct ch3_stream stream;
    struct pkt_origin *po;
    uint32_t total;
    uint64_t ack;
    uint8_t flags;
};

int target_send_simple(struct win *w, struct rma_target *t, uint8_t type, uint32_t seq, uint32_t count,
                       uint32_t total, uint64_t offset)
{
    struct pkt_hdr hdr = {.version = PKT_VERSION, .type = type, .len = sizeof hdr, .win = t->remote_win,
                          .win_gen = t->remote_gen, .rank = (uint32_t)w->rank, .seq = seq, .count = count,
                          .total = total, .offset = offset};
    return ch3_send_copy(&t->peer->vc, &hdr, sizeof hdr);
}

struct pkt_origin *target_origin(struct win *w, struct rma_target *t)
{
    if (!t->from) {
        t->from = calloc(1, sizeof *t->from);
        if (!t->from)
            return NULL;
        t->from->win = w;
        t->from->origin = t;
        list_init(&t->from->parked);
    }
    return t->from;
}

void target_free_origin(struct rma_target *t)
{
    struct pkt_origin *po = t->from;
    if (!po)
        return;
    struct list_node *node;
    while ((node = list_pop_front(&po->parked)) != NULL)
        free(LIST_ENTRY(node, struct parked_packet, link));
    free(po);
    t->from = NULL;
}

static void refuse(struct win *w, struct rma_target *t, const char *why)
{
    w->rma->stats.refused++;
    log_msg(w->rma->log, LOG_LEVEL_ERROR, "packet of rank %d refused in window %u: %s", t->rank,
            w->index, why);
}

/* MPI_Win_fence's marker: has everything of the phase come? */
static void got_marker(struct pkt_origin *po, uint32_t total)
{
    struct win *w = po->win;
    if (po->phase_bytes != total)
        refuse(w, po->origin, "operations of a fence phase are missing");
    po->phase_bytes = 0;
    w->fence_arrived++;
}

static void ride(struct pkt_origin *po, uint8_t flags, uint32_t total, uint64_t ack)
{
    struct win *w = po->win;
    struct rma_target *t = po->origin;
    if (flags & PKT_F_UNLOCK)
        lock_queue_release(po);
    if (flags & (PKT_F_FLUSH | PKT_F_UNLOCK))
        (void)target_send_simple(w, t, PKT_ACK, (uint32_t)ack, 0, 0, 0);
    if (flags & PKT_F_COMPLETE)
        atomic_fetch_add_explicit(&t->in->completes, 1, memory_order_release); /* pairs with all_complete */
    if (flags & PKT_F_FENCE)
        got_marker(po, total);
}

static bool rider_next(struct ch3_stream *st, void *room, size_t cap, size_t *len)
{
    (void)st, (void)room, (void)cap;
    *len = 0;
    return true;
}

static void rider_done(struct ch3_stream *st, int err)
{
    struct rider *rd = LIST_ENTRY(st, struct rider, stream);
    if (!err)
        ride(rd->po, rd->flags, rd->total, rd->ack);
    free(rd);
}

static void ride_behind_replies(struct pkt_origin *po, const struct pkt_hdr *hdr)
{
    const uint8_t flags = hdr->flags & (PKT_F_FLUSH | PKT_F_UNLOCK | PKT_F_COMPLETE | PKT_F_FENCE);
    if (!flags)
        return;
    if (!ch3_vc_busy(&po->origin->peer->vc)) {
        ride(po, flags, hdr->total, hdr->offset);
        return;
    }
    struct rider *rd = malloc(sizeof *rd);
    if (!rd) {
        refuse(po->win, po->origin, "no memory");
        return;
    }
    *rd = (struct rider){.stream = {.next = rider_next, .done = rider_done, .wants = sizeof(struct pkt_hdr)},
                         .po = po, .total = hdr->total, .ack = hdr->offset, .flags = flags};
    if (ch3_send_stream(&po->origin->peer->vc, &rd->stream) != MRMA_SUCCESS)
        free(rd);
}

static void apply(struct pkt_origin *po, const struct pkt_hdr *hdr)
{
    struct win *w = po->win;
    struct rma_target *t = po->origin;
    int err = target_apply(w, t, hdr);
    if (err)
        refuse(w, t, mrma_err_name(err));
    RMA_TRACE(w->rma, RMA_EV_TARGET_APPLY, w, t->rank, hdr->len);
    if (hdr->flags & PKT_F_WANT_OPEN)
        (void)target_send_simple(w, t, PKT_OPEN, hdr->seq, hdr->epoch == PKT_EPOCH_LOCK, 0, 0);
    ride_behind_replies(po, hdr);
}

/* May a packet be applied now? A lock request is made here, once. */
static bool ready(struct pkt_origin *po, const struct pkt_hdr *hdr, const char **fault)
{
    struct win *w = po->win;
    const bool asks = hdr->flags & (PKT_F_LOCK_SHARED | PKT_F_LOCK_EXCLUSIVE | PKT_F_LOCK_ALL);
    switch (hdr->epoch) {
    case PKT_EPOCH_FENCE:
        return seq_reached(w->phase, hdr->seq);
    case PKT_EPOCH_PSCW:
        return seq_reached(po->origin->exposures, hdr->seq);
    case PKT_EPOCH_NOCHECK:
        return true;
    default:
        if (w->hints.no_locks)
            *fault = "lock in a window created with no_locks";
        else if (po->lock == LOCKQ_NONE && asks)
            return lock_queue_request(po, hdr->flags & PKT_F_LOCK_EXCLUSIVE, hdr->flags & PKT_F_LOCK_ALL);
        else if (po->lock == LOCKQ_NONE)
            *fault = "operation without the lock";
        return po->lock == LOCKQ_HELD;
    }
}

static void park(struct pkt_origin *po, const struct pkt_hdr *hdr)
{
    struct win *w = po->win;
    struct parked_packet *pp = malloc(offsetof(struct parked_packet, hdr) + hdr->len);
    if (!pp) {
        refuse(w, po->origin, "no memory to park it");
        return;
    }
    memcpy(&pp->hdr, hdr, hdr->len);
    if (list_empty(&po->parked))
        list_push_back(&w->parked, &po->parked_link);
    list_push_back(&po->parked, &pp->link);
    w->rma->stats.parked++;
}

void target_ops(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr)
{
    struct pkt_origin *po = target_origin(w, t);
    const char *fault = NULL;
    if (!po) {
        refuse(w, t, "no memory");
        return;
    }
    if (!list_empty(&po->parked)) {
        park(po, hdr);
        return;
    }
    bool now = ready(po, hdr, &fault);
    if (fault)
        refuse(w, t, fault);
    else if (now)
        apply(po, hdr);
    else
        park(po, hdr);
}

void target_unpark(struct pkt_origin *po)
{
    struct list_node *node;
    while ((node = list_first(&po->parked)) != NULL) {
        struct parked_packet *pp = LIST_ENTRY(node, struct parked_packet, link);
        const char *fault = NULL;
        bool now = ready(po, &pp->hdr, &fault);
        if (!now && !fault)
            return;
        list_remove(node);
        if (list_empty(&po->parked))
            list_remove(&po->parked_link);
        if (fault)
            refuse(po->win, po->origin, fault);
        else
            apply(po, &pp->hdr);
        free(pp);
    }
}

void target_unpark_all(struct win *w)
{
    LIST_EACH_SAFE(node, &w->parked)
        target_unpark(LIST_ENTRY(node, struct pkt_origin, parked_link));
}
