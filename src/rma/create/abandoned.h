/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abandoned.h - windows that are freed without the agreement of all processes, since one of them is
 * lost: what this process has published for such a window must not be used for anything else while
 * others of the node may still store there.
 *
 * When a process frees its part, it says so to the others of the node (win_signals.left), after its
 * last access to their memory. Until all processes that live have said so, the control block and
 * the memory of the window are kept, and so is the copy of records from which others make targets.
 * Memory of MPI_Win_allocate stays allocated; for memory from MPI_Alloc_mem the program may call
 * MPI_Free_mem, but nobody gets that memory again. Segments of MPI_Win_allocate_shared need none of
 * this, since each process has its own mapping. A process that has come to the end of MPI_Win_free
 * before the loss says nothing; what is kept because of it is freed when that process has ended.
 * Everything is freed when this process ends. Locks: the engine's, held by the caller.
 */
#ifndef MRMA_RMA_CREATE_ABANDONED_H
#define MRMA_RMA_CREATE_ABANDONED_H

struct rma;
struct win;

/* abandoned_keep tells the others of the node that this process has left w, and takes over control
 * block, memory and the node's records of w, which the caller does not give back. It is called when
 * w is about to be deleted and w->abandoned is set. Without memory for the list entry all of these
 * stay in use for ever, with a warning. */
void abandoned_keep(struct win *w);

/* abandoned_sweep gives back what was kept of windows that nobody uses any more. It is called when
 * windows come and go. */
void abandoned_sweep(struct rma *r);

/* abandoned_fini gives back everything that was kept, since this process ends. */
void abandoned_fini(struct rma *r);

#endif
