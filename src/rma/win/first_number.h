/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * first_number.h - where the numbers of a window's epochs, fences, barriers, acknowledgements, lock
 * tickets and datatypes begin, and the numbers of a process's requests begin. All begin at
 * env->first_number, which is the same for all processes.
 *
 * All of them are counters that come round (of 32 bits; tickets have 20, see lockword.h) and are
 * compared by their distance or by equality. They begin at 0 in use; tests let them begin just
 * before they come round.
 */
#ifndef MRMA_RMA_WIN_FIRST_NUMBER_H
#define MRMA_RMA_WIN_FIRST_NUMBER_H

#include "rma/win/win.h"

/* first_number_signals sets the counters of signals to first, before anybody else sees them. */
static inline void first_number_signals(struct win_signals *signals, uint32_t first)
{
    atomic_init(&signals->posts, first);
    atomic_init(&signals->completes, first);
    sync_first_signals(&signals->sync, first);
}

/* first_number_target sets the counters of t, a target of w that is being made, to the window's
 * first number. They then say that nothing has been started towards t, neither before nor in the
 * present epoch. */
static inline void first_number_target(const struct win *w, struct rma_target *t)
{
    t->starts = t->posts_due = t->exposures = t->posted = w->first_number;
    t->started_in = w->start_count - 1;
    stage_first_target(&t->stage, w->first_number);
    first_number_signals(&t->signals, w->first_number);
}

#endif
