/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.h - the barriers of a window: of its processes on this node, in MPI_Win_fence, and of all
 * its processes, in MPI_Win_free. See barrier.c.
 *
 * Both wait until the same processes have called them equally often. What a process stored or
 * copied before is visible to all of them after.
 */
#ifndef MRMA_RMA_SYNC_BARRIER_H
#define MRMA_RMA_SYNC_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

struct win;
struct rma_target;

/* When the window is made, the same at all processes of a node: are they more than the processors
 * that they may use? */
void barrier_choose(struct win *w, bool oversubscribed);

/* Of the processes that synchronize through shared memory. May wait. MRMA_ERR_PROC_FAILED: one of
 * the window's processes is lost. */
int barrier_node(struct win *w);

/* Of all processes, before the window is freed. Nothing of this process's is left to send when it
 * returns. What is published for the window may be given back then: nobody looks into another's
 * control block when it has returned there. If it fails for one process, it does so for all. May
 * wait. The errors of packets, and MRMA_ERR_PROC_FAILED. */
int barrier_free(struct win *w);

/* Handlers' side: the process of t has entered its barrier number seq of all processes, err: or
 * failed there (enum mrma_err, not checked yet). False: the packet is not due. */
bool barrier_got(struct rma_target *t, uint32_t seq, uint32_t err);

/* For reports: has the process of t, which synchronizes through shared memory, entered the barrier
 * of the node that this process has entered last? */
bool barrier_node_entered(const struct win *w, const struct rma_target *t);

#endif
