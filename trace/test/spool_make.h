/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_make.h - makes files such as traced processes leave, for the tests of mpi-rma-trace.
 *
 * Times are microseconds from the begin of the job; the files are those of processes that have
 * ended well (closed of their heads); files of machine 1 and above may have clocks
 * that differ. All failures end the test.
 */
#ifndef MRMA_TRACE_TEST_SPOOL_MAKE_H
#define MRMA_TRACE_TEST_SPOOL_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/spool.h"

enum { MAKE_RANKS = 64, MAKE_BEGIN = 1000 }; /* MAKE_BEGIN: us on the clock at the begin */

struct made_file {
    struct spool_head head;
    struct trace_record *record;
    size_t n, cap;
    int64_t skew; /* ns that this machine's clock is ahead of machine 0's */
};

struct made_job {
    char dir[256];
    uint32_t nproc;
    struct made_file app[MAKE_RANKS], agent[MAKE_RANKS];
    uint64_t next_id; /* of operations */
};

/* A job of nproc processes in a new temporary directory. make_write writes all files that have
 * records; make_free removes the directory with all that is in it. */
void make_job(struct made_job *job, uint32_t nproc);
void make_write(struct made_job *job);
void make_free(struct made_job *job);

/* Puts a rank on another machine, whose clock is skew ns ahead. */
void make_machine(struct made_job *job, uint32_t rank, uint64_t machine, int64_t skew);

struct trace_record *make_record(struct made_file *file, double us, unsigned kind);

/* A call from begin to end without anything in it. */
void make_call(struct made_job *job, uint32_t rank, double begin, double end, unsigned call);

/* Calls on window 1, which holds all ranks in order. */
void make_create(struct made_job *job, uint32_t rank, double begin, double end);
void make_free_call(struct made_job *job, uint32_t rank, double begin, double end);
void make_fence(struct made_job *job, uint32_t rank, double begin, double end, unsigned asserts);
void make_start(struct made_job *job, uint32_t rank, double begin, double end, uint32_t target);
void make_post(struct made_job *job, uint32_t rank, double begin, double end, uint32_t origin);
void make_complete(struct made_job *job, uint32_t rank, double begin, double end);
void make_wait(struct made_job *job, uint32_t rank, double begin, double end);
/* granted: when the origin knows, may be after the call. */
void make_lock(struct made_job *job, uint32_t rank, double begin, double end, uint32_t target,
               unsigned type);
void make_locked(struct made_job *job, uint32_t rank, double us, uint32_t target, unsigned type);
void make_unlock(struct made_job *job, uint32_t rank, double begin, double end, uint32_t target);
void make_flush(struct made_job *job, uint32_t rank, double begin, double end, uint32_t target);

/* An operation with its call; returns its id. */
uint64_t make_op(struct made_job *job, uint32_t rank, double begin, double end, unsigned op,
                 uint32_t target, uint64_t bytes, unsigned path);
/* Memory that the operation accesses which was made last, not by TRACE_MAPPED: n blocks of length
 * bytes, stride apart; what is that of a struct trace_access. */
void make_access(struct made_job *job, uint32_t rank, unsigned what, uint64_t begin,
                 uint64_t length);
void make_blocks(struct made_job *job, uint32_t rank, unsigned what,
                 const struct trace_access *blocks);
void make_done(struct made_job *job, uint32_t rank, double us, uint32_t target, uint64_t id);

/* A region in a file: its begin and its end. */
void make_region(struct made_file *file, double begin, double end, unsigned first_kind,
                 int32_t peer);

/* The same call of all ranks: the creation from 1 to 10, the end of the window from us on. */
void make_create_all(struct made_job *job);
void make_free_all(struct made_job *job, double us);

/* Whole programs, in which one process is late by delay us (0: none is): rank 0 in its call of
 * MPI_Win_complete, for which rank 1 waits; and in its unlock, for which rank 2 waits. */
void make_late_complete(struct made_job *job, double delay);
void make_held_lock(struct made_job *job, double delay);

/* make_random_program makes a job of up to 6 ranks with fences, locks and operations on all of
 * them, each seed another one. */
void make_random_program(struct made_job *job, unsigned seed);

#endif
