/*
 * open_packet.c - a target's open packet and when it may leave (origin's side).
 *
 * Speculative exposure: packets may leave before their epoch is known to be open
 * at the target, which parks them until then; so an epoch of few packets costs one one-way
 * delay. How many of a pair may be ahead is bounded, and so is what a target parks:
 * the next waits for the target's word (its post, or PKT_OPEN, for which an earlier one
 * has asked). A PSCW epoch may not be ahead of an epoch that is itself ahead.
 *
 * States of a packet lock (pkt_target.lock), see doc/states:
 *   NONE -begin-> DUE -first packet-> SENT -PKT_OPEN, ack or reply-> HELD -ack of unlock-> NONE
 *   DUE -unlock without operations-> NONE (nothing was sent)
 * Locks: the engine's, held by the caller; waits are without it.
 */
#include "rma/origin/open_packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/progress/wait.h"
#include "rma/packet/type_table.h"
#include "rma/win/win.h"

/* AHEAD: packets that may be ahead of an epoch, where few can be at one target. Behind them
 * may come the question whether it is open, and the last flush. */
enum { QUEUE_LIMIT = 256 * 1024, ROOM_FIRST = 256, AHEAD = PKT_PARKED_MAX - 2, AHEAD_PEERS = 16 };

uint8_t pkt_epoch_kind(const struct pkt_target *pt)
{
    const struct win *w = pt->win;
    if (w->fence_closing)
        return PKT_EPOCH_FENCE;
    switch (epoch_now(&w->epoch)) {
    case EPOCH_FENCE:
    case EPOCH_FENCE_USED:
        return PKT_EPOCH_FENCE;
    case EPOCH_PSCW:
        return PKT_EPOCH_PSCW;
    case EPOCH_LOCK_ALL: /* a direct target's lock is held already */
        return w->all_nocheck || pt->target->direct ? PKT_EPOCH_NOCHECK : PKT_EPOCH_LOCK;
    default:
        return pt->target->lock == WIN_LOCK_NOCHECK || pt->target->direct ? PKT_EPOCH_NOCHECK
                                                                          : PKT_EPOCH_LOCK;
    }
}

void issue_header(const struct pkt_target *pt, struct pkt_hdr *hdr)
{
    const struct rma_target *t = pt->target;
    *hdr = (struct pkt_hdr){.version = PKT_VERSION,
                            .type = PKT_OPS,
                            .epoch = pkt_epoch_kind(pt),
                            .win = t->remote_win,
                            .win_gen = t->remote_gen,
                            .rank = (uint32_t)pt->win->rank};
    hdr->seq = hdr->epoch == PKT_EPOCH_LOCK   ? pt->lock_seq
               : hdr->epoch == PKT_EPOCH_PSCW ? t->starts
                                              : pt->win->phase;
}

/* Is the epoch known to be open at the target, so that packets may stream? */
static bool opened(const struct pkt_target *pt)
{
    const struct rma_target *t = pt->target;
    if (t->direct)
        return true; /* epoch_access has made sure */
    struct pkt_hdr hdr;
    issue_header(pt, &hdr);
    switch (hdr.epoch) {
    case PKT_EPOCH_NOCHECK:
        if (pt->win->phase == 0) /* no fence that the target could still be in */
            return true;
        /* fall through */
    case PKT_EPOCH_FENCE:
        return pt->open_seq == pt->win->phase + 1;
    case PKT_EPOCH_PSCW:
        return seq_reached(atomic_load_explicit(&t->in->posts, memory_order_acquire), t->posts_due);
    default:
        return pt->lock == PKT_LOCK_HELD;
    }
}

static unsigned most_ahead(const struct pkt_target *pt)
{
    return pt->win->npackets <= AHEAD_PEERS ? AHEAD : 1;
}

/* May so many packets be sent without knowing? */
static bool may_go_ahead(const struct pkt_target *pt, size_t packets)
{
    const struct rma_target *t = pt->target;
    const unsigned most = most_ahead(pt);
    if (pt->ahead >= most || packets > most - pt->ahead)
        return false;
    if (epoch_now(&pt->win->epoch) != EPOCH_PSCW)
        return true;
    return seq_reached(atomic_load_explicit(&t->in->posts, memory_order_acquire), t->posts_due - 1);
}

