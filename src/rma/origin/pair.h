/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair.h - the origin's state of each pair of window and target, as other rooms see it: its
 * beginning, its end, and what is still due. The state itself is struct origin_pair
 * (origin_impl.h). Locks: the engine's, but for origin_window_init.
 */
#ifndef MRMA_RMA_ORIGIN_PAIR_H
#define MRMA_RMA_ORIGIN_PAIR_H

#include <stdbool.h>
#include <stdint.h>

struct rma_target;
struct win;

/* origin_window_init makes the origin's side of the new window w: no pair has been used. Nothing is
 * allocated. Called before anybody else sees w. */
void origin_window_init(struct win *w);

/* origin_pair_lost is called when the connection to t is lost: the requests of the pair, if it has
 * any, end with MRMA_ERR_PROC_FAILED, which the window's next synchronization returns, too. */
void origin_pair_lost(struct rma_target *t);

/* origin_fail_all ends all requests of all pairs of w with err, since nothing will come for the
 * window any more. */
void origin_fail_all(struct win *w, int err);

/* origin_pair_free frees the state of the pair of t, with everything that it still awaits, when the
 * window ends. If there is no pair (t->pair is NULL) it does nothing. */
void origin_pair_free(struct rma_target *t);

/* What is due between this process and a target, for reports of long waits. */
struct origin_debt {
    uint32_t acks;    /* acknowledgements that the target owes */
    uint32_t replies; /* replies that it owes */
    uint32_t large;   /* large operations that are leaving */
    bool lock;        /* the lock was asked for and is not granted */
    bool post;        /* something of the present epoch waits until the target is known to have
                         begun it */
};

/* origin_debt_of returns what is due; all is 0 if nothing was ever sent to t. */
struct origin_debt origin_debt_of(const struct rma_target *t);

#endif
