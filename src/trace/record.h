/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.h - events of this process into files (spool.h): the trace layer.
 *
 * A struct trace is one process's part of a job's trace. It knows no MPI and no windows: it is
 * handed records. Every thread that hands one in gets a file of its own, so no thread waits for
 * another; the file is mapped, so recording is a store, and what is recorded is kept however the
 * process ends. When a piece of the file is full the next is reserved on the disk and mapped, which
 * is recorded with its time. If that fails (no space, a limit) one message says so, the thread
 * records no more, and the program goes on.
 *
 * Locks: one for the list of threads, taken at a thread's first event, at its end and in
 * trace_close.
 */
#ifndef MRMA_TRACE_RECORD_H
#define MRMA_TRACE_RECORD_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/log.h"
#include "trace/spool.h"

struct trace;

struct trace_spec {
    const char *dir;       /* made if it is not there; the files are in dir/spool */
    uint32_t rank, nproc;  /* in MPI_COMM_WORLD */
    uint64_t machine;      /* the same for processes that share the clock */
    const char *host_mpi;  /* version of the MPI library below, cut to fit */
    clock_fn clock;        /* nanoseconds; of all threads */
    const struct log *log; /* outlives the trace */
};

/* Make dir, and remove what files of an earlier job it has: by one process of the job, before any
 * other opens. MRMA_ERR_OTHER with a message if that is not possible, as in trace_open. */
int trace_prepare(const struct trace_spec *spec);

/* spec is copied, dir with it. MRMA_ERR_NO_MEM, or MRMA_ERR_OTHER: a file in dir/spool can't be
 * written. */
int trace_open(const struct trace_spec *spec, struct trace **out);

/* Files are cut to their length. No thread records any more. NULL is allowed. */
void trace_close(struct trace *tr);

/* Now, by the trace's clock. Two neighbouring records may share a reading. */
uint64_t trace_now(const struct trace *tr);

/* The time of the calling thread's last record, if it is of this kind: for a neighbour that shares
 * its reading of the clock. Else 0. */
uint64_t trace_time_of_last(struct trace *tr, enum trace_kind kind);

/* Record, with its time as it is. A thread's times must not decrease. */
void trace_add(struct trace *tr, const struct trace_record *rec);

/* The ranks of the record added before, by the same thread. */
void trace_add_ranks(struct trace *tr, uint64_t time, const int *ranks, int n);

/* What a number of ENTER and LEAVE above those of enum trace_call stands for. */
void trace_add_name(struct trace *tr, uint16_t what, const char *name);

/* The calling thread's file says what kind of thread it is. Without this: SPOOL_APPLICATION. */
void trace_thread_is(struct trace *tr, enum spool_thread kind);

/* A number that no other operation of this process has. */
uint64_t trace_next_op(struct trace *tr);
/* The latest number given to any thread. */
uint64_t trace_last_op(const struct trace *tr);

#endif
