/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open_packet.c - the packet that is being filled for a target: when it may leave, and how
 * (origin's side).
 *
 * Speculative exposure: packets may leave early, before their epoch is known to be open at the
 * target, which parks them until then; so an epoch of few packets costs one one-way delay. The
 * number of packets of a pair that may be early (pair_epoch.c) is bounded, over all epochs of the
 * pair, and so is what a target parks: the next packet waits for the target's word (PKT_POST or
 * PKT_OPEN), for which a previous packet has asked. Between processes that put to each other nobody
 * has to ask: the packet that ends an access epoch tells what its sender has posted.
 *
 * A target parks at most PKT_PARKED_MAX packets of a pair. Every packet that leaves by
 * origin_send_open waits while EARLY_MAX packets are early, also flushes and ends of epochs without
 * operations; and so does a stream (origin_await_stream). Two packets do not wait:
 *
 *   origin_ask_open  is sent once in an epoch, by a call that must wait for the answer. The answer
 *                 comes when all packets before it are applied. So EARLY_MAX + 1 packets are early
 *                 at most, and EARLY_MAX at the epoch's end.
 *   ask_confirm   is sent by MPI_Win_free (outstanding.c), behind all other packets of the pair
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

#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/origin_impl.h"
#include "rma/origin/rdma_choice.h"
#include "rma/origin/refused.h"
#include "rma/progress/wait.h"
#include "rma/traced/traced_path.h"
#include "rma/types/type_table.h"
#include "rma/win/send_header.h"
#include "rma/win/win.h"

/* EARLY_MAX: how many packets of a pair may be early, where at most EARLY_PEERS processes send to
 * one target. */
enum { EARLY_MAX = PKT_PARKED_MAX - 2, EARLY_PEERS = 16 };
enum { QUEUE_LIMIT = 256 * 1024 };

static bool queue_short(void *arg)
{
    const struct origin_pair *pair = arg;
    const struct ch3_vc *vc = &pair->target->peer->vc;
    return ch3_vc_queued(vc) < QUEUE_LIMIT || !ch3_vc_is_open(vc);
}

int origin_wait(struct win *w, bool (*done)(void *), void *arg, const char *what, int rank)
{
    const struct rma_wait wait = {
        .done = done, .arg = arg, .locked = true, .what = what, .rank = rank};
    return rma_wait_until(w, &wait);
}

int origin_pair_wait(struct origin_pair *pair, bool (*done)(void *), const char *what)
{
    struct win *w = pair->win;
    if (done(pair))
        return MRMA_SUCCESS;
    w->origin_side.waits++;
    rma_leave(w->rma);
    int err = origin_wait(w, done, pair, what, pair->target->rank);
    rma_enter(w->rma);
    return err;
}

static bool unlocked(void *arg)
{
    const struct origin_pair *pair = arg;
    return !pair->unlocking;
}

int origin_pair_await_unlocked(struct origin_pair *pair)
{
    return unlikely(pair->unlocking)
               ? origin_pair_wait(pair, unlocked, "the acknowledgement of the last unlock")
               : MRMA_SUCCESS;
}

static bool stream_room(void *arg)
{
    const struct origin_pair *pair = arg;
    return pair->streams < ORIGIN_PAIR_STREAMS && pair->rdma_ops < ORIGIN_PAIR_STREAMS;
}

/* An open packet that is at most a quarter full has room for any short operation, or for the tail
 * of a long one. */
bool origin_make_ready_now(struct origin_pair *pair)
{
    if (!origin_epoch_is_open(pair) || pair->unlocking || !queue_short(pair) || !stream_room(pair))
        return false;
    return pair->used <= PKT_MAX / 4 || (origin_send_open(pair, 0, true) == MRMA_SUCCESS);
}

int origin_make_stream_room(struct origin_pair *pair)
{
    int err = MRMA_SUCCESS;
    while (!err && !stream_room(pair))
        err = origin_pair_wait(pair, stream_room, "large operations to leave");
    return err;
}

int origin_send(struct origin_pair *pair, const struct pkt_hdr *hdr)
{
    int err = ch3_send(&pair->target->peer->vc, hdr, hdr->len, &pair->win->queued, false);
    if (err) /* definitions may have been in it */
        type_table_forget(pair->types);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(pair->win, pair->target) : err;
}

int origin_wait_opened(struct origin_pair *pair, bool (*done)(void *))
{
    const struct win *w = pair->win;
    const bool active = !epoch_is_passive(&w->epoch);
    origin_early_note(pair);
    if (done(pair))
        return MRMA_SUCCESS;
    if (active)
        win_event(w, pair->target->rank, TRACE_POST_WAIT, 0);
    const int err = origin_pair_wait(pair, done, "the target to open its epoch");
    origin_early_note(pair);
    if (active)
        win_event(w, pair->target->rank, TRACE_POST_SEEN, 0);
    return err;
}

