/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair_epoch.c - see pair_epoch.h.
 *
 * The states of a packet lock (pkt_target.lock); doc/protocol.md says more of them:
 *   NONE -begin-> DUE -first packet-> SENT -PKT_OPEN, ack or reply-> HELD -ack of unlock-> NONE
 *   DUE -unlock without operations-> NONE (nothing was sent)
 */
#include "rma/origin/pair_epoch.h"

#include "rma/traced/traced_path.h"
#include "rma/win/send_header.h"
#include "rma/win/win.h"

uint8_t pkt_epoch_kind(const struct pkt_target *pt)
{
    const struct win *w = pt->win;
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
                             : pt->target->lock == WIN_LOCK_NOCHECK;
    /* If the lock is in a control block it is held already. */
    return nocheck || pt->target->ctl ? PKT_EPOCH_NOCHECK : PKT_EPOCH_LOCK;
}

struct pkt_hdr pkt_ops_header(const struct pkt_target *pt)
{
    struct pkt_hdr hdr = win_header(pt->win, pt->target, PKT_OPS);
    hdr.epoch = pkt_epoch_kind(pt);
    hdr.seq = hdr.epoch == PKT_EPOCH_LOCK   ? pt->lock_seq
              : hdr.epoch == PKT_EPOCH_PSCW ? pt->target->starts
                                            : pt->win->phase;
    hdr.total = hdr.epoch == PKT_EPOCH_PSCW ? pt->target->posted : 0;
    return hdr;
}

bool pkt_epoch_is_open(const struct pkt_target *pt)
{
    if (pt->target->ctl)
        return true; /* epoch_access has made sure */
    return early_began(pt, pkt_epoch_kind(pt)) && !early_left(pt);
}

void pkt_lock_granted(struct pkt_target *pt, uint32_t seq)
{
    if (pt->lock != PKT_LOCK_SENT || pt->lock_seq != seq)
        return;
    pt->lock = PKT_LOCK_HELD;
    pt->open_seq = pt->win->phase + 1; /* the request names the fences passed here */
    win_event(pt->win, pt->target->rank, TRACE_LOCKED, 0);
}

void pkt_epoch_answered(struct pkt_target *pt, uint32_t lock_seq)
{
    pkt_lock_granted(pt, lock_seq);
    /* The target has passed this epoch's fences; any other answer is of an epoch that has ended. */
    if (pkt_epoch_kind(pt) == PKT_EPOCH_NOCHECK && !pt->unlocking)

        pt->open_seq = pt->win->phase + 1;
}

static uint8_t lock_flag(const struct pkt_target *pt)
{
    if (epoch_now(&pt->win->epoch) == EPOCH_LOCK_ALL || pt->target->lock == WIN_LOCK_COUNTED)
        return PKT_F_LOCK_ALL;
    return pt->target->lock == WIN_LOCK_EXCLUSIVE ? PKT_F_LOCK_EXCLUSIVE : PKT_F_LOCK_SHARED;
}

void pkt_take_lock(struct pkt_target *pt, struct pkt_hdr *hdr)
{
    if (pt->lock != PKT_LOCK_DUE || hdr->epoch != PKT_EPOCH_LOCK)
        return;
    hdr->flags |= lock_flag(pt);
    hdr->total = pt->win->phase;
    pt->lock = PKT_LOCK_SENT;
}
