/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma_queue.h - small transfers to another process's memory, or from it, kept back until one
 * system call does them all (cma.h): each call costs as much as copying several KiB.
 *
 * Data that go out are copied; memory that is read into is in use until the queue has run.
 * Transfers are done in the order in which they were added.
 *
 * Locks: none; the caller holds a lock that excludes all other callers. It holds the lock during
 * the system call, too, if what one thread has added must be done when another thread's
 * cma_queue_run returns.
 */
#ifndef MRMA_SYS_CMA_QUEUE_H
#define MRMA_SYS_CMA_QUEUE_H

#include "sys/cma.h"

struct cma_queue;

/* cma_queue_create returns an empty queue with room for so many bytes of transfers with process
 * pid; log must outlive it. NULL: no memory. */
struct cma_queue *cma_queue_create(int32_t pid, const struct log *log, size_t room);

/* cma_queue_free frees q; the transfers that it keeps are not done. NULL is allowed. */
void cma_queue_free(struct cma_queue *q);

/* cma_queue_add keeps a transfer of len bytes, at most the queue's room, between here and the other
 * process's address vaddr. Where there is no room for it, or the kept transfers go in the other
 * direction, those are done first, and their error is returned; this transfer is kept nevertheless.
 */
int cma_queue_add(struct cma_queue *q, bool write, void *here, uint64_t vaddr, size_t len);

/* cma_queue_run does all transfers that are kept, in one call of cma_transfer, whose errors it
 * returns; after an error some of them were not done. In both cases none is kept any more. */
int cma_queue_run(struct cma_queue *q);

#endif
