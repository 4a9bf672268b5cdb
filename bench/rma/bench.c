/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench.c - the driver of measurements, see bench.h.
 */
#define _GNU_SOURCE 1
#include "bench/rma/bench.h"

#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/common/clock.h"
#include "bench/common/stats.h"
#include "bench/common/watchdog.h"

#define MAX_COUNT 20000000L
#define LINE_ROUNDS 200
#define MIN_PAIRS 7 /* of blocks measured in turns */

struct blocks {
    double v[BENCH_MAX_REPS];
    int n;
    long count; /* operations in the next block */
};

/* Was a block of *count operations of ns each long enough? If not, there is a larger *count for the
 * next. */
static bool long_enough(const struct bench *b, long *count, double ns)
{
    double target = b->block_ms * 1e6, most = (double)*count * 32;
    double fit = ns > 0 ? target / ns : most;

    if (ns * (double)*count >= target / 4 || *count >= MAX_COUNT)
        return true;
    fit = fit < most ? fit : most;
    *count = (long)fit > 2 * *count ? (long)fit : *count * 2;
    if (*count > MAX_COUNT)
        *count = MAX_COUNT;
    return false;
}

/* Take the time of one operation of the block just done. True when there are enough
 * blocks. */
static bool blocks_add(const struct bench *b, struct blocks *s, double ns, int reps)
{
    if (ns * (double)s->count > 10 * b->block_ms * 1e6 && reps > 3)
        reps = 3;
    /* Too short: start again with more, also when an earlier block was long
     * enough, since that may have been a disturbance. */
    if (!long_enough(b, &s->count, ns)) {
        s->n = 0;
        return false;
    }
    s->v[s->n++] = ns;
    return s->n >= reps;
}

/* The pair of blocks with the median ratio. */
static void median_pair(const double *of, const double *bare, int n, struct result *out)
{
    double ratio[BENCH_MAX_REPS];
    int best = 0;

    for (int i = 0; i < n; i++)
        ratio[i] = of[i] / bare[i];
    double median = stats_median(ratio, (size_t)n);

    for (int i = 1; i < n; i++)
        if (fabs(of[i] / bare[i] - median) < fabs(of[best] / bare[best] - median))
            best = i;
    out->of = of[best];
    out->bare = bare[best];
}

static void summary(struct blocks *s, int per_run, struct result *out)
{
    for (int i = 0; i < s->n; i++)
        s->v[i] /= per_run;
    out->ns = stats_median(s->v, (size_t)s->n);
    out->min = s->v[0];
    out->max = s->v[s->n - 1];
}

static bool agree_failed(MPI_Comm comm, const char *what, int rc, struct result *out)
{
    if (rc)
        host_error_text(what, rc, out->note, sizeof(out->note));
    if (!host_any_failed(comm, rc != MPI_SUCCESS, out->note, sizeof(out->note)))
        return false;
    out->ns = out->min = out->max = NAN;
    return true;
}

/* A host that spins in its collectives keeps the processor from those that are measured, where
 * there are fewer than ranks. */
static void finish(const struct bench *b, MPI_Request *request)
{
    int done = 0;

    while (!done) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done && b->place.oversubscribed)
            sched_yield();
    }
}

/* One block on every rank of comm: ns for each count, and what run returned here. True when it
 * failed anywhere. */
static bool block(const struct bench *b, MPI_Comm comm, const struct work *w, long count,
                  double *ns, int *rc)
{
    double mine[2] = {0, 0}, all[2];
    MPI_Request request;
    int rank;

    MPI_Comm_rank(comm, &rank);
    MPI_Ibarrier(comm, &request);
    finish(b, &request);
    double start = clock_ns();

    *rc = w->run(w->arg, count);
    if (rank == 0 || w->all_time)
        mine[0] = (clock_ns() - start) / (double)count;
    mine[1] = *rc != MPI_SUCCESS;
    if (!b->place.oversubscribed)
        MPI_Barrier(comm); /* where a target waits meanwhile, and polls */
    MPI_Iallreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, comm, &request);
    finish(b, &request);
    *ns = all[0];
    return all[1] != 0;
}

