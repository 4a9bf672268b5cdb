/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench.h - what the suites of bench/rma share: settings and driver.
 *
 * Most suites measure from rank 0 to rank 1 on a communicator of those two (the
 * pair), while further ranks sleep; some use all ranks. A measurement is
 * repeated blocks of so many operations that a block takes about block_ms; the
 * median of the blocks counts.
 */
#ifndef BENCH_RMA_BENCH_H
#define BENCH_RMA_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/common/host.h"
#include "bench/common/place.h"
#include "bench/common/results.h"
#include "bench/common/values.h"
#include "bench/common/winmem.h"
#include "bench/rma/peer_map.h"

#define BENCH_MAX_REPS 51

struct anchors;

struct bench {
    MPI_Comm all;
    MPI_Comm pair; /* ranks 0 and 1; MPI_COMM_NULL in others */
    int rank, nprocs;
    struct host host;
    struct place place;
    struct peer_map map; /* pair only; map.control is NULL when it failed */
    char map_reason[160];
    struct anchors *anchors; /* pair only; NULL when they are not measured, see anchors.h */
    struct results results;
    struct sizes sizes;     /* put and get */
    struct sizes acc_sizes; /* accumulates */
    unsigned kinds;         /* bits of enum winmem_kind */
    int reps;
    double block_ms;
    double compute_s; /* how long a passive target computes */
    bool pair_pinned; /* the pair's ranks are pinned while its suites run */
    bool try_all;     /* also what is known to crash a host */
    unsigned timeout; /* seconds */
};

/* One thing to measure; every rank of the communicator calls the three in
 * turn, each returns an MPI error code. run does n operations, or what the
 * others do to make them possible. */
struct work {
    int (*begin)(void *arg);
    int (*run)(void *arg, long n);
    int (*end)(void *arg);
    void *arg;
    int per_run;   /* operations per count of n, normally 1 */
    bool all_time; /* the slowest rank's time counts, not rank 0's */
    /* NULL, or what is run in turns with this, block by block, so that both find the same distance
     * of the processors, which changes on some machines; its begin and end are not called. */
    const struct work *beside;
};

/* Collective over comm; fills the times and the note of *out. When a call
 * fails anywhere, the result is NaN with the reason and false is returned. */
bool bench_measure(const struct bench *b, MPI_Comm comm, const struct work *w, struct result *out);

/* Rank 0 keeps *one. */
void bench_keep(struct bench *b, const struct result *one);

/* A suite's window of the kind, collective over comm: where the user wants that kind (b->kinds).
 * Where it cannot be had, the results of op say why. False: there is no window. */
bool bench_window(struct bench *b, struct winmem *w, enum winmem_kind kind, size_t size,
                  MPI_Comm comm, const char *suite, const char *op);

/* A verification failed: print the text and end the job with exit code 1. */
void bench_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Tell a terminal what is going on (rank 0), and arm the watchdog. */
void bench_doing(const struct bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Access to this rank's own window memory between epochs. */
int bench_own_begin(const struct winmem *w);
int bench_own_end(const struct winmem *w);

#endif
