/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.c - takes a PKT_OPS at its target: it is applied now, later, or after the lock.
 *
 *   epoch in packet   applied when
 *   FENCE seq         seq == phase (all fences up to it are passed here)
 *   PSCW seq          this process has posted seq exposure epochs to the origin
 *   LOCK seq          the origin holds the lock; a packet that asks for the lock waits for it, and
 *                     also for the fences that the origin has passed (fence.c)
 *   NOCHECK seq       all fences up to phase seq are passed here (MPI_MODE_NOCHECK); at once where
 *                     a memory peer holds the lock and has looked itself (assisted.c)
 *
 * Before that the packet is copied and parked, and so is every later packet of the same origin in
 * this window: operations of a pair are never reordered. When the epoch has ended here, the packet
 * is refused. Synchronization that is piggybacked on a packet takes effect after the packet's
 * records, and not before earlier replies to gets of the same process have been read out of the
 * window (a stream without packets stands in the send queue until then).
 *
 * If a packet is refused as a whole (because it is not due, or its origin has no lock), the origin
 * is told the error, and the synchronization that is piggybacked on the packet still takes effect,
 * in its turn: so nobody waits for an acknowledgement, a marker or an opening that never comes.
 * Where a packet cannot be parked, for want of memory or because its origin sends more than may be
 * parked, the connection is given up, which ends the waits of both processes.
 */
#include "rma/target/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/progress/lost.h"
#include "rma/target/op_check.h"
#include "rma/traced/traced_path.h"
#include "rma/types/type_table.h"
#include "rma/win/bad_packet.h"
#include "rma/win/send_header.h"
#include "rma/win/win.h"

/* How many packets of an origin wait here at most: those that the origin counts, and as many again
 * that it does not count, because its program has given MPI_MODE_NOCHECK although this process had
 * not posted. */
enum { PARKED_MOST = 2 * PKT_PARKED_MAX };

/* Flags that take effect behind replies that are still queued. */
struct piggyback {
    struct ch3_stream stream;
    struct pkt_origin *po;
    uint32_t total;
    uint64_t ack;
    uint8_t flags;
};

void target_init(struct win *w)
{
    list_init(&w->target_side.lockq);
    list_init(&w->target_side.parked);
    list_init(&w->target_side.regions.leaving);
}

static struct pkt_origin *target_origin(struct win *w, struct rma_target *t)
{
    if (!t->from) {
        t->from = calloc(1, sizeof *t->from);
        if (!t->from)
            return NULL;
        t->from->win = w;
        t->from->origin = t;
        t->from->completes = t->from->lock_seq = w->first_number;
        t->from->marked = w->phase; /* no marker has come in the present phase */
        list_init(&t->from->parked);
    }
    return t->from;
}

/* take_out takes a parked packet out of the lists; the caller frees it. */
static void take_out(struct pkt_origin *po, struct parked_packet *pp)
{
    list_remove(&pp->link);
    po->nparked--;
    if (list_empty(&po->parked))
        list_remove(&po->parked_link);
}

void target_free_origin(struct rma_target *t)
{
    struct pkt_origin *po = t->from;
    if (!po)
        return;
    struct list_node *node;
    while ((node = list_first(&po->parked)) != NULL) {
        struct parked_packet *pp = LIST_ENTRY(node, struct parked_packet, link);
        take_out(po, pp);
        free(pp);
    }
    lock_queue_forget(po);
    type_table_free(po->types);
    free(po);
    t->from = NULL;
}

static void refuse(struct win *w, struct rma_target *t, const char *why)
{
    rma_bad_packet(w->rma, "packet of rank %d refused in window %u: %s", t->rank, w->index, why);
}

/* refuse_access refuses a wrong access. The origin gets the error, since its program has to handle
 * it. */
static void refuse_access(struct win *w, struct rma_target *t, const char *why)
{
    w->rma->stats.refused++;
    log_msg(w->rma->log, LOG_LEVEL_INFO, "operation of rank %d refused in window %u: %s", t->rank,
            w->index, why);
}

/* got_marker takes MPI_Win_fence's marker, and checks whether everything of the phase has come. */
static void got_marker(struct pkt_origin *po, uint32_t total)
{
    struct win *w = po->win;
    if (po->phase_bytes != total && !po->phase_broken)
        refuse(w, po->origin, "operations of a fence phase are missing");
    po->phase_bytes = 0;
    po->phase_broken = false;
    po->marked = w->phase + 1; /* the marker is due, so it belongs to this phase */
    w->fence_arrived++;
}

