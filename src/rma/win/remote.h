/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.h - targets on other nodes, made when they are first used (win_target_make of win.h) or
 * heard of. See remote.c.
 */
#ifndef MRMA_RMA_WIN_REMOTE_H
#define MRMA_RMA_WIN_REMOTE_H

#include "rma/win/proc_records.h"
#include "rma/win/win.h"

/* target_set_path gives t the functions by which operations and synchronization reach it from now
 * on: those that w has for that path. A packet target whose memory the channel reaches by itself
 * gets PATH_RDMA. It is called after target_describe, when packets can be sent to t->peer, and
 * before anybody else sees t. */
void target_set_path(const struct win *w, struct rma_target *t, enum rma_path path);

/* target_describe sets in t what the records of w say of its rank: the size of its memory, its
 * displacement unit, and the number of the window there. */
void target_describe(const struct win *w, struct rma_target *t);

/* win_target_from_first is the part of win_target_from that makes a target, out of line. */
bool win_target_from_first(struct win *w, int rank, const struct ch3_vc *from,
                           struct rma_target **t);

/* win_target_from sets *t to the target of the rank that has sent a packet over the connection
 * from, and makes the target if need be. False: the connection is not that process's, or the target
 * cannot be made. Under the engine's lock. */
static inline bool win_target_from(struct win *w, int rank, const struct ch3_vc *from,
                                   struct rma_target **t)
{
    *t = win_peek(w, rank);
    return likely((*t)->peer != NULL) ? (*t)->peer == ch3_vc_owner(from)
                                      : win_target_from_first(w, rank, from, t);
}

#endif
