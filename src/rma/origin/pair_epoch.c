/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair_epoch.c - the present epoch of a pair of window and target: of what kind its packets are,
 * and whether it is open at the target; and the lock for which its first packet asks. Locks: the
 * engine's, held by the caller. Nothing here waits or sends.
 *
 * The states of a packet lock (origin_pair.lock); doc/protocol.md says more of them:
 *   NONE -begin-> DUE -first packet-> SENT -PKT_OPEN, ack or reply-> HELD -ack of unlock-> NONE
 *   DUE -unlock without operations-> NONE (nothing was sent)
 */

#include "rma/origin/origin_impl.h"
#include "rma/traced/traced_path.h"
#include "rma/win/send_header.h"
#include "rma/win/win.h"

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
    if (epoch_now(&pair->win->epoch) == EPOCH_LOCK_ALL || pair->target->lock == WIN_LOCK_COUNTED)
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
