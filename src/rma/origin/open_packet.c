/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open_packet.c - the packet that is being filled for a target: when it may leave, and how
 * (origin's side).
 *
 * Speculative exposure: packets may leave early, before their epoch is known to be open at the
 * target, which parks them until then; so an epoch of few packets costs one one-way delay. The
 * number of packets of a pair that may be early (early.h) is bounded, over all epochs of the pair,
 * and so is what a target parks: the next packet waits for the target's word (PKT_POST or
 * PKT_OPEN), for which a previous packet has asked. Between processes that put to each other nobody
 * has to ask: the packet that ends an access epoch tells what its sender has posted.
 *
 * A target parks at most PKT_PARKED_MAX packets of a pair. Every packet that leaves by
 * pkt_send_open waits while EARLY_MAX packets are early, also flushes and ends of epochs without
 * operations; and so does a stream (pkt_await_stream). Two packets do not wait:
 *
 *   pkt_ask_open  is sent once in an epoch, by a call that must wait for the answer. The answer
 *                 comes when all packets before it are applied. So EARLY_MAX + 1 packets are early
 *                 at most, and EARLY_MAX at the epoch's end.
 *   ask_confirm   is sent by MPI_Win_free (completion.c), behind all other packets of the pair
 *
 * The target's word comes without a further call of this process. The first packet that is left may
 * belong to:
 *
 *   the present epoch   the word was asked for, by the end of the last access epoch where it is a
 *                       post that comes unasked
 *   an earlier PSCW     the word is that of the present epoch, which also tells what was posted
 *   an earlier phase    the word is the end of its fence, where it had operations
 *   an earlier lock     the word is the acknowledgement for which its unlock has asked
 *                       (mpirma_weak_unlock)
 *
 * So a call that waits here waits for calls of another process for which the standard allows
 * earlier calls, or this one, to wait, as MPI_Win_complete for the post (MPI 4.1, 12.5.2). No
 * correct program makes those other calls depend on what this process does later. Every wait makes
 * progress: requests of others to this process as a target are served meanwhile.
 *
 * Locks: the engine's, held by the caller; waits are without it.
 */
#include "rma/origin/open_packet.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/issue.h"
#include "rma/origin/pair_epoch.h"
#include "rma/origin/rdma_choice.h"
#include "rma/progress/wait.h"
#include "rma/traced/traced_path.h"
#include "rma/types/type_table.h"
#include "rma/win/send_header.h"
#include "rma/win/win.h"

/* EARLY_MAX: how many packets of a pair may be early, where at most EARLY_PEERS processes send to
 * one target. */
enum { EARLY_MAX = PKT_PARKED_MAX - 2, EARLY_PEERS = 16 };
enum { QUEUE_LIMIT = 256 * 1024, ROOM_FIRST = 256 };

static bool queue_short(void *arg)
{
    const struct pkt_target *pt = arg;
    const struct ch3_vc *vc = &pt->target->peer->vc;
    return ch3_vc_queued(vc) < QUEUE_LIMIT || !ch3_vc_is_open(vc);
}

int origin_wait(struct win *w, bool (*done)(void *), void *arg, const char *what, int rank)
{
    const struct rma_wait wait = {
        .done = done, .arg = arg, .locked = true, .what = what, .rank = rank};
    return rma_wait_until(w, &wait);
}

int pkt_wait(struct pkt_target *pt, bool (*done)(void *), const char *what)
{
    struct win *w = pt->win;
    if (done(pt))
        return MRMA_SUCCESS;
    w->origin_side.waits++;
    rma_leave(w->rma);
    int err = origin_wait(w, done, pt, what, pt->target->rank);
    rma_enter(w->rma);
    return err;
}

static bool unlocked(void *arg)
{
    const struct pkt_target *pt = arg;
    return !pt->unlocking;
}

int pkt_await_unlocked(struct pkt_target *pt)
{
    return unlikely(pt->unlocking)
               ? pkt_wait(pt, unlocked, "the acknowledgement of the last unlock")
               : MRMA_SUCCESS;
}

