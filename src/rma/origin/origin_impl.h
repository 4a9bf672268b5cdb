/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * origin_impl.h - what the files of src/rma/origin share, and nobody else sees: the state of a pair
 * of window and target; the account of early packets; the pair's epoch and the packet that is open
 * for it; waits.
 *
 * A pair is made when the first packet is due (origin_pair_get) and goes with the window
 * (origin_pair_free, pair.h). Its epoch is open at the target when the target has begun its part of
 * it (its post or its fence), or has granted the lock; for MPI_MODE_NOCHECK, when it has passed the
 * fences that this process has passed.
 *
 * Locks: the engine's is held by the caller of each function but origin_wait and
 * origin_await_flushed. Functions that may wait say so and give up the lock meanwhile, so other
 * threads may have changed the pair when they return. Errors are enum mrma_err; functions that wait
 * may return the errors of rma_wait_until, too.
 */
#ifndef MRMA_RMA_ORIGIN_ORIGIN_IMPL_H
#define MRMA_RMA_ORIGIN_ORIGIN_IMPL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "ch3/pkt.h"
#include "rma/progress/unsent.h"
#include "rma/win/span_list.h"
#include "rma/win/win.h"

/* ---- early packets: pair_epoch.c ---- */

/* Packets of the pair that may wait at the target for their epoch, over all epochs of the pair:
 * there are never more of them than the target keeps.
 *
 * A packet is early if, when it leaves, this process does not know that the target will apply it
 * when it comes. That is so if its epoch is not known to have begun at the target, or if it would
 * wait there behind an early packet that is not known to be applied. The target treats the packets
 * of a pair in the order in which they were sent. So every packet that waits at the target is early
 * and not known to be applied. The first of these is known to be applied as soon as its epoch is
 * known to have begun, since it waits for nothing else.
 *
 * The answer to a later packet tells nothing more about earlier ones. Either it was known before,
 * since the acknowledgement of the earlier epoch took the same way back in front of the answer; or
 * the answer itself tells that the epoch has begun: it has the number of posts, and a target grants
 * a lock, and does an operation of an epoch without a lock, only when it has passed the fences that
 * this process has passed.
 *
 * Early packets are numbered from 0 on, modulo 2^32. */
struct origin_early {
    /* What packet number n waits for stands in packets[n % PKT_PARKED_MAX]. */
    struct {
        uint32_t seq; /* by kind: a fence phase, how many posts must have come, or a lock number */
        uint8_t kind; /* enum pkt_epoch */
    } packets[PKT_PARKED_MAX];
    uint32_t sent;    /* so many have left */
    uint32_t applied; /* how many are known to be applied; sent - applied are left */
};
static_assert((PKT_PARKED_MAX & (PKT_PARKED_MAX - 1)) == 0, "numbers wrap");

struct origin_pair;

/* origin_early_began returns whether the pair's present epoch, of that kind (enum pkt_epoch), is
 * known to have begun at the target. */
bool origin_early_began(const struct origin_pair *pair, uint8_t kind);

/* origin_early_left returns how many early packets are not known to be applied: at most as many
 * wait at the target. */
unsigned origin_early_left(const struct origin_pair *pair);

/* origin_early_note notes which early packets are known to be applied by now. The state that tells
 * this may belong to the present epoch, so the function is called whenever the pair sends in an
 * epoch, or has waited. */
void origin_early_note(struct origin_pair *pair);

/* origin_early_leave counts so many packets of the present epoch, of that kind, that leave early.
 */
void origin_early_leave(struct origin_pair *pair, uint8_t kind, unsigned packets);

/* ---- the pair: pair.c ---- */

