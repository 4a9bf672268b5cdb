/*
 * open_packet.c - the packet that is being filled for a target, and how it leaves (origin's side).
 * Locks: the engine's, held by the caller; waits are without it.
 */
#include "rma/origin/open_packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/origin/epoch_open.h"
#include "rma/progress/wait.h"
#include "rma/packet/type_table.h"
#include "rma/traced/traced.h"
#include "rma/win/win.h"

enum { QUEUE_LIMIT = 256 * 1024, ROOM_FIRST = 256 };

static bool queue_short(void *arg)
{
    const struct pkt_target *pt = arg;
    const struct ch3_vc *vc = &pt->target->peer->vc;
    return ch3_vc_queued(vc) < QUEUE_LIMIT || !ch3_vc_is_open(vc);
}

int pkt_wait(struct pkt_target *pt, bool (*done)(void *), const char *what)
{
    struct win *w = pt->win;
    if (done(pt))
        return MRMA_SUCCESS;
    w->origin_side.waits++;
    rma_leave(w->rma);
    int err = rma_wait_until(
        w, &(struct rma_wait){
               .done = done, .arg = pt, .locked = true, .what = what, .rank = pt->target->rank});
    rma_enter(w->rma);
    return err;
}

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
        pt->early = 0;
        if (epoch_now(&w->epoch) == EPOCH_LOCK_ALL && pkt_epoch_kind(pt) == PKT_EPOCH_LOCK) {
            pt->lock = PKT_LOCK_DUE;
            pt->lock_seq++;
        }
    }
    return pt;
}

void pkt_target_touch(struct pkt_target *pt)
{
    if (!list_node_queued(&pt->touched))
        list_push_back(&pt->win->origin_side.touched, &pt->touched);
}

void pkt_forget_touched(struct win *w)
{
    while (list_pop_front(&w->origin_side.touched))
        ;
}

int pkt_send(struct pkt_target *pt, const struct pkt_hdr *hdr)
{
    int err = ch3_send(&pt->target->peer->vc, hdr, hdr->len, &pt->win->queued, false);
    if (err) /* definitions may have been in it */
        type_table_forget(pt->types);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(pt->win, pt->target) : err;
}

/* After a wait: has another thread sent it, or even flushed or unlocked? */
static bool sent_meanwhile(const struct pkt_target *pt, uint8_t flags)
{
    if (flags & ~PKT_F_FLUSH || pt->count)
        return false;
    return !flags || !issue_unproven(pt);
}

int pkt_send_open(struct pkt_target *pt, uint8_t flags, bool more)
{
    int err = MRMA_SUCCESS;
    if (!pkt_may_send(pt)) {
        err = pkt_ask_open(pt);
        if (!err)
            err = pkt_wait(pt, pkt_may_send, "the target to open its epoch");
        if (!err && sent_meanwhile(pt, flags))
            return MRMA_SUCCESS;
    }
    if (err)
        return err;
    struct pkt_hdr *hdr = (struct pkt_hdr *)(void *)pt->buf;
    *hdr = pkt_ops_header(pt);
    hdr->len = pt->used;
    hdr->flags = flags;
    hdr->count = pt->count;
    hdr->total = flags & PKT_F_FENCE ? (uint32_t)pt->phase_bytes : 0;
    pkt_take_lock(pt, hdr);
    pkt_count_early(pt, hdr, more);
    if (flags & (PKT_F_FLUSH | PKT_F_UNLOCK)) {
        hdr->offset = ++pt->acks_due;
        pt->last_op = win_last_op(pt->win);
        pt->proven = pt->written; /* not before it leaves: other threads would not wait for it */
    }
    pt->unconfirmed |= hdr->count != 0;
    pt->used = sizeof *hdr;
    pt->count = 0;
    pt->answered = false;
    return pkt_send(pt, hdr);
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