static bool stream_room(void *arg)
{
    const struct pkt_target *pt = arg;
    return pt->streams < ORIGIN_PAIR_STREAMS && pt->rdma_ops < ORIGIN_PAIR_STREAMS;
}

/* An open packet that is at most a quarter full has room for any short operation, or for the tail
 * of a long one. */
bool pkt_make_ready_now(struct pkt_target *pt)
{
    if (!pkt_epoch_is_open(pt) || pt->unlocking || !queue_short(pt) || !stream_room(pt))
        return false;
    return pt->used <= PKT_MAX / 4 || (pkt_send_open(pt, 0, true) == MRMA_SUCCESS);
}

int pkt_make_stream_room(struct pkt_target *pt)
{
    int err = MRMA_SUCCESS;
    while (!err && !stream_room(pt))
        err = pkt_wait(pt, stream_room, "large operations to leave");
    return err;
}

/* See rma_target.plain_max. */
static size_t plain_max(const struct win *w, const struct rma_target *t)
{
    if (w->strict || w->dynamic || w->rma->env->trace)
        return 0;
    if (t->path == PATH_PACKETS)
        return SIZE_MAX;
    if (t->path != PATH_RDMA)
        return 0;
    const struct rdma_thresholds th =
        rdma_thresholds(ch3_rdma_limits(&t->peer->vc)->by, w->rma->conf);
    const size_t least = rdma_least(&th);
    return least ? least - 1 : 0;
}

static bool leave_unsent(struct unsent *u);

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
        *pt = (struct pkt_target){.win = w,
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
        list_init(&pt->requests);
        list_init(&pt->under_way);
        pt->epoch_seen = atomic_load_explicit(&w->gen, memory_order_relaxed) - 1;
        pt->unsent.leave = leave_unsent;
        t->pkt = pt;
        atomic_store_explicit(&t->plain_max, plain_max(w, t), memory_order_relaxed);
    }
    const uint64_t gen = atomic_load_explicit(&w->gen, memory_order_relaxed);
    if (pt->epoch_seen != gen) {
        pt->epoch_seen = gen;
        pt->asked = pt->awaited = pt->refused = false;
        pt->needs_open = false;
        pt->packets = 0;
        pt->packed = 0;
        if (epoch_now(&w->epoch) == EPOCH_LOCK_ALL && pkt_epoch_kind(pt) == PKT_EPOCH_LOCK) {
            pt->lock = PKT_LOCK_DUE;
            pt->lock_seq++;
        }
    }
    early_note(pt);
    return pt;
}

void pkt_target_touch(struct pkt_target *pt)
{
    if (!list_node_queued(&pt->touched))
        list_push_back(&pt->win->origin_side.touched, &pt->touched);
}

void pkt_forget_touched(struct win *w)
{
    LIST_EACH_SAFE (node, &w->origin_side.touched)
        if (!LIST_ENTRY(node, struct pkt_target, touched)->unlocking)
            list_remove(node);
}

int pkt_send(struct pkt_target *pt, const struct pkt_hdr *hdr)
{
    int err = ch3_send(&pt->target->peer->vc, hdr, hdr->len, &pt->win->queued, false);
    if (err) /* definitions may have been in it */
        type_table_forget(pt->types);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(pt->win, pt->target) : err;
}

int pkt_wait_opened(struct pkt_target *pt, bool (*done)(void *))
{
    const struct win *w = pt->win;
    const bool active = !epoch_is_passive(&w->epoch);
    early_note(pt);
    if (done(pt))
        return MRMA_SUCCESS;
    if (active)
        win_event(w, pt->target->rank, TRACE_POST_WAIT, 0);
    const int err = pkt_wait(pt, done, "the target to open its epoch");
    early_note(pt);
    if (active)
        win_event(w, pt->target->rank, TRACE_POST_SEEN, 0);
    return err;
}

unsigned pkt_most_early(const struct pkt_target *pt)
{
    return pt->win->npackets <= EARLY_PEERS ? EARLY_MAX : 1;
}

bool pkt_may_send_early(const struct pkt_target *pt, size_t packets)
{
    const unsigned most = pkt_most_early(pt), left = early_left(pt);
    return left < most && packets <= most - left;
}

