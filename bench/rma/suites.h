/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * suites.h - the suites of bench/rma.
 *
 * Those of the pair are collective over ranks 0 and 1, the others over all
 * ranks. Each keeps its results in b->results, named as said here, verifies
 * the contents it has moved, and prints its tables on rank 0.
 */
#ifndef BENCH_RMA_SUITES_H
#define BENCH_RMA_SUITES_H

#include "bench/rma/bench.h"

/* Pair. "latency": put and get, by kind, synchronization and size. */
void rma_latency(struct bench *b);

/* Pair. "bw": 32 puts or gets of 1 MiB at most in an epoch, by kind, synchronization and size; time
 * of one. Beside it as many MPI_Isend and MPI_Irecv of the same bytes. */
void rma_bandwidth(struct bench *b);

/* Pair. "overlap": origin and target, an epoch of 16 puts with a computation of 1.2 times its
 * length at that side, by size; origin_F, of F times its length, 1 MiB. sync pscw and isend_irecv;
 * of is the time without the computation, bare that of the computation alone. */
void rma_overlap(struct bench *b);

/* All. "origins": k_origins and k_targets, an epoch of 16 puts by each of k origins to rank 0, and
 * by rank 0 to each of k targets, a window for each; sync pscw and isend_irecv. Epochs of size 0
 * are empty, and have no messages beside them. */
void rma_origins(struct bench *b);

/* Pair. "pending": epoch, a put of 8 bytes while a receive of so many bytes (0: none) is posted at
 * its target; message, one of so many bytes to a process that waits at the end of such an epoch,
 * and message_waited_for, where that waits for the message first; sync fence and pscw. */
void rma_pending(struct bench *b);

/* Pair. "acc": accumulate, accumulate_strided, get_accumulate and
 * get_accumulate_strided, SUM of doubles; sync lock and lock_all. */
void rma_acc(struct bench *b);

/* Pair. "atomic": fetch_and_op, cas by one rank (sync lock and lock_all), and
 * fetch_and_op_both, cas_both by both at once on one word. */
void rma_atomic(struct bench *b);

/* Pair. "passive": put, accumulate, accumulate_strided, fetch_and_op while the
 * target computes; sync lock and lock_all; max is the 99th percentile. */
void rma_passive(struct bench *b);

/* Pair. "skew": epoch (the origin's time), compute (the target's) and copies (the origin's
 * time for the same bytes without RMA), size is the order of the matrices. */
void rma_skew(struct bench *b);
#define SKEW_BYTES (4 << 20) /* of an epoch; the peer map has to have room for them */

/* All. "create": a window's creation and free by kind, against op
 * allgather_barrier and segment. */
void rma_create(struct bench *b);

/* All, each rank for itself but for windows. "memory": alloc_free and window (creation and free) by
 * size; first_touch (a page), stream (reading a page) and random (a load) of memory of
 * MPI_Alloc_mem, also populated (mpirma_populate); beside them the ops malloc_free,
 * malloc_first_touch, malloc_stream and malloc_random. */
void rma_memory(struct bench *b);

/* All, before any other call for memory or windows. "memory": first_alloc and first_window, the
 * first MPI_Alloc_mem and then the first MPI_Win_allocate of the process, of a page. */
void rma_memory_first(struct bench *b);

/* All. "calls": synchronization with nothing to do: empty epochs of fence, lock, lock_all and
 * (pscw, rank 0 with rank 1) start and post, and flushes in one of lock_all. */
void rma_calls(struct bench *b);

/* All ranks active at once. "active": fence, pscw, lock, lock_exclusive,
 * fetch_and_op, and barrier of the host. */
void rma_active(struct bench *b);

/* All. Exactly n puts of 8 bytes, n empty flushes, n locks, puts and unlocks, or n accumulates of
 * one double and n of eight, each in one function, so that an instruction count can be taken of it.
 */
void rma_callgrind_put(MPI_Comm all, long n);
void rma_callgrind_rput(MPI_Comm all, long n);
void rma_callgrind_notified(MPI_Comm all, long n);
void rma_callgrind_flush(MPI_Comm all, long n);
void rma_callgrind_lock(MPI_Comm all, long n);
void rma_callgrind_acc(MPI_Comm all, long n);

#endif
