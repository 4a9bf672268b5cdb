/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair_epoch.c - the present epoch of a pair of window and target: of what kind its packets are,
 * whether it is open at the target, and which packets may wait there until it is; and the lock for
 * which its first packet asks. Locks: the engine's, held by the caller. Nothing here waits or
 * sends.
 *
 * The states of a packet lock (origin_pair.lock); doc/protocol.md says more of them:
 *   NONE -begin-> DUE -first packet-> SENT -PKT_OPEN, ack or reply-> HELD -ack of unlock-> NONE
 *   DUE -unlock without operations-> NONE (nothing was sent)
 */
#include "rma/origin/origin_impl.h"
#include "rma/traced/traced_path.h"
#include "rma/win/send_header.h"
#include "rma/win/win.h"

/* ---- packets that may wait at the target: see origin_impl.h ---- */

static bool has_posted(const struct rma_target *t, uint32_t posts)
{
    return seq_reached(atomic_load_explicit(&t->in->posts, memory_order_acquire), posts);
}

/* phase_began returns whether the target has begun that fence phase. It has begun the phase if it
 * is as far as this process is now, or has come to the end of that phase; and also if it has posted
 * for this process's last MPI_Win_start: all processes call fences, so the fences in front of that
 * call are in front of the post, too. */
static bool phase_began(const struct origin_pair *pair, uint32_t phase)
{
    const struct win *w = pair->win;
    return pair->open_seq == phase + 1 || pair->open_seq == w->phase + 1 ||
           (phase != w->phase && seq_reached(w->phase_ended, phase)) ||
           (epoch_now(&w->epoch) == EPOCH_PSCW &&
            has_posted(pair->target, pair->target->posts_due));
}

static bool began(const struct origin_pair *pair, uint8_t kind, uint32_t seq)
{
    switch (kind) {
    case PKT_EPOCH_NOCHECK:
        if (!pair->win->fenced) /* there is no fence in which the target could still be */
            return true;
        return phase_began(pair, seq);
    case PKT_EPOCH_FENCE:
        return phase_began(pair, seq);
    case PKT_EPOCH_PSCW:
        return has_posted(pair->target, seq);
    default: /* the next lock is asked for only when the end of the last one is acknowledged */
        return seq != pair->lock_seq || pair->lock == ORIGIN_LOCK_HELD ||
               (pair->lock == ORIGIN_LOCK_NONE && !pair->unlocking);
    }
}

/* awaited returns what packets of the present epoch, which is of that kind, wait for: seq in struct
 * early. */
static uint32_t awaited(const struct origin_pair *pair, uint8_t kind)
{
    return kind == PKT_EPOCH_PSCW   ? pair->target->posts_due
           : kind == PKT_EPOCH_LOCK ? pair->lock_seq
                                    : pair->win->phase;
}

bool origin_early_began(const struct origin_pair *pair, uint8_t kind)
{
    return began(pair, kind, awaited(pair, kind));
}

unsigned origin_early_left(const struct origin_pair *pair)
{
    const struct origin_early *e = &pair->early;
    uint32_t first = e->applied;
    while (first != e->sent && began(pair, e->packets[first % PKT_PARKED_MAX].kind,
                                     e->packets[first % PKT_PARKED_MAX].seq))
        first++;
    return e->sent - first;
}

void origin_early_note(struct origin_pair *pair)
{
    pair->early.applied = pair->early.sent - origin_early_left(pair);
}

void origin_early_leave(struct origin_pair *pair, uint8_t kind, unsigned packets)
{
    struct origin_early *e = &pair->early;
    origin_early_note(pair);
    for (; packets; packets--) {
        /* More packets than this leave only in an epoch of which the target refuses every packet,
         * without delay. */
        if (e->sent - e->applied == PKT_PARKED_MAX)
            e->applied++;
        e->packets[e->sent % PKT_PARKED_MAX].kind = kind;
        e->packets[e->sent % PKT_PARKED_MAX].seq = awaited(pair, kind);
        e->sent++;
    }
}

/* ---- the epoch ---- */

uint8_t origin_epoch_kind(const struct origin_pair *pair)
{
    const struct win *w = pair->win;
    if (w->origin_side.fence_closing)
        return PKT_EPOCH_FENCE;
    switch (epoch_now(&w->epoch)) {
    case EPOCH_FENCE:
    case EPOCH_FENCE_USED:
        return PKT_EPOCH_FENCE;
    case EPOCH_PSCW:
        return PKT_EPOCH_PSCW;
    default:
        break;
    }
    const bool nocheck = epoch_now(&w->epoch) == EPOCH_LOCK_ALL
                             ? w->all_nocheck
                             : pair->target->lock == WIN_LOCK_NOCHECK;
    /* If the lock is in a control block it is held already. */
    return nocheck || pair->target->ctl ? PKT_EPOCH_NOCHECK : PKT_EPOCH_LOCK;
}

struct pkt_hdr origin_ops_header(const struct origin_pair *pair)
{
    struct pkt_hdr hdr = win_header(pair->win, pair->target, PKT_OPS);
    hdr.epoch = origin_epoch_kind(pair);
    hdr.seq = hdr.epoch == PKT_EPOCH_LOCK   ? pair->lock_seq
              : hdr.epoch == PKT_EPOCH_PSCW ? pair->target->starts
                                            : pair->win->phase;
    hdr.total = hdr.epoch == PKT_EPOCH_PSCW ? pair->target->posted : 0;
    return hdr;
}

bool origin_epoch_is_open(const struct origin_pair *pair)
{
    if (pair->target->ctl)
        return true; /* epoch_access has made sure */
    return origin_early_began(pair, origin_epoch_kind(pair)) && !origin_early_left(pair);
}

void origin_lock_granted(struct origin_pair *pair, uint32_t seq)
{
    if (pair->lock != ORIGIN_LOCK_SENT || pair->lock_seq != seq)
        return;
    pair->lock = ORIGIN_LOCK_HELD;
    pair->open_seq = pair->win->phase + 1; /* the request names the fences passed here */
    win_event(pair->win, pair->target->rank, TRACE_LOCKED, 0);
}

void origin_epoch_answered(struct origin_pair *pair, uint32_t lock_seq)
{
    origin_lock_granted(pair, lock_seq);
    /* The target has passed this epoch's fences; any other answer is of an epoch that has ended. */
    if (origin_epoch_kind(pair) == PKT_EPOCH_NOCHECK && !pair->unlocking)

        pair->open_seq = pair->win->phase + 1;
}

static uint8_t lock_flag(const struct origin_pair *pair)
{
    if (epoch_now(&pair->win->epoch) == EPOCH_LOCK_ALL || pair->target->lock == WIN_LOCK_TICKETLESS)
        return PKT_F_LOCK_ALL;
    return pair->target->lock == WIN_LOCK_EXCLUSIVE ? PKT_F_LOCK_EXCLUSIVE : PKT_F_LOCK_SHARED;
}

void origin_carry_lock(struct origin_pair *pair, struct pkt_hdr *hdr)
{
    if (pair->lock != ORIGIN_LOCK_DUE || hdr->epoch != PKT_EPOCH_LOCK)
        return;
    hdr->flags |= lock_flag(pair);
    hdr->total = pair->win->phase;
    pair->lock = ORIGIN_LOCK_SENT;
}
