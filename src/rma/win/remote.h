/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.h - targets on other nodes, made when they are first used (win_target_make of win.h) or
 * heard of. See remote.c.
 */
#ifndef MRMA_RMA_WIN_REMOTE_H
#define MRMA_RMA_WIN_REMOTE_H

#include "rma/win/proc_records.h"
#include "rma/win/win.h"

/* target_set_path decides by which functions operations and synchronization reach t from now on:
 * those of that path, which w has for it. A packet target whose memory the channel reaches by
 * itself gets PATH_RDMA. What target_describe sets is known, and t->peer can be sent packets.
 * Before anybody else sees t. */
void target_set_path(const struct win *w, struct rma_target *t, enum rma_path path);

/* target_describe sets in t what the records of w say of its rank: the size of its memory, its
 * displacement unit, and the number of the window there. */
void target_describe(const struct win *w, struct rma_target *t);

/* win_target_from_first is the rest of win_target_from, for a target that is not made yet. */
bool win_target_from_first(struct win *w, int rank, const struct ch3_vc *from,
                           struct rma_target **t);

/* win_target_from sets *t to the target of the rank that has sent a packet over from, and makes it
 * if need be. False: from is not that process's, or the target cannot be made. Under the engine's
 * lock. */
static inline bool win_target_from(struct win *w, int rank, const struct ch3_vc *from,
                                   struct rma_target **t)
{
    *t = win_peek(w, rank);
    return likely((*t)->peer != NULL) ? (*t)->peer == ch3_vc_owner(from)
                                      : win_target_from_first(w, rank, from, t);
}

#endif