/* How many operations of what is beside make a block; 0: it fails. */
static long count_beside(const struct bench *b, MPI_Comm comm, const struct work *beside)
{
    long count = 1;
    double ns;
    int rc;

    do {
        if (block(b, comm, beside, count, &ns, &rc))
            return 0;
    } while (!long_enough(b, &count, ns));
    return count;
}

static int take_turns(void *arg, long n)
{
    const struct bench *b = arg;

    peer_map_turns(&b->map, b->rank, n, false);
    return MPI_SUCCESS;
}

/* What a cache line takes one way now, of which the more counts; where the two have a processor
 * each. */
static void look_how_far(const struct bench *b, MPI_Comm comm, struct result *out)
{
    struct work w = {.run = take_turns, .arg = (void *)(uintptr_t)b, .all_time = true};
    double ns;
    int rc;

    if (!b->map.control || !b->pair_pinned || (comm != b->pair && b->nprocs > 2))
        return;
    (void)block(b, comm, &w, LINE_ROUNDS, &ns, &rc);
    if (ns / 2 > out->line)
        out->line = ns / 2;
}

bool bench_measure(const struct bench *b, MPI_Comm comm, const struct work *w, struct result *out)
{
    struct blocks s = {.count = 1};
    double bare[BENCH_MAX_REPS];
    int reps = w->beside && b->reps < MIN_PAIRS ? MIN_PAIRS : b->reps, rc = MPI_SUCCESS;
    bool done = false, failed = false;

    look_how_far(b, comm, out);
    long beside = w->beside ? count_beside(b, comm, w->beside) : 0;

    if (agree_failed(comm, "opening epoch", w->begin(w->arg), out))
        return false;
    while (!done && !failed) {
        double ns, ns_beside = 0;
        int rc_beside;

        if (beside && block(b, comm, w->beside, beside, &ns_beside, &rc_beside))
            beside = 0;
        failed =
            block(b, comm, w, s.count, &ns, &rc) && agree_failed(comm, "call in epoch", rc, out);
        done = blocks_add(b, &s, ns, reps);
        if (s.n)
            bare[s.n - 1] = ns_beside;
    }
    if (failed || agree_failed(comm, "closing epoch", w->end(w->arg), out))
        return false;
    look_how_far(b, comm, out);
    if (beside) {
        median_pair(s.v, bare, s.n, out);
        out->of /= w->per_run;
        out->bare /= w->beside->per_run;
    }
    summary(&s, w->per_run, out);
    return true;
}

void bench_keep(struct bench *b, const struct result *one)
{
    if (b->rank == 0)
        results_add(&b->results, one);
}

bool bench_window(struct bench *b, struct winmem *w, enum winmem_kind kind, size_t size,
                  MPI_Comm comm, const char *suite, const char *op)
{
    struct result r = {.suite = suite,
                       .op = op,
                       .kind = winmem_name[kind],
                       .sync = "",
                       .ns = NAN,
                       .min = NAN,
                       .max = NAN};

    if (!(b->kinds >> kind & 1))
        return false;
    bench_doing(b, "%s, creating window, %s", suite, r.kind);
    if (!winmem_open(w, kind, size, comm, r.note, sizeof(r.note)))
        return true;
    bench_keep(b, &r);
    return false;
}

void bench_wrong(const char *fmt, ...)
{
    va_list ap;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rma: rank %d: ", rank);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void bench_doing(const struct bench *b, const char *fmt, ...)
{
    char text[128];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    watchdog_arm(b->timeout, "rma, %s", text);
    if (b->rank == 0 && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r%-70.70s\r", text);
        fflush(stderr);
    }
}

int bench_own_begin(const struct winmem *w)
{
    int rank;

    MPI_Comm_rank(w->comm, &rank);
    return MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win);
}

int bench_own_end(const struct winmem *w)
{
    int rank;

    MPI_Comm_rank(w->comm, &rank);
    return MPI_Win_unlock(rank, w->win);
}