/* may_send is a condition for pkt_wait: the open packet may be sent, or there is nothing left to
 * send. */
static bool may_send(void *arg)
{
    const struct pkt_target *pt = arg;
    /* Other threads may meanwhile have flushed, or have ended the passive epoch. */
    const bool nothing =
        !issue_unflushed(pt) && !pt->count && epoch_now(&pt->win->epoch) != EPOCH_PSCW;
    return pkt_epoch_is_open(pt) || pkt_may_send_early(pt, 1) || nothing || pt->refused;
}

/* Does the target say unasked when the present epoch has begun there? Nobody asks twice. */
static bool comes_unasked(const struct pkt_target *pt)
{
    return epoch_now(&pt->win->epoch) == EPOCH_PSCW && pt->post_asked == pt->target->posts_due;
}

/* count_early is called when a packet leaves, and counts it if it is early. If more packets of the
 * epoch will follow, the packet also asks the target, in time, to say when the epoch is open. */
static void count_early(struct pkt_target *pt, struct pkt_hdr *hdr, bool more)
{
    if (pkt_epoch_is_open(pt))
        return;
    early_leave(pt, hdr->epoch, 1);
    /* An acknowledgement says that the epoch is open, too, and so does a reply in a lock epoch.
     * Short epochs need not know. */
    const bool reported = hdr->flags & PKT_F_FLUSH || (hdr->epoch == PKT_EPOCH_LOCK && pt->asks);
    if (more && !pt->asked && !comes_unasked(pt) && !reported &&
        2 * early_left(pt) >= pkt_most_early(pt)) {
        hdr->flags |= PKT_F_WANT_OPEN;
        pt->asked = true;
    }
}

/* The end of an access epoch leaves. It asks for the post of the next one where that is likely to
 * be needed: an epoch like this one does not fit into what may be early, or, where several packets
 * may be early, half of them are, since nothing that the target sends says more. */
static void ask_next_post(struct pkt_target *pt, struct pkt_hdr *hdr)
{
    const unsigned most = pkt_most_early(pt);
    if (!pt->asked && !pt->needs_open && pt->packets <= most &&
        (most == 1 || 2 * early_left(pt) < most))
        return;
    hdr->flags |= PKT_F_WANT_OPEN;
    pt->post_asked = pt->target->posts_due + 1;
}

int pkt_ask_open(struct pkt_target *pt)
{
    if (pkt_epoch_is_open(pt))
        return MRMA_SUCCESS;
    pt->needs_open = true;
    if (pt->asked || comes_unasked(pt))
        return MRMA_SUCCESS;
    struct pkt_hdr hdr = pkt_ops_header(pt);
    hdr.flags = PKT_F_WANT_OPEN;
    pkt_take_lock(pt, &hdr);
    pt->asked = true;
    early_leave(pt, hdr.epoch, 1);
    return pkt_send(pt, &hdr);
}

/* sent_meanwhile returns, after a wait, whether another thread has sent the packet, or has even
 * flushed or unlocked. */
static bool sent_meanwhile(const struct pkt_target *pt, uint8_t flags)
{
    if (flags & ~PKT_F_FLUSH || pt->count)
        return false;
    return !flags || !issue_unflushed(pt);
}