static void take_effect(struct pkt_origin *po, uint8_t flags, uint32_t total, uint64_t ack)
{
    struct win *w = po->win;
    struct rma_target *t = po->origin;
    if (flags & PKT_F_UNLOCK)
        lock_queue_release(po);
    if (flags & (PKT_F_FLUSH | PKT_F_UNLOCK))
        (void)win_send_header(w, t, PKT_ACK, (uint32_t)ack, 0, t->posted, 0);
    if (flags & PKT_F_COMPLETE)
        atomic_fetch_add_explicit(&t->in->completes, 1,
                                  memory_order_release); /* pairs with packets_completed */
    if (flags & PKT_F_FENCE)
        got_marker(po, total);
}

static bool piggyback_next(struct ch3_stream *st, void *room, size_t cap, size_t *len)
{
    (void)st, (void)room, (void)cap;
    *len = 0;
    return true;
}

/* If the connection is lost, so are the replies in front of the piggybacked synchronization, which
 * then does not take effect: a lock stays with the lost process, an epoch stays open, and processes
 * that wait for these get an error (lost.h). */
static void piggyback_done(struct ch3_stream *st, int err)
{
    struct piggyback *pb = LIST_ENTRY(st, struct piggyback, stream);
    if (err)
        refuse(pb->po->win, pb->po->origin,
               "the connection was lost before what ends its epoch took effect");
    else
        take_effect(pb->po, pb->flags, pb->total, pb->ack);
    free(pb);
}

/* piggyback_behind_replies makes the piggybacked synchronization wait for replies. If there is no
 * memory for that, it takes effect now, with an error. */
static void piggyback_behind_replies(struct pkt_origin *po, const struct pkt_hdr *hdr,
                                     uint8_t flags)
{
    struct ch3_vc *vc = &po->origin->peer->vc;
    if (!flags)
        return;
    if (flags & PKT_F_COMPLETE)
        po->completes++;
    struct piggyback *pb = ch3_vc_busy(vc) ? malloc(sizeof *pb) : NULL;
    if (!pb) {
        if (ch3_vc_busy(vc)) {
            refuse(po->win, po->origin, "no memory to order it behind replies");
            (void)win_send_header(po->win, po->origin, PKT_ERROR, 0, 0, MRMA_ERR_NO_MEM, 0);
        }
        take_effect(po, flags, hdr->total, hdr->offset);
        return;
    }
    *pb = (struct piggyback){.stream = {.next = piggyback_next,
                                        .done = piggyback_done,
                                        .wants = sizeof(struct pkt_hdr),
                                        .owner = &po->win->queued},
                             .po = po,
                             .total = hdr->total,
                             .ack = hdr->offset,
                             .flags = flags};
    const int err = ch3_send_stream(vc, &pb->stream);
    if (err)
        piggyback_done(&pb->stream, err);
}

static int tell_posts(struct win *w, struct rma_target *t)
{
    return win_send_header(w, t, PKT_POST, t->posted, 0, 0, 0);
}

int target_post(struct win *w, struct rma_target *t)
{
    struct pkt_origin *po = t->from;
    if (likely(!po || !po->wants_post))
        return MRMA_SUCCESS;
    po->wants_post = false;
    return tell_posts(w, t);
}

/* answer_open answers an origin that asks when its epoch is open: it is, since this packet of the
 * epoch is applied. With the end of an access epoch the origin asks for the next post, which this
 * process cannot have made yet: its present exposure lasts until that end has taken effect. */
static void answer_open(struct pkt_origin *po, const struct pkt_hdr *hdr, uint8_t flags)
{
    if (flags & PKT_F_COMPLETE)
        po->wants_post = true;
    else if (hdr->epoch == PKT_EPOCH_PSCW)
        (void)tell_posts(po->win, po->origin);
    else
        (void)win_send_header(po->win, po->origin, PKT_OPEN, hdr->seq, hdr->epoch == PKT_EPOCH_LOCK,
                              po->origin->posted, 0);
}

/* follow carries out the piggybacked synchronization of a packet whose records have been applied or
 * refused. */
static void follow(struct pkt_origin *po, const struct pkt_hdr *hdr, uint8_t flags)
{
    if (flags & PKT_F_WANT_OPEN)
        answer_open(po, hdr, flags);
    piggyback_behind_replies(po, hdr,
                             flags & (PKT_F_FLUSH | PKT_F_UNLOCK | PKT_F_COMPLETE | PKT_F_FENCE));
}

static void served(const struct win *w, const struct rma_target *t, const struct pkt_hdr *hdr)
{
    rma_event(w->rma, (struct trace_record){.kind = TRACE_SERVED,
                                            .win = w->index + 1,
                                            .peer = t->rank,
                                            .arg = hdr->count,
                                            .bytes = hdr->len - sizeof *hdr});
}

