/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoch.c - the epoch table: which call may follow which, and to what state it leads.
 *
 * Neighbours: fence.c, pscw.c, lock.c and lock_all.c move the state, and so does fast.h, which is
 * used where one thread alone calls; access.c asks for the state before the first access to a
 * target. Locks: whoever moves the state holds the engine's lock, except in fast.h.
 */
#include "rma/win/epoch.h"

#include "base/err.h"

#define NO EPOCH_STATES /* refused */

/* Another kind of access epoch may follow a fence if no operation was issued since the fence, for
 * then the fence began no epoch (12.5.1). Behind that other epoch the fence's epoch does not go
 * on. */
/* clang-format off */
static const unsigned char table[EPOCH_STATES][EPOCH_EVENTS] = {
    /*                    FENCE        FENCE_LAST  OP                START       COMPLETE */
    /*                    LOCK         UNLOCK_LAST LOCK_ALL          UNLOCK_ALL  FREE */
    [EPOCH_NONE] =       {EPOCH_FENCE, EPOCH_NONE, NO,               EPOCH_PSCW, NO,
                          EPOCH_LOCK,  NO,         EPOCH_LOCK_ALL,   NO,         EPOCH_NONE},
    [EPOCH_FENCE] =      {EPOCH_FENCE, EPOCH_NONE, EPOCH_FENCE_USED, EPOCH_PSCW, NO,
                          EPOCH_LOCK,  NO,         EPOCH_LOCK_ALL,   NO,         EPOCH_NONE},
    [EPOCH_FENCE_USED] = {EPOCH_FENCE, EPOCH_NONE, EPOCH_FENCE_USED, NO,         NO,
                          NO,          NO,         NO,               NO,         NO},
    [EPOCH_PSCW] =       {NO,          NO,         EPOCH_PSCW,       NO,         EPOCH_NONE,
                          NO,          NO,         NO,               NO,         NO},
    [EPOCH_LOCK] =       {NO,          NO,         EPOCH_LOCK,       NO,         NO,
                          EPOCH_LOCK,  EPOCH_NONE, NO,               NO,         NO},
    [EPOCH_LOCK_ALL] =   {NO,          NO,         EPOCH_LOCK_ALL,   NO,         NO,
                          NO,          NO,         NO,               EPOCH_NONE, NO},
};
/* clang-format on */

bool epoch_allows(const struct epoch *ep, enum epoch_event ev)
{
    if (ep->exposed && (ev == EPOCH_EV_FENCE || ev == EPOCH_EV_FENCE_LAST || ev == EPOCH_EV_FREE))
        return false;
    return table[epoch_now(ep)][ev] != NO;
}

int epoch_event(struct epoch *ep, enum epoch_event ev)
{
    if (!epoch_allows(ep, ev))
        return MRMA_ERR_RMA_SYNC;
    atomic_store_explicit(&ep->state, (enum epoch_state)table[epoch_now(ep)][ev],
                          memory_order_relaxed);
    return MRMA_SUCCESS;
}
