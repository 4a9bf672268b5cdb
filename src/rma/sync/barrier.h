/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.h - the barriers of a window: one of its processes on this node, in MPI_Win_fence, and
 * one of all its processes, in MPI_Win_free. See barrier.c.
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

/* barrier_node is the barrier of the processes that synchronize through shared memory. Returns
 * MRMA_SUCCESS, or MRMA_ERR_PROC_FAILED if one of the window's processes is lost. Without the
 * engine's lock. May wait. */
int barrier_node(struct win *w);

/* barrier_free is the barrier of all processes, before the window is freed. When it returns
 * MRMA_SUCCESS this process has nothing left to send, and what is published for the window may be
 * given back: a process for which it has returned does not look into another's control block any
 * more. If it fails for one process, it fails for all, with the errors of packets, or
 * MRMA_ERR_PROC_FAILED. Without the engine's lock. May wait. */
int barrier_free(struct win *w);

/* barrier_got takes a packet which says that the process of t has entered barrier number seq of all
 * processes; err is the error with which it has entered (enum mrma_err, not checked yet). Returns
 * false if the packet is not due, and so to be refused. Under the engine's lock. */
bool barrier_got(struct rma_target *t, uint32_t seq, uint32_t err);

/* barrier_node_entered returns whether the process of t, which synchronizes through shared memory,
 * has entered the barrier of the node that this process has entered last. It is for reports, and
 * the answer is known only where MPIRMA_HANG_REPORT is set for both. */
bool barrier_node_entered(const struct win *w, const struct rma_target *t);

#endif