static void apply(struct pkt_origin *po, const struct pkt_hdr *hdr, const void *body)
{
    struct win *w = po->win;
    struct rma_target *t = po->origin;
    uint8_t flags;
    win_event(w, t->rank, TRACE_SERVE, 0);
    int err = target_apply(w, t, hdr, body, &flags);
    served(w, t, hdr);
    if (err == MRMA_ERR_INTERN)
        refuse(w, t, mrma_err_name(err));
    else if (err)
        refuse_access(w, t, mrma_err_name(err));
    follow(po, hdr, flags);
}

/* refuse_whole refuses a packet and carries out what is piggybacked on it: an epoch that has ended,
 * or a lock that is not held, is not ended again, but the origin gets the answers for which it
 * waits. If a process is lost, epochs end without it and therefore too early for others, which are
 * told this reason. */
static void refuse_whole(struct pkt_origin *po, const struct pkt_hdr *hdr, const void *body,
                         const char *fault)
{
    refuse_access(po->win, po->origin, fault);
    target_refuse_records(po->win, po->origin, hdr, body,
                          win_who_is_lost(po->win) < 0 ? MRMA_ERR_RMA_SYNC : MRMA_ERR_PROC_FAILED);
    if (hdr->epoch == PKT_EPOCH_FENCE || hdr->epoch == PKT_EPOCH_PSCW)
        return;
    uint8_t flags = hdr->flags & (PKT_F_WANT_OPEN | PKT_F_FLUSH | PKT_F_UNLOCK);
    if (flags & PKT_F_UNLOCK)
        flags ^= PKT_F_UNLOCK | PKT_F_FLUSH;
    follow(po, hdr, flags);
}

enum verdict { NOW, LATER, NEVER };

/* judge compares a packet's epoch number with the first number that is due, of which and the
 * following ones `open` are open. */
static enum verdict judge(uint32_t seq, uint32_t due, uint32_t open, const char **fault)
{
    if (!seq_reached(open, seq))
        return LATER;
    if (seq_reached(seq, due))
        return NOW;
    *fault = "its epoch has ended here";
    return NEVER;
}

/* admit_locked decides for a packet of a lock epoch, and makes the lock request, once. */
static enum verdict admit_locked(struct pkt_origin *po, const struct pkt_hdr *hdr,
                                 const char **fault)
{
    const bool asks = hdr->flags & (PKT_F_LOCK_SHARED | PKT_F_LOCK_EXCLUSIVE | PKT_F_LOCK_ALL);
    if (po->win->locks_refused)
        *fault = "lock in a window created with no_locks";
    else if (po->lock != LOCKQ_NONE && hdr->seq != po->lock_seq)
        *fault = "of another lock than the one held";
    else if (po->lock == LOCKQ_NONE && !asks)
        *fault = "operation without the lock";
    else if (po->lock == LOCKQ_NONE && seq_reached(po->lock_seq, hdr->seq))
        *fault = "request of a lock that has ended";
    if (*fault)
        return NEVER;
    if (po->lock == LOCKQ_NONE && !seq_reached(po->win->phase, hdr->total))
        return LATER; /* operations of the origin's last fence may still be on their way */
    if (po->lock == LOCKQ_NONE) {
        po->lock_seq = hdr->seq;
        return lock_queue_request(po, hdr->flags & PKT_F_LOCK_EXCLUSIVE,
                                  hdr->flags & PKT_F_LOCK_ALL)
                   ? NOW
                   : LATER;
    }
    return po->lock == LOCKQ_HELD ? NOW : LATER;
}

/* admit decides whether a packet may be applied now. If the packet asks for the lock, it has asked
 * when this returns. */
static enum verdict admit(struct pkt_origin *po, const struct pkt_hdr *hdr, const char **fault)
{
    const struct win *w = po->win;
    const struct rma_target *t = po->origin;
    switch (hdr->epoch) {
    case PKT_EPOCH_FENCE:
        return judge(hdr->seq, w->phase, w->phase, fault);
    case PKT_EPOCH_PSCW:
        return judge(hdr->seq, po->completes + 1, t->exposures, fault);
    case PKT_EPOCH_NOCHECK:
        if (w->locks_refused &&
            hdr->count) /* a bare flush comes in front of MPI_Win_free's barrier */
            *fault = "passive target operation in a window created with no_locks";
        if (*fault)
            return NEVER;
        return t->ctl || seq_reached(w->phase, hdr->seq)
                   ? NOW /* a process that shares memory with this one has looked itself */
                   : LATER;
    default:
        return admit_locked(po, hdr, fault);
    }
}

