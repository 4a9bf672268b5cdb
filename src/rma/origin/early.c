/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early.c - see early.h.
 */
#include "rma/origin/early.h"

#include "rma/origin/pair.h"
#include "rma/win/win.h"

static bool has_posted(const struct rma_target *t, uint32_t posts)
{
    return seq_reached(atomic_load_explicit(&t->in->posts, memory_order_acquire), posts);
}

/* phase_began returns whether the target has begun that fence phase. It has begun the phase if it
 * is as far as this process is now, or has come to the end of that phase; and also if it has posted
 * for this process's last MPI_Win_start: all processes call fences, so the fences in front of that
 * call are in front of the post, too. */
static bool phase_began(const struct pkt_target *pt, uint32_t phase)
{
    const struct win *w = pt->win;
    return pt->open_seq == phase + 1 || pt->open_seq == w->phase + 1 ||
           (phase != w->phase && seq_reached(w->phase_ended, phase)) ||
           (epoch_now(&w->epoch) == EPOCH_PSCW && has_posted(pt->target, pt->target->posts_due));
}

static bool began(const struct pkt_target *pt, uint8_t kind, uint32_t seq)
{
    switch (kind) {
    case PKT_EPOCH_NOCHECK:
        if (!pt->win->fenced) /* there is no fence in which the target could still be */
            return true;
        return phase_began(pt, seq);
    case PKT_EPOCH_FENCE:
        return phase_began(pt, seq);
    case PKT_EPOCH_PSCW:
        return has_posted(pt->target, seq);
    default: /* the next lock is asked for only when the end of the last one is acknowledged */
        return seq != pt->lock_seq || pt->lock == PKT_LOCK_HELD ||
               (pt->lock == PKT_LOCK_NONE && !pt->unlocking);
    }
}

/* awaited returns what packets of the present epoch, which is of that kind, wait for: seq in struct
 * early. */
static uint32_t awaited(const struct pkt_target *pt, uint8_t kind)
{
    return kind == PKT_EPOCH_PSCW   ? pt->target->posts_due
           : kind == PKT_EPOCH_LOCK ? pt->lock_seq
                                    : pt->win->phase;
}

bool early_began(const struct pkt_target *pt, uint8_t kind)
{
    return began(pt, kind, awaited(pt, kind));
}

unsigned early_left(const struct pkt_target *pt)
{
    const struct early *e = &pt->early;
    uint32_t first = e->applied;
    while (first != e->sent && began(pt, e->packets[first % PKT_PARKED_MAX].kind,
                                     e->packets[first % PKT_PARKED_MAX].seq))
        first++;
    return e->sent - first;
}

void early_note(struct pkt_target *pt)
{
    pt->early.applied = pt->early.sent - early_left(pt);
}

void early_leave(struct pkt_target *pt, uint8_t kind, unsigned packets)
{
    struct early *e = &pt->early;
    early_note(pt);
    for (; packets; packets--) {
        /* More packets than this leave only in an epoch of which the target refuses every packet,
         * without delay. */
        if (e->sent - e->applied == PKT_PARKED_MAX)
            e->applied++;
        e->packets[e->sent % PKT_PARKED_MAX].kind = kind;
        e->packets[e->sent % PKT_PARKED_MAX].seq = awaited(pt, kind);
        e->sent++;
    }
}
