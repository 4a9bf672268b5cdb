/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync.h - the tables of this room for synchronization with one target (win/sync_ops.h), and what
 * reports of long waits ask this room.
 */
#ifndef MRMA_RMA_SYNC_SYNC_H
#define MRMA_RMA_SYNC_SYNC_H

#include "rma/win/sync_ops.h"

struct win_group;

extern const struct sync_ops sync_by_memory, sync_by_packets;
extern const struct sync_ops sync_by_nothing; /* for a memory peer whose process is lost */

/* pscw_access returns the ranks that the last MPI_Win_start has named. They are the window's. */
const struct win_group *pscw_access(const struct win *w);

/* pscw_exposure returns the ranks that the last MPI_Win_post has named. They are the window's. */
const struct win_group *pscw_exposure(const struct win *w);

/* pscw_fini frees the room for both groups, when the window ends. */
void pscw_fini(struct win *w);

/* lock_despite_hint decides about a lock in a window with the info key no_locks (12.2.1). The lock
 * is taken, as on the hosts, with one warning of this process. Where MPIRMA_STRICT is set for all
 * processes of the window, the function returns MRMA_ERR_RMA_SYNC, with a message. */
int lock_despite_hint(struct win *w);

/* What a process of the node does with the lock of one of its targets. */
enum lock_use { LOCK_UNUSED, LOCK_AWAITED, LOCK_HELD };
enum { LOCK_NO_TICKET = (1 << 29) - 1 };

struct lock_note {
    enum lock_use use;
    bool exclusive;
    uint32_t ticket;
};

/* lock_noted returns what the process of that slot has noted, in t's control block, about t's lock.
 * Processes note this only where MPIRMA_HANG_REPORT is set for them; the others appear as
 * LOCK_UNUSED. */
struct lock_note lock_noted(const struct rma_target *t, int slot);

#endif