static void keep(struct pkt_origin *po, const struct pkt_hdr *hdr, const void *body)
{
    struct win *w = po->win;
    const bool room = po->nparked < PARKED_MOST;
    struct parked_packet *pp = room ? malloc(offsetof(struct parked_packet, hdr) + hdr->len) : NULL;
    if (!pp) {
        refuse(w, po->origin,
               room ? "no memory for what waits for its epoch: the connection is given up"
                    : "too many packets that wait for their epoch: the connection is given up");
        ch3_vc_lost(&po->origin->peer->vc);
        return;
    }
    list_node_init(&pp->link);
    pp->hdr = *hdr;
    memcpy(&pp->hdr + 1, body, hdr->len - sizeof *hdr);
    if (list_empty(&po->parked))
        list_push_back(&w->target_side.parked, &po->parked_link);
    list_push_back(&po->parked, &pp->link);
    po->nparked++;
    w->rma->stats.parked++;
    win_event(w, po->origin->rank, TRACE_PARK, po->nparked);
}

/* An origin that gives MPI_MODE_NOCHECK to MPI_Win_start says that this process has posted, so it
 * does not count the packets that may wait here. If that is not true, this process keeps no more
 * packets of it than of others; the rest is refused, but the end of the epoch takes effect. */
static void refuse_unposted(struct pkt_origin *po, const struct pkt_hdr *hdr, const void *body)
{
    struct pkt_hdr end = *hdr;
    refuse_access(po->win, po->origin,
                  "MPI_MODE_NOCHECK in MPI_Win_start without an MPI_Win_post before "
                  "(MPI 4.1, 12.5.5)");
    if (hdr->count)
        target_refuse_records(po->win, po->origin, hdr, body, MRMA_ERR_RMA_SYNC);
    end.count = 0;
    end.len = sizeof end;
    if (hdr->flags & (PKT_F_COMPLETE | PKT_F_WANT_OPEN))
        keep(po, &end, body);
}

static void park(struct pkt_origin *po, const struct pkt_hdr *hdr, const void *body)
{
    if (unlikely(po->nparked >= PKT_PARKED_MAX && hdr->epoch == PKT_EPOCH_PSCW))
        refuse_unposted(po, hdr, body);
    else
        keep(po, hdr, body);
}

void target_ops(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body)
{
    if (!target_header_sound(hdr)) {
        refuse(w, t, "wrong epoch or flags");
        return;
    }
    struct pkt_origin *po = target_origin(w, t);
    const char *fault = NULL;
    if (!po) {
        refuse(w, t, "no memory: the connection is given up");
        ch3_vc_lost(&t->peer->vc);
        return;
    }
    switch (list_empty(&po->parked) ? admit(po, hdr, &fault) : LATER) {
    case NOW:
        apply(po, hdr, body);
        break;
    case LATER:
        park(po, hdr, body);
        break;
    case NEVER:
        refuse_whole(po, hdr, body, fault);
    }
}

/* unpark applies those of the origin's parked packets that may be applied now. */
static void unpark(struct pkt_origin *po)
{
    struct list_node *node;
    while ((node = list_first(&po->parked)) != NULL) {
        struct parked_packet *pp = LIST_ENTRY(node, struct parked_packet, link);
        const char *fault = NULL;
        enum verdict v = admit(po, &pp->hdr, &fault);
        if (v == LATER)
            return;
        take_out(po, pp);
        win_event(po->win, po->origin->rank, TRACE_UNPARK, po->nparked);
        if (v == NOW)
            apply(po, &pp->hdr, &pp->hdr + 1);
        else
            refuse_whole(po, &pp->hdr, &pp->hdr + 1, fault);
        free(pp);
    }
}

void target_unpark_all(struct win *w)
{
    LIST_EACH_SAFE (node, &w->target_side.parked)
        unpark(LIST_ENTRY(node, struct pkt_origin, parked_link));
}

static bool grant_locks_of(struct win *w)
{
    bool any = false;
    struct pkt_origin *po;
    while ((po = lock_queue_grant(w)) != NULL) {
        any = true;
        unpark(po); /* may release the lock again, which calls this function again */
    }
    return any;
}

bool target_awaits_lock(const struct win *w)
{
    return !list_empty(&w->target_side.lockq);
}

bool target_grant_locks(struct rma *r)
{
    bool any = false;
    LIST_EACH_SAFE (node, &r->lock_wins) {
        struct win *w = LIST_ENTRY(node, struct win, target_side.lockq_link);
        const int lost = win_who_is_lost(w);
        if (lost >= 0)
            lock_queue_lost(w, lost);
        any |= grant_locks_of(w);
    }
    return any;
}