unsigned origin_most_early(const struct origin_pair *pair)
{
    return pair->win->npackets <= EARLY_PEERS ? EARLY_MAX : 1;
}

bool origin_may_send_early(const struct origin_pair *pair, size_t packets)
{
    const unsigned most = origin_most_early(pair), left = origin_early_left(pair);
    return left < most && packets <= most - left;
}

/* may_send is a condition for origin_pair_wait: the open packet may be sent, or there is nothing
 * left to send. */
static bool may_send(void *arg)
{
    const struct origin_pair *pair = arg;
    /* Other threads may meanwhile have flushed, or have ended the passive epoch. */
    const bool nothing =
        !origin_is_unflushed(pair) && !pair->count && epoch_now(&pair->win->epoch) != EPOCH_PSCW;
    return origin_epoch_is_open(pair) || origin_may_send_early(pair, 1) || nothing || pair->refused;
}

/* Does the target say unasked when the present epoch has begun there? Nobody asks twice. */
static bool comes_unasked(const struct origin_pair *pair)
{
    return epoch_now(&pair->win->epoch) == EPOCH_PSCW &&
           pair->post_asked == pair->target->posts_due;
}

/* count_early is called when a packet leaves, and counts it if it is early. If more packets of the
 * epoch will follow, the packet also asks the target, in time, to say when the epoch is open. */
static void count_early(struct origin_pair *pair, struct pkt_hdr *hdr, bool more)
{
    if (origin_epoch_is_open(pair))
        return;
    origin_early_leave(pair, hdr->epoch, 1);
    /* An acknowledgement says that the epoch is open, too, and so does a reply in a lock epoch.
     * Short epochs need not know. */
    const bool reported = hdr->flags & PKT_F_FLUSH || (hdr->epoch == PKT_EPOCH_LOCK && pair->asks);
    if (more && !pair->asked && !comes_unasked(pair) && !reported &&
        2 * origin_early_left(pair) >= origin_most_early(pair)) {
        hdr->flags |= PKT_F_WANT_OPEN;
        pair->asked = true;
    }
}

/* The end of an access epoch leaves. It asks for the post of the next one where that is likely to
 * be needed: an epoch like this one does not fit into what may be early, or, where several packets
 * may be early, half of them are, since nothing that the target sends says more. */
static void ask_next_post(struct origin_pair *pair, struct pkt_hdr *hdr)
{
    const unsigned most = origin_most_early(pair);
    if (!pair->asked && !pair->needs_open && pair->packets <= most &&
        (most == 1 || 2 * origin_early_left(pair) < most))
        return;
    hdr->flags |= PKT_F_WANT_OPEN;
    pair->post_asked = pair->target->posts_due + 1;
}

int origin_ask_open(struct origin_pair *pair)
{
    if (origin_epoch_is_open(pair))
        return MRMA_SUCCESS;
    pair->needs_open = true;
    if (pair->asked || comes_unasked(pair))
        return MRMA_SUCCESS;
    struct pkt_hdr hdr = origin_ops_header(pair);
    hdr.flags = PKT_F_WANT_OPEN;
    origin_carry_lock(pair, &hdr);
    pair->asked = true;
    origin_early_leave(pair, hdr.epoch, 1);
    return origin_send(pair, &hdr);
}

/* sent_meanwhile returns, after a wait, whether another thread has sent the packet, or has even
 * flushed or unlocked. */
static bool sent_meanwhile(const struct origin_pair *pair, uint8_t flags)
{
    if (flags & ~PKT_F_FLUSH || pair->count)
        return false;
    return !flags || !origin_is_unflushed(pair);
}