static bool may_send(void *arg)
{
    struct pkt_target *pt = arg;
    /* Other threads may have flushed, or closed the passive epoch, meanwhile. */
    const bool nothing =
        !issue_unproven(pt) && !pt->count && epoch_now(&pt->win->epoch) != EPOCH_PSCW;
    return opened(pt) || may_go_ahead(pt, 1) || nothing || pt->win->packet_err;
}

bool pkt_is_opened(void *arg)
{
    struct pkt_target *pt = arg;
    return opened(pt) || pt->win->packet_err;
}

/* What is open leaves first, then ask and wait. */
int pkt_await_open(struct pkt_target *pt)
{
    int err = MRMA_SUCCESS;
    if (pt->count || pt->lock == PKT_LOCK_DUE)
        err = pkt_send_open(pt, 0, true);
    if (!err)
        err = pkt_ask_open(pt);
    return err ? err : pkt_wait(pt, pkt_is_opened, "the target to open its epoch");
}

bool pkt_surely_opened(const struct pkt_target *pt)
{
    return opened(pt);
}

static bool queue_short(void *arg)
{
    struct pkt_target *pt = arg;
    return pt->target->peer->vc.queued < QUEUE_LIMIT || pt->target->peer->vc.state != CH3_VC_OPEN;
}

/* Wait, called and returning with the engine's lock held. */
int pkt_wait(struct pkt_target *pt, bool (*done)(void *), const char *what)
{
    struct win *w = pt->win;
    if (done(pt))
        return MRMA_SUCCESS;
    w->packet_waits++;
    rma_leave(w->rma);
    int err = rma_wait_until(
        w, &(struct rma_wait){
               .done = done, .arg = pt, .locked = true, .what = what, .rank = pt->target->rank});
    rma_enter(w->rma);
    return err;
}

/* The state of this pair for the present epoch; made on first use. */
struct pkt_target *pkt_target_get(struct win *w, struct rma_target *t)
{
    struct pkt_target *pt = t->pkt;
    if (!pt) {
        pt = calloc(1, sizeof *pt);
        unsigned char *buf = pt ? malloc(ROOM_FIRST) : NULL;
        if (!buf) {
            free(pt);
            return NULL;
        }
        *pt = (struct pkt_target){
            .win = w, .target = t, .buf = buf, .room = ROOM_FIRST, .used = sizeof(struct pkt_hdr)};
        list_init(&pt->requests);
        list_init(&pt->under_way);
        pt->epoch_seen = atomic_load_explicit(&w->gen, memory_order_relaxed) - 1;
        t->pkt = pt;
    }
    const uint64_t gen = atomic_load_explicit(&w->gen, memory_order_relaxed);
    if (pt->epoch_seen != gen) {
        pt->epoch_seen = gen;
        pt->asked = false;
        pt->ahead = 0;
        if (epoch_now(&w->epoch) == EPOCH_LOCK_ALL && !w->all_nocheck && !t->direct) {
            pt->lock = PKT_LOCK_DUE;
            pt->lock_seq++;
        }
    }
    return pt;
}

void pkt_target_touch(struct pkt_target *pt)
{
    if (!list_node_queued(&pt->touched))
        list_push_back(&pt->win->touched, &pt->touched);
}

void pkt_forget_touched(struct win *w)
{
    while (list_pop_front(&w->touched))
        ;
}

static uint8_t lock_flag(const struct pkt_target *pt)
{
    if (epoch_now(&pt->win->epoch) == EPOCH_LOCK_ALL)
        return PKT_F_LOCK_ALL;
    return pt->target->lock == WIN_LOCK_EXCLUSIVE ? PKT_F_LOCK_EXCLUSIVE : PKT_F_LOCK_SHARED;
}

static int send_to(const struct pkt_target *pt, const struct pkt_hdr *hdr)
{
    int err = ch3_send_owned(&pt->target->peer->vc, hdr, hdr->len, &pt->win->queued);
    if (err) /* definitions may have been in it */
        type_table_forget(pt->types);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(pt->win, pt->target) : err;
}

/* Ask the target to say when the epoch is open, if nobody has asked yet. */
int pkt_ask_open(struct pkt_target *pt)
{
    if (pt->asked || opened(pt) || epoch_now(&pt->win->epoch) == EPOCH_PSCW)
        return MRMA_SUCCESS;
    struct pkt_hdr hdr;
    issue_header(pt, &hdr);
    hdr.len = sizeof hdr;
    hdr.flags = PKT_F_WANT_OPEN;
    pkt_take_lock(pt, &hdr);
    pt->asked = true;
    pt->ahead++;
    return send_to(pt, &hdr);
}