/* Origin's state of packets to one target. Guarded by the engine's lock. */
struct origin_pair {
    struct win *win;
    struct rma_target *target;
    unsigned char *buf; /* the open packet; header first */
    uint32_t room;      /* bytes of buf; it grows with what is put in, up to PKT_MAX */
    uint32_t used;      /* bytes in it; sizeof(struct pkt_hdr) when empty */
    uint32_t count;     /* records in it */
    uint32_t asks;      /* operations in it that have replies */
    uint32_t senders;   /* threads that wait to send it */
    struct unsent
        unsent; /* entered while the open packet has records, unless it waits for the target */
    uint64_t phase_bytes; /* bytes named by the records of the present fence phase */
    enum { ORIGIN_LOCK_NONE, ORIGIN_LOCK_DUE, ORIGIN_LOCK_SENT, ORIGIN_LOCK_HELD } lock;
    bool asked;          /* PKT_F_WANT_OPEN was sent in this epoch */
    bool needs_open;     /* an operation of this epoch must wait until it is open there */
    bool awaited;        /* an operation of this epoch has waited for the target */
    bool hurries;        /* an operation is being issued that must not wait: its packets go into the
                            send queue however long that is */
    bool refused;        /* the target has refused a whole packet of this epoch, and may never open
                            it */
    uint32_t lock_seq;   /* number of the lock epoch */
    uint32_t open_seq;   /* 1 + the last fence phase known to have begun there */
    uint32_t packets;    /* packets of this epoch that have left */
    uint32_t post_asked; /* the epoch, as rma_target.posts_due, whose post comes unasked */
    struct origin_early early;    /* packets that may wait at the target, of all epochs */
    uint64_t epoch_seen;          /* window generation of "this epoch" */
    uint32_t acks_due, acks_seen; /* numbers of flush and unlock requests */
    uint64_t last_op;             /* last operation issued before the last such request, for traces
                                     (traced.h) */
    /* Operations without a reply are numbered in the order in which they are issued. written counts
     * those that were issued; flushed counts those that are known to be done at the target, or
     * behind which a flush is under way. */
    uint32_t written, flushed;
    bool unlocking;   /* the pair was unlocked without waiting (mpirma_weak_unlock), and the
                         acknowledgement has not come yet */
    bool unconfirmed; /* operations were sent after the last acknowledgement for which this process
                         has waited */
    uint32_t replies, streams;  /* outstanding at this pair; the window has the sums */
    uint32_t rdma_ops, holding; /* operations that the channel does by itself: rdma.c */
    uint32_t atomics;           /* of these, atomic operations */
    bool unread;                /* a get must follow the puts among these before they are known to
                                   be in place */
    uint64_t packed;            /* bytes of puts and gets by packet in this epoch: rdma.c */
    struct list requests;       /* struct origin_request: requests that await replies */
    struct list under_way;      /* struct origin_rdma_op */
    uint64_t fetching;          /* bytes that the target must keep for replies under way */
    struct type_table *types;   /* datatypes that the target has; NULL until used */
    struct span_list regions;   /* dynamic windows: struct origin_key, see region_keys.h */
    bool asking;                /* the target was asked for a region, and has not answered */
    struct list_node touched;   /* in win->origin_side.touched while used in this epoch */
};

/* origin_pair_get returns the state of the pair of w and t, which it makes on first use, and brings
 * it up to date for the present epoch: in an epoch of MPI_Win_lock_all a lock on t becomes due. It
 * belongs to the pair until origin_pair_free. NULL: no memory. */
struct origin_pair *origin_pair_get(struct win *w, struct rma_target *t);

/* origin_pair_touch notes that the present epoch has used pair, so that calls that complete all
 * targets find it. */
void origin_pair_touch(struct origin_pair *pair);

/* origin_forget_touched forgets which targets the ending epoch has used, except those whose last
 * unlock is not acknowledged (mpirma_weak_unlock): the next flush of all targets, and
 * MPI_Win_lock_all, wait for that acknowledgement, whatever epochs come before. */
void origin_forget_touched(struct win *w);

/* origin_lock_ended notes that the lock epoch of pair is over, with an error or without. */
void origin_lock_ended(struct origin_pair *pair);

/* origin_is_unflushed returns whether some operations to pair are not known to be done and no flush
 * has been sent behind them. Operations that fetch do not count, since their replies tell that they
 * are done. Under the engine's lock. */
static inline bool origin_is_unflushed(const struct origin_pair *pair)
{
    return pair->written != pair->flushed;
}

/* ---- its present epoch: pair_epoch.c ---- */

/* origin_epoch_kind returns which kind of epoch packets that are sent now belong to, enum
 * pkt_epoch.
 */
uint8_t origin_epoch_kind(const struct origin_pair *pair);

/* origin_ops_header returns the header of a PKT_OPS of the present epoch, without records and
 * flags.
 */
struct pkt_hdr origin_ops_header(const struct origin_pair *pair);

/* origin_epoch_is_open returns whether the epoch is known to be open at the target, and everything
 * sent before is known to be applied there, so that any number of packets may be sent. */
bool origin_epoch_is_open(const struct origin_pair *pair);

/* origin_lock_granted notes that the target has granted the lock that was asked for as number seq.
 * Nothing happens if that is not the lock that is being waited for. */
void origin_lock_granted(struct origin_pair *pair, uint32_t seq);

/* origin_epoch_answered notes that a reply or an acknowledgement has come for what was sent in the
 * lock epoch number lock_seq, or in one without a lock: the target has applied it, so the epoch is
 * open there. */
void origin_epoch_answered(struct origin_pair *pair, uint32_t lock_seq);

/* origin_carry_lock makes hdr, the header of a packet that is about to leave, carry the request for
 * the pair's lock, if one is due; it is not due any more then. It is for packets of streams;
 * origin_send_open does this by itself. */
