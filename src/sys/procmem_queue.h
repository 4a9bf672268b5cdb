/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procmem_queue.h - small transfers to another process's memory, or from it, kept back until one
 * system call does them all (procmem.h): each call costs as much as copying several KiB.
 *
 * What goes out is copied; memory that is read into is the queue's until it has run. They are done
 * in the order in which they were added.
 *
 * Locks: none; the caller holds one that excludes all others, during the system call, too, if what
 * one thread has added must be done when another thread's procmem_queue_run returns.
 */
#ifndef MRMA_SYS_PROCMEM_QUEUE_H
#define MRMA_SYS_PROCMEM_QUEUE_H

#include "sys/procmem.h"

struct procmem_queue;

/* procmem_queue_create returns an empty queue with room for so many bytes of transfers with process
 * pid; log must outlive it. NULL: no memory. */
struct procmem_queue *procmem_queue_create(int32_t pid, const struct log *log, size_t room);

/* procmem_queue_free frees q with what it keeps, which is not done any more. NULL is allowed. */
void procmem_queue_free(struct procmem_queue *q);

/* procmem_queue_add keeps a transfer of len bytes, at most the queue's room, between here and the
 * other process's address vaddr. Where there is no room for it, or those kept go in the other
 * direction, they are done first, and their error is returned; this transfer is kept nevertheless.
 */
int procmem_queue_add(struct procmem_queue *q, bool write, void *here, uint64_t vaddr, size_t len);

/* procmem_queue_run does all transfers that are kept, in one call of procmem_transfer, whose errors
 * it returns; then some of them are not done. None is kept any more. */
int procmem_queue_run(struct procmem_queue *q);

#endif