int origin_send_open(struct origin_pair *pair, uint8_t flags, bool more)
{
    int err = MRMA_SUCCESS;
    origin_early_note(pair);
    /* again, since another thread may use up the room while this one waits */
    while (!err && !may_send(pair)) {
        err = origin_ask_open(pair);
        pair->senders++; /* otherwise the packet could leave without what this call adds to it */
        if (!err)
            err = origin_wait_opened(pair, may_send);
        pair->senders--;
        if (!err && sent_meanwhile(pair, flags))
            return MRMA_SUCCESS;
    }
    if (err)
        return err;
    struct pkt_hdr *hdr = (struct pkt_hdr *)(void *)pair->buf;
    *hdr = origin_ops_header(pair);
    hdr->len = pair->used;
    hdr->flags = flags;
    hdr->count = pair->count;
    if (flags & PKT_F_FENCE)
        hdr->total = (uint32_t)pair->phase_bytes;
    origin_carry_lock(pair, hdr);
    count_early(pair, hdr, more);
    pair->packets++;
    if (flags & PKT_F_COMPLETE)
        ask_next_post(pair, hdr);
    if (flags & (PKT_F_FLUSH | PKT_F_UNLOCK)) {
        hdr->offset = ++pair->acks_due;
        pair->last_op = win_last_op(pair->win);
        /* set only when it leaves: otherwise other threads would not wait for it */
        pair->flushed = pair->written;
    }
    pair->unconfirmed |= hdr->count != 0;
    pair->used = sizeof *hdr;
    pair->count = 0;
    pair->asks = 0;
    unsent_gone(pair->win->rma, &pair->unsent);
    return origin_send(pair, hdr);
}

/* epoch_goes_on returns whether the open packet belongs to an epoch that goes on. A call that ends
 * an epoch sends the packet itself; the packet is left over if that has failed. */
static bool epoch_goes_on(const struct origin_pair *pair)
{
    const struct win *w = pair->win;
    return list_node_queued(&pair->touched) && epoch_now(&w->epoch) != EPOCH_NONE &&
           pair->epoch_seen == atomic_load_explicit(&w->gen, memory_order_relaxed);
}

int origin_send_or_ask(struct origin_pair *pair)
{
    /* The target may rely on a call of its host that polled and has ended: then it finds the packet
     * only at the end of its agent's short sleep. The waits of progress/wait.c wake that agent
     * earlier; a wait for a request (MPI_Wait and its like) is none of these. */
    struct polling *peer = pair->unsent.awaited ? pair->target->peer->polling : NULL;
    origin_early_note(pair);
    if (!may_send(pair)) {
        unsent_gone(pair->win->rma, &pair->unsent);
        return origin_ask_open(pair);
    }
    const int err = origin_send_open(pair, 0, true);
    if (peer)
        polling_call_agent(peer, pair->target->peer->doorbell_fd);
    return err;
}

/* leave sends the open packet on behalf of somebody else than the operation's call. So an error is
 * returned by the window's next synchronization, and ends the requests of the pair. False: too much
 * is queued to the target already, and the caller has to try again. */
static bool leave(struct origin_pair *pair)
{
    if (!pair->count || pair->senders || !epoch_goes_on(pair)) {
        unsent_gone(pair->win->rma, &pair->unsent);
        return true;
    }
    if (!queue_short(pair))
        return false;
    const int err = origin_send_or_ask(pair);
    if (unlikely(err)) {
        origin_keep_error(pair->win, err);
        origin_fail_requests(pair, err);
    }
    return true;
}

bool origin_leave_unsent(struct unsent *u)
{
    return leave(LIST_ENTRY(u, struct origin_pair, unsent));
}

void origin_answer_came(struct origin_pair *pair)
{
    unsent_retry(pair->win->rma);
    const bool waits = !list_node_queued(&pair->unsent.link);
    const bool answered = pair->unsent.awaited && pair->replies == pair->asks;
    if (!pair->count || (!waits && !answered))
        return;
    const bool left = leave(pair);
    if (!left && waits) /* a packet that does not wait any more is unsent again */
        unsent_add(pair->win->rma, &pair->unsent);
}

/* grow doubles the packet's memory, so that a packet of many small operations is copied few times.
 * The memory is kept from then on. */
static bool grow(struct origin_pair *pair, size_t need, size_t wish)
{
    size_t room = pair->room;
    const size_t least = pair->used + need;
    if (wish > PKT_MAX - pair->used)
        wish = PKT_MAX - pair->used;
    while (room < PKT_MAX && room < pair->used + wish)
        room = room < PKT_MAX / 2 ? room * 2 : PKT_MAX;
    unsigned char *buf = room > pair->room ? realloc(pair->buf, room) : NULL;
    if (buf) {
        pair->buf = buf;
        pair->room = (uint32_t)room;
    }
    return pair->room >= least;
}

int origin_make_room(struct origin_pair *pair, size_t need, size_t wish)
{
    int err = MRMA_SUCCESS;
    /* again, since another thread may fill the packet while this one waits */
    while (!err && PKT_MAX - pair->used < need) {
        err = origin_send_open(pair, 0, true);
        if (!err && !pair->hurries)
            err = origin_pair_wait(pair, queue_short, "room in the send queue");
    }
    if (!err && !grow(pair, need, wish))
        err = log_fail(pair->win->rma->log, MRMA_ERR_NO_MEM, "no memory for a packet to rank %d",
                       pair->target->rank);
    return err;
}