/* After a wait: has another thread sent it, or even flushed or unlocked? */
static bool sent_meanwhile(const struct pkt_target *pt, uint8_t flags)
{
    if (flags & ~PKT_F_FLUSH || pt->count)
        return false;
    return !flags || !issue_unproven(pt);
}

/* Send the open packet with what rides on it; more: operations of this epoch
 * will follow. May wait. */
int pkt_send_open(struct pkt_target *pt, uint8_t flags, bool more)
{
    int err = MRMA_SUCCESS;
    if (!may_send(pt)) {
        err = pkt_ask_open(pt);
        if (!err)
            err = pkt_wait(pt, may_send, "the target to open its epoch");
        if (!err && sent_meanwhile(pt, flags))
            return MRMA_SUCCESS;
    }
    if (err)
        return err;
    struct pkt_hdr *hdr = (struct pkt_hdr *)(void *)pt->buf;
    issue_header(pt, hdr);
    hdr->len = pt->used;
    hdr->flags = flags;
    hdr->count = pt->count;
    hdr->total = flags & PKT_F_FENCE ? (uint32_t)pt->phase_bytes : 0;
    pkt_take_lock(pt, hdr);
    if (!opened(pt)) {
        pt->ahead++;
        /* An acknowledgement says it too, and so does a reply in a lock epoch. Short epochs need
         * not know. */
        const bool told = flags & PKT_F_FLUSH || (hdr->epoch == PKT_EPOCH_LOCK && pt->answered);
        if (more && !pt->asked && hdr->epoch != PKT_EPOCH_PSCW && !told &&
            2 * pt->ahead >= most_ahead(pt)) {
            hdr->flags |= PKT_F_WANT_OPEN;
            pt->asked = true;
        }
    }
    if (flags & (PKT_F_FLUSH | PKT_F_UNLOCK)) {
        hdr->offset = ++pt->acks_due;
        pt->proven = pt->written; /* not before it leaves: other threads would not wait for it */
    }
    pt->unconfirmed |= hdr->count != 0;
    pt->used = sizeof *hdr;
    pt->count = 0;
    pt->answered = false;
    return send_to(pt, hdr);
}

/* Puts may overtake what is in the open packet, nothing else: accumulates are ordered. The
 * lock is asked for by the operation itself (pkt_take_lock). */
int pkt_await_stream(struct pkt_target *pt, size_t packets, bool overtakes)
{
    int err = MRMA_SUCCESS;
    if (pt->count && !overtakes)
        err = pkt_send_open(pt, 0, true);
    if (err || opened(pt))
        return err;
    if (!may_go_ahead(pt, packets))
        return pkt_await_open(pt);
    pt->ahead += (uint32_t)packets;
    return MRMA_SUCCESS;
}

void pkt_take_lock(struct pkt_target *pt, struct pkt_hdr *hdr)
{
    if (pt->lock != PKT_LOCK_DUE || hdr->epoch != PKT_EPOCH_LOCK)
        return;
    hdr->flags |= lock_flag(pt);
    hdr->total = pt->win->phase;
    pt->lock = PKT_LOCK_SENT;
}

/* Doubles, so that a packet of many small operations is copied few times; stays then. */
bool pkt_grow(struct pkt_target *pt, size_t need, size_t wish)
{
    size_t room = pt->room;
    const size_t least = pt->used + need;
    if (wish > PKT_MAX - pt->used)
        wish = PKT_MAX - pt->used;
    while (room < PKT_MAX && room < pt->used + wish)
        room = room < PKT_MAX / 2 ? room * 2 : PKT_MAX;
    unsigned char *buf = room > pt->room ? realloc(pt->buf, room) : NULL;
    if (buf) {
        pt->buf = buf;
        pt->room = (uint32_t)room;
    }
    return pt->room >= least;
}

int pkt_make_room(struct pkt_target *pt, size_t need, size_t wish)
{
    int err = MRMA_SUCCESS;
    while (!err &&
           PKT_MAX - pt->used < need) { /* while this thread waits, another may fill it again */
        err = pkt_send_open(pt, 0, true);
        if (!err)
            err = pkt_wait(pt, queue_short, "room in the send queue");
    }
    if (!err && !pkt_grow(pt, need, wish))
        err = log_fail(pt->win->rma->log, MRMA_ERR_NO_MEM, "no memory for a packet to rank %d",
                       pt->target->rank);
    return err;
}