void origin_carry_lock(struct origin_pair *pair, struct pkt_hdr *hdr);

/* ---- waits: open_packet.c ---- */

/* origin_wait waits until done(arg), which is evaluated under the engine's lock. It is called
 * without the lock, and returns without it. what names the condition in reports; rank is the
 * process that it is about (-1: several). */
int origin_wait(struct win *w, bool (*done)(void *), void *arg, const char *what, int rank);

/* origin_pair_wait waits until done(pair), as origin_wait does; if that is true already it returns
 * MRMA_SUCCESS at once. Unlike origin_wait it is called with the lock, and returns with it. */
int origin_pair_wait(struct origin_pair *pair, bool (*done)(void *), const char *what);

/* origin_pair_await_unlocked waits until the end of the pair's last lock epoch is acknowledged, if
 * nobody has waited for that (mpirma_weak_unlock): that acknowledgement must not be taken for one
 * of the next epoch, and only so much may wait at a target. Called before the first operation, and
 * in MPI_Win_lock. May wait. */
int origin_pair_await_unlocked(struct origin_pair *pair);

/* origin_make_stream_room waits until pair has fewer large operations under way than it may have
 * (ORIGIN_PAIR_STREAMS). May wait. */
int origin_make_stream_room(struct origin_pair *pair);

/* origin_make_ready_now sends the open packet if that has no room for an operation. It returns
 * whether an operation on pair can now be issued, with pair->hurries, without waiting for anything
 * except room for its request: the target has begun its part of the epoch, and there is room in the
 * send queue and for a large operation. Under the engine's lock. */
bool origin_make_ready_now(struct origin_pair *pair);

/* origin_make_room makes sure that the open packet has at least need bytes of room behind used, and
 * wish bytes if a packet may be so long: the packet's memory grows, or the packet is sent. need
 * fits into an empty packet. May wait, unless
 * pair->hurries. */
int origin_make_room(struct origin_pair *pair, size_t need, size_t wish);

/* ---- sending: open_packet.c ---- */

/* origin_add_records notes that so many records, more than 0, were put into the open packet. Under
 * the engine's lock. */
static inline void origin_add_records(struct origin_pair *pair, uint32_t records)
{
    if (pair->count == 0)
        unsent_add(pair->win->rma, &pair->unsent);
    pair->count += records;
}

/* origin_send sends the packet of hdr->len bytes that begins with hdr, behind all that the pair has
 * sent; it is copied. It does not ask whether the packet may leave yet. Returns
 * MRMA_ERR_PROC_FAILED or MRMA_ERR_NO_MEM; then the datatypes that the target was sent count as
 * unknown there. */
int origin_send(struct origin_pair *pair, const struct pkt_hdr *hdr);

/* origin_send_open sends the open packet, even if it is empty, with flags (enum pkt_flag)
 * piggybacked; it waits until a packet may leave (origin_may_send_early). If another thread has
 * meanwhile sent what this call was for, nothing is sent. more says that operations of this epoch
 * will follow. May wait. */
int origin_send_open(struct origin_pair *pair, uint8_t flags, bool more);

/* origin_send_or_ask sends the open packet, for callers that do not wait. If the packet may not
 * leave before the target has begun its part of the epoch, it is taken out of the list of what is
 * unsent (unsent.h), the target is asked, and the packet leaves when the answer comes
 * (origin_answer_came). Returns the errors of origin_send. */
int origin_send_or_ask(struct origin_pair *pair);

/* origin_answer_came is called when any answer of the target has come and was noted. An open packet
 * that had to wait for it leaves; so does one that has an operation with a request, if no other
 * operation awaits an answer. */
void origin_answer_came(struct origin_pair *pair);

/* origin_leave_unsent is the function leave of the list of what is unsent (struct unsent): it sends
 * the open packet of the pair, or asks the target. */
bool origin_leave_unsent(struct unsent *u);

/* ---- before the epoch is open: open_packet.c, await_open.c ---- */

/* origin_most_early returns how many packets of the pair may be early at the same time. */
unsigned origin_most_early(const struct origin_pair *pair);

/* origin_may_send_early returns whether so many packets may leave now though the epoch is not known
 * to be open: only a few may wait at a target (pair_epoch.c). */
bool origin_may_send_early(const struct origin_pair *pair, size_t packets);

/* origin_wait_opened waits until done(pair), which is true at the latest when the target has begun
 * its part of the epoch; a trace shows the wait as one for that. May wait. */
int origin_wait_opened(struct origin_pair *pair, bool (*done)(void *));

/* origin_ask_open asks the target to say when the epoch is open, unless it is known to be open, the
 * target was asked already, or the end of the last access epoch has asked for the post. Returns the
 * errors of origin_send. Does not wait. */
