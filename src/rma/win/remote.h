/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.h - targets on other nodes, made when they are first used (win_target_make of win.h) or
 * heard of. See remote.c.
 */
#ifndef MRMA_RMA_WIN_REMOTE_H
#define MRMA_RMA_WIN_REMOTE_H

#include "rma/win/proc_records.h"
#include "rma/win/win.h"

/* Operations and synchronization reach t, whose record is known and whose peer is connected, this
 * way from now on, by its window's tables for it; a packet target whose memory the channel reaches
 * by itself has a path of its own. */
void target_set_path(const struct win *w, struct rma_target *t, enum rma_path path);
/* Fill in what a record says of its target. */
void target_describe(struct rma_target *t, const struct win_record *rec);
/* The target of the rank that has sent a packet, made if need be; under the engine's lock. False:
 * from is not that process, or no memory. */
bool win_target_from_first(struct win *w, int rank, const struct ch3_vc *from,
                           struct rma_target **t); /* the other half: not made yet */
static inline bool win_target_from(struct win *w, int rank, const struct ch3_vc *from,
                                   struct rma_target **t)
{
    *t = win_peek(w, rank);
    return likely((*t)->peer != NULL) ? (*t)->peer == ch3_vc_owner(from)
                                      : win_target_from_first(w, rank, from, t);
}

#endif
