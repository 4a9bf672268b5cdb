/*
 * sync_state.h - what src/rma/sync keeps in a window, and in the words through which its processes
 * signal each other. Nobody else touches it.
 */
#ifndef MRMA_RMA_SYNC_SYNC_STATE_H
#define MRMA_RMA_SYNC_SYNC_STATE_H

#include <stdatomic.h>
#include <stdint.h>

/* Of the processes that synchronize through shared memory, and of all: barrier.c. */
enum barrier_kind { BARRIER_NODE, BARRIER_FREE, BARRIER_KINDS };

/* From one process to another one. */
struct barrier_signal {
    _Atomic uint32_t entered; /* barriers */
    _Atomic int32_t err;      /* enum mrma_err: with what it failed in the last one */
};

/* In struct win. */
struct sync_win {
    uint32_t barriers[BARRIER_KINDS]; /* entered */
};

#endif
