/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * anchors.h - what the machine and the host can do, the measures of the goals.
 */
#ifndef BENCH_RMA_ANCHORS_H
#define BENCH_RMA_ANCHORS_H

#include "bench/rma/bench.h"

/*
 * Results of suite "anchors" (op, size):
 *
 *   cache_line             C: one-way transfer between two ranks' processors
 *   memcpy, s              M: copy to a page mapped from the peer
 *   cma_write, s           S: process_vm_writev
 *   cma_read, s            process_vm_readv
 *   cma_acc, s             s bytes read by process_vm_readv, added to, and written
 *   cma_acc_strided, s     the same for every other double: the read in one piece, the writing in
 *                          s / 8
 *   add, s                 s bytes of doubles added to as many, local memory
 *   fetch_add, cas         A: one locked instruction on a peer's word
 *   fetch_add_both, cas_both
 *                          the same by both ranks at once, time an operation of each rank
 *   fetch_add_called, cas_called, fetch_add_both_called, cas_both_called
 *                          the same with two calls as of "call" behind each: what a caller of a
 *                          function for the operation and one for its completion can reach
 *   isend_irecv, s         half a ping-pong of the host
 *   switch                 handing the processor to another process (sched_yield)
 *   clock                  reading the clock twice
 *   call                   calling a function of another library that does nothing, which every
 *                          MPI call costs and no limit contains
 *
 * Collective over the pair; between anchors_open and anchors_close, which do nothing where the
 * pair shares no memory.
 */
void anchors_run(struct bench *b);
void anchors_open(struct bench *b);
void anchors_close(struct bench *b);

/* An anchor as work to measure something else beside (struct work's beside), until the next call.
 * False: there are no anchors in this run. */
bool anchor_work(struct bench *b, const char *op, size_t size, struct work *out);

/* y[i] += x[i] over so many bytes: the bare loop, vectors of two doubles. */
void anchors_add(double *y, const double *x, size_t bytes);

#endif