int origin_ask_open(struct origin_pair *pair);

/* origin_may_defer returns whether an operation with this request (NULL: without one) may wait
 * outside of packets until the target opens the epoch (path/deferred.h). It may in windows that
 * strict mode does not watch, unless it has a request: a request must complete even if this process
 * synchronizes with nobody. */
bool origin_may_defer(const struct origin_pair *pair, const struct rma_req *req);

/* origin_await_open_briefly is called for an operation that must not be sent before the epoch is
 * open and that may be deferred: it asks the target, and waits for the answer, but only once in an
 * epoch and for conf.tune.defer_wait at most. Returns MRMA_SUCCESS if the epoch is open, MRMA_AGAIN
 * if it is not open yet. May wait. */
int origin_await_open_briefly(struct origin_pair *pair);

/* origin_await_open is called before a large operation: it sends the open packet, asks the target,
 * and waits until the epoch is open. Returns MRMA_ERR_RMA_SYNC if the target has refused a packet
 * of the epoch. May wait. */
int origin_await_open(struct origin_pair *pair);

/* origin_await_stream is called before a large operation that leaves in so many packets (SIZE_MAX:
 * unknown) and that is not put into the open packet: it waits as origin_await_open does, unless the
 * packets are so few that they may leave early. The open packet leaves first, unless the operation
 * may be applied before what is in it (overtakes). May wait. */
int origin_await_stream(struct origin_pair *pair, size_t packets, bool overtakes);

/* origin_rdma_open makes sure that the present epoch has begun at the target of pair, since
 * operations of the channel do not ask for that. MRMA_AGAIN: it has not begun, and the operation,
 * whose request is req, is to be deferred (path/deferred.h). Under the engine's lock, which it
 * gives up while it waits; errors are those of origin_rdma_operate. */
int origin_rdma_open(struct origin_pair *pair, const struct rma_req *req);

/* origin_issue_or_defer calls issue until it does not say MRMA_AGAIN, by which it says that the
 * operation would wait for its target; or the operation is deferred. Returns what issue returns, or
 * what deferring returns. */
static inline int origin_issue_or_defer(int (*issue)(struct win *w, struct rma_target *t,
                                                     enum pkt_op_kind kind, const struct rma_op *op,
                                                     int64_t offset, size_t len),
                                        struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                                        const struct rma_op *op, int64_t offset, size_t len)
{
    int err;
    do
        err = issue(w, t, kind, op, offset, len);
    while (unlikely(err == MRMA_AGAIN) && !w->rma->defer(w, t, kind, op, offset, len, &err) &&
           !err);
    return err;
}

/* ---- answers to flushes: outstanding.c ---- */

/* What a flush waits for: until buffers may be used again, until the target has answered, or until
 * the lock epoch may end, which with mpirma_weak_unlock is the first, else the second. */
enum origin_until { ORIGIN_LOCALLY, ORIGIN_REMOTELY, ORIGIN_EPOCH_END };

/* origin_unlocks_weakly returns whether local completion is enough at the end of a lock epoch of
 * pair (mpirma_weak_unlock). It is not where this process gives back the lock by itself, in a
 * control block. */
bool origin_unlocks_weakly(const struct origin_pair *pair);

/* origin_request_flush sends what is needed to flush (flag is PKT_F_FLUSH), to unlock
 * (PKT_F_UNLOCK), or only the open packet (0). The last has two reasons: the replies to its
 * operations prove that these, and all before them, are done at the target; and a local flush
 * enables operations, which must then complete whatever this process does next (MPI 4.1, 12.7.3).
 * May wait until it can send. */
int origin_request_flush(struct origin_pair *pair, uint8_t flag);

/* origin_confirm_puts starts gets behind the channel's puts (origin_rdma_confirm) to all targets
 * that the epoch has used. May wait. */
int origin_confirm_puts(struct win *w);

/* origin_await_flushed waits until the target of pair, or, if pair is NULL, all targets that the
 * epoch has used, have answered as far as until says. It takes the engine's lock. It also returns
 * the errors of operations that targets have refused. */
int origin_await_flushed(struct win *w, struct origin_pair *pair, enum origin_until until);

/* ---- the requests of R-operations: op_request.c ---- */

/* origin_charge notes that one more part of the R-operation of req is under way, so that req is not
 * complete before that part's origin_discharge. NULL: nothing happens. Any thread, with or without
 * the lock. */
void origin_charge(struct rma_req *req);

/* origin_discharge notes that a part of the R-operation of req has ended with err; the first error
 * of all parts is kept. When it was the last part, the request is complete, and the program may
 * free what it refers to. NULL: nothing happens. Any thread, with or without the lock. */
void origin_discharge(struct rma_req *req, int err);

#endif
