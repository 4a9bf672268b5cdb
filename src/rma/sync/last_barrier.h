/*
 * last_barrier.h - the barrier over all processes of a window that MPI_Win_free
 * needs, by ceil(log2 P) signals a process, shared memory or packets as the
 * target has it.
 */
#ifndef MRMA_RMA_SYNC_LAST_BARRIER_H
#define MRMA_RMA_SYNC_LAST_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

struct win;
struct rma_target;

/* Wait until all processes have called it equally often and nothing of this process's
 * is left to send. What is published for the window may be given back then: nobody
 * looks into another's control block when it has returned there. If it fails for
 * one process, it does so for all. */
int last_barrier(struct win *w);

/* Handlers' side: the process of t has entered barrier seq, err: or failed there.
 * false: it is not due. */
bool last_barrier_got(struct rma_target *t, uint32_t seq, uint32_t err);

#endif
