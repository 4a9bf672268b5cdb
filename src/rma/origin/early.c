/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early.c - the origin's account of the packets of a pair that may wait at the target for their
 * epoch: see origin_impl.h.
 */

#include "rma/origin/origin_impl.h"
#include "rma/win/win.h"

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