int pkt_send_open(struct pkt_target *pt, uint8_t flags, bool more)
{
    int err = MRMA_SUCCESS;
    early_note(pt);
    /* again, since another thread may use up the room while this one waits */
    while (!err && !may_send(pt)) {
        err = pkt_ask_open(pt);
        pt->senders++; /* otherwise the packet could leave without what this call adds to it */
        if (!err)
            err = pkt_wait_opened(pt, may_send);
        pt->senders--;
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
    if (flags & PKT_F_FENCE)
        hdr->total = (uint32_t)pt->phase_bytes;
    pkt_take_lock(pt, hdr);
    count_early(pt, hdr, more);
    pt->packets++;
    if (flags & PKT_F_COMPLETE)
        ask_next_post(pt, hdr);
    if (flags & (PKT_F_FLUSH | PKT_F_UNLOCK)) {
        hdr->offset = ++pt->acks_due;
        pt->last_op = win_last_op(pt->win);
        /* set only when it leaves: otherwise other threads would not wait for it */
        pt->flushed = pt->written;
    }
    pt->unconfirmed |= hdr->count != 0;
    pt->used = sizeof *hdr;
    pt->count = 0;
    pt->asks = 0;
    unsent_gone(pt->win->rma, &pt->unsent);
    return pkt_send(pt, hdr);
}

/* epoch_goes_on returns whether the open packet belongs to an epoch that goes on. A call that ends
 * an epoch sends the packet itself; the packet is left over if that has failed. */
static bool epoch_goes_on(const struct pkt_target *pt)
{
    const struct win *w = pt->win;
    return list_node_queued(&pt->touched) && epoch_now(&w->epoch) != EPOCH_NONE &&
           pt->epoch_seen == atomic_load_explicit(&w->gen, memory_order_relaxed);
}

int pkt_send_or_ask(struct pkt_target *pt)
{
    /* The target may rely on a call of its host that polled and has ended: then it finds the packet
     * only at the end of its agent's short sleep. The waits of progress/wait.c wake that agent
     * earlier; a wait for a request (MPI_Wait and its like) is none of these. */
    struct polling *peer = pt->unsent.awaited ? pt->target->peer->polling : NULL;
    early_note(pt);
    if (!may_send(pt)) {
        unsent_gone(pt->win->rma, &pt->unsent);
        return pkt_ask_open(pt);
    }
    const int err = pkt_send_open(pt, 0, true);
    if (peer)
        polling_call_agent(peer, pt->target->peer->doorbell_fd);
    return err;
}

/* leave sends the open packet on behalf of somebody else than the operation's call. So an error is
 * returned by the window's next synchronization, and ends the requests of the pair. False: too much
 * is queued to the target already, and the caller has to try again. */
static bool leave(struct pkt_target *pt)
{
    if (!pt->count || pt->senders || !epoch_goes_on(pt)) {
        unsent_gone(pt->win->rma, &pt->unsent);
        return true;
    }
    if (!queue_short(pt))
        return false;
    const int err = pkt_send_or_ask(pt);
    if (unlikely(err)) {
        issue_keep_error(pt->win, err);
        origin_fail(pt, err);
    }
    return true;
}

static bool leave_unsent(struct unsent *u)
{
    return leave(LIST_ENTRY(u, struct pkt_target, unsent));
}

void pkt_word_came(struct pkt_target *pt)
{
    unsent_retry(pt->win->rma);
    const bool waits = !list_node_queued(&pt->unsent.link);
    const bool answered = pt->unsent.awaited && pt->replies == pt->asks;
    if (!pt->count || (!waits && !answered))
        return;
    const bool left = leave(pt);
    if (!left && waits) /* a packet that does not wait any more is unsent again */
        unsent_add(pt->win->rma, &pt->unsent);
}

/* find_open returns a pair with something in its open packet; NULL: there is none. */
static struct pkt_target *find_open(struct win *w)
{
    LIST_EACH_SAFE (node, &w->origin_side.touched) {
        struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
        if (pt->count)
            return pt;
    }
    return NULL;
}

int issue_push(struct win *w)
{
    struct pkt_target *pt;
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    while (!err && (pt = find_open(w)) != NULL)
        err = pkt_send_open(pt, 0, true);
    rma_leave(w->rma);
    return err;
}

/* grow doubles the packet's memory, so that a packet of many small operations is copied few times.
 * The memory is kept from then on. */
static bool grow(struct pkt_target *pt, size_t need, size_t wish)
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
    /* again, since another thread may fill the packet while this one waits */
    while (!err && PKT_MAX - pt->used < need) {
        err = pkt_send_open(pt, 0, true);
        if (!err && !pt->hurries)
            err = pkt_wait(pt, queue_short, "room in the send queue");
    }
    if (!err && !grow(pt, need, wish))
        err = log_fail(pt->win->rma->log, MRMA_ERR_NO_MEM, "no memory for a packet to rank %d",
                       pt->target->rank);
    return err;
}
