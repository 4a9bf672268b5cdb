/*
 * lock.h - what each process of the node does with a direct target's lock, for reports (lock.c).
 */
#ifndef MRMA_RMA_SYNC_LOCK_H
#define MRMA_RMA_SYNC_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct rma_target;

enum lock_use { LOCK_UNUSED, LOCK_AWAITED, LOCK_HELD };

struct lock_note {
    enum lock_use use;
    bool exclusive;
    uint32_t ticket;
};

/* What the process of that slot has noted about t's lock. Processes note it only where
 * MPIRMA_HANG_REPORT is set for them; those that do not are LOCK_UNUSED. */
struct lock_note lock_noted(const struct rma_target *t, int slot);

#endif
