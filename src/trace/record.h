/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.h - the trace layer: it records events of this process in files (spool.h).
 *
 * A struct trace is one process's part of a job's trace. It knows no MPI and no windows: its
 * callers hand it records. Every thread that hands in a record gets a file of its own, so no thread
 * waits for another. The file is mapped, so recording is a store, and records are kept however the
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
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/log.h"
#include "trace/spool.h"

struct trace;

struct trace_spec {
    const char *dir;      /* made if it is not there; the files are in dir/spool */
    uint32_t rank, nproc; /* in MPI_COMM_WORLD */
    uint64_t machine;     /* the same for processes that share the clock */
    const char *host_mpi; /* version of the MPI library below, cut to fit */
    bool accesses;        /* the memory that operations access is recorded, too */
    clock_fn clock;       /* nanoseconds; of all threads */
    const struct log *log;
};

/* trace_prepare makes the directory, and removes the files of an earlier job from it. Called by one
 * process of the job, before any other opens. Returns MRMA_SUCCESS, or MRMA_ERR_OTHER with a
 * message if the directory cannot be made. */
int trace_prepare(const struct trace_spec *spec);

/* trace_open begins this process's part of the trace, with a file for the calling thread. spec is
 * copied with all that it points to: none of it need outlive the call. Returns MRMA_SUCCESS and
 * *out; MRMA_ERR_NO_MEM, or MRMA_ERR_OTHER (logged) if a file in dir/spool can't be written. */
int trace_open(const struct trace_spec *spec, struct trace **out);

/* trace_close cuts the files to their length and gives the trace back. No thread records any more,
 * but other threads that have recorded may be alive, or end meanwhile: the last of them frees what
 * is left. NULL is allowed. */
void trace_close(struct trace *tr);

/* trace_now returns the time of the trace's clock, in nanoseconds. Two neighbouring records may
 * share a reading. */
uint64_t trace_now(const struct trace *tr);

/* trace_time_of_last returns the time of the calling thread's last record, if that is of this kind,
 * for a neighbour that shares its reading of the clock; else 0. */
uint64_t trace_time_of_last(struct trace *tr, enum trace_kind kind);

/* trace_add records rec. If the time of rec lies before that of the calling thread's last record,
 * or before the begin of its file, rec gets that time; otherwise it keeps its own. If the file
 * cannot grow, one message says so and the thread records no more. */
void trace_add(struct trace *tr, const struct trace_record *rec);

/* trace_has_accesses returns whether this trace has to tell which memory operations access. */
bool trace_has_accesses(const struct trace *tr);

/* trace_thread_is notes in the calling thread's file what kind of thread it is; without this it is
 * SPOOL_APPLICATION. Called soon after the thread's first record at the latest. */
void trace_thread_is(struct trace *tr, enum spool_thread kind);

/* trace_recording stops the recording of all threads, or resumes it, and records that; if it is so
 * already it does nothing. TRACE_RECORDING says what is still recorded while it is stopped. Any
 * thread. */
void trace_recording(struct trace *tr, bool on);

/* trace_is_stopped returns whether the recording is stopped. Any thread. */
bool trace_is_stopped(const struct trace *tr);

/* trace_next_op returns a number that no other operation of this process has. Any thread. */
uint64_t trace_next_op(struct trace *tr);

/* trace_last_op returns the latest number that trace_next_op has given to any thread; 0: none. */
uint64_t trace_last_op(const struct trace *tr);

#endif
