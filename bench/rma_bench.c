/*
 * rma_bench.c - the driver of measurements, see rma_bench.h.
 */
#define _GNU_SOURCE 1
#include "rma_bench.h"

#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "stats.h"
#include "watchdog.h"

#define MAX_COUNT 20000000L

struct blocks {
    double v[BENCH_MAX_REPS];
    int n;
    long count; /* operations in the next block */
};

/* Take the time of one operation of the block just done and choose the next
 * count. True when there are enough blocks. */
static bool blocks_add(const struct bench *b, struct blocks *s, double ns)
{
    double target = b->block_ms * 1e6, took = ns * (double)s->count;
    double fit = ns > 0 ? target / ns : (double)s->count * 32;
    int reps = took > 10 * target ? (b->reps < 3 ? b->reps : 3) : b->reps;

    /* Too short: start again with more, also when an earlier block was long
     * enough, since that may have been a disturbance. */
    if (took < target / 4 && s->count < MAX_COUNT) {
        double most = (double)s->count * 32;

        fit = fit < most ? fit : most;
        s->count = (long)fit > 2 * s->count ? (long)fit : s->count * 2;
        s->n = 0;
        if (s->count > MAX_COUNT)
            s->count = MAX_COUNT;
        return false;
    }
    s->v[s->n++] = ns;
    return s->n >= reps;
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

bool bench_measure(const struct bench *b, MPI_Comm comm, const struct work *w, struct result *out)
{
    struct blocks s = {.count = 1};
    int rank;
    bool done = false, failed = false;

    MPI_Comm_rank(comm, &rank);
    if (agree_failed(comm, "opening epoch", w->begin(w->arg), out))
        return false;
    while (!done && !failed) {
        double mine[2] = {0, 0}, all[2];
        MPI_Request request;

        MPI_Ibarrier(comm, &request);
        finish(b, &request);
        double start = clock_ns();
        int rc = w->run(w->arg, s.count);

        if (rank == 0 || w->all_time)
            mine[0] = (clock_ns() - start) / (double)s.count;
        mine[1] = rc;
        if (!b->place.oversubscribed)
            MPI_Barrier(comm); /* where a target waits meanwhile: attentive */
        MPI_Iallreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, comm, &request);
        finish(b, &request);
        failed = all[1] != 0 && agree_failed(comm, "call in epoch", rc, out);
        done = blocks_add(b, &s, all[0]);
    }
    if (failed || agree_failed(comm, "closing epoch", w->end(w->arg), out))
        return false;
    summary(&s, w->per_run, out);
    return true;
}

void bench_measure_local(const struct bench *b, void (*run)(void *arg, long n), void *arg, struct result *out)
{
    struct blocks s = {.count = 1};
    bool done = false;

    while (!done) {
        double start = clock_ns();

        run(arg, s.count);
        done = blocks_add(b, &s, (clock_ns() - start) / (double)s.count);
    }
    summary(&s, 1, out);
}

void bench_keep(struct bench *b, const struct result *one)
{
    if (b->rank == 0)
        results_add(&b->results, one);
}

bool bench_window(struct bench *b, struct winmem *w, enum winmem_kind kind, size_t size, MPI_Comm comm,
                  const char *suite, const char *op)
{
    struct result r = {.suite = suite, .op = op, .kind = winmem_name[kind], .sync = "", .ns = NAN, .min = NAN,
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
