/*
 * anchors.c - see anchors.h.
 *
 * Shared-memory anchors run on the peer map, not on an MPI window, and two-rank
 * ones without MPI inside the timed part (but isend_irecv). The atomics are
 * relaxed: what is measured is the locked instruction.
 */
#define _GNU_SOURCE 1
#include "anchors.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "clock.h"

struct anchor {
    struct bench *b;
    size_t size;
    bool yield;
    bool both;         /* rank 1 takes part in the atomics */
    int failed;        /* errno of a refused call */
    uint64_t expected; /* cas: what this rank believes the word to be */
    double *x, *y;
    char *buf;
    int rank;
};

double anchor_ns(const struct bench *b, const char *op, size_t size)
{
    return results_ns(&b->results, "anchors", op, "", "", size);
}

static struct result named(const char *op, size_t size)
{
    return (struct result){.suite = "anchors", .op = op, .kind = "", .sync = "", .size = size, .ns = NAN,
                           .min = NAN, .max = NAN};
}

static int nothing(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

/* ---- rank 0 alone ---- */

static void run_memcpy(void *arg, long n)
{
    struct anchor *a = arg;

    for (long i = 0; i < n; i++) {
        memcpy(a->b->map.data, a->b->map.private, a->size);
        __asm__ volatile("" ::: "memory");
    }
}

static void cma(struct anchor *a, long n, bool write)
{
    struct iovec here = {a->b->map.private, a->size}, there = {a->b->map.remote, a->size};
    pid_t pid = a->b->map.pid;

    for (long i = 0; i < n && !a->failed; i++) {
        ssize_t got = write ? process_vm_writev(pid, &here, 1, &there, 1, 0)
                            : process_vm_readv(pid, &here, 1, &there, 1, 0);

        if (got != (ssize_t)a->size)
            a->failed = got < 0 ? errno : EIO;
    }
}

static void run_cma_write(void *arg, long n)
{
    cma(arg, n, true);
}

static void run_cma_read(void *arg, long n)
{
    cma(arg, n, false);
}

typedef double pair_of __attribute__((vector_size(16), aligned(8), may_alias));

void anchors_add(double *y, const double *x, size_t bytes)
{
    size_t n = bytes / sizeof(double), i = 0;

    for (; i + 8 <= n; i += 8) {
        pair_of *to = (pair_of *)(y + i);
        const pair_of *from = (const pair_of *)(x + i);

        to[0] += from[0];
        to[1] += from[1];
        to[2] += from[2];
        to[3] += from[3];
    }
    for (; i < n; i++)
        y[i] += x[i];
}

static void run_add(void *arg, long n)
{
    struct anchor *a = arg;

    for (long i = 0; i < n; i++) {
        anchors_add(a->y, a->x, a->size);
        __asm__ volatile("" ::: "memory");
    }
}

static void run_clock(void *arg, long n)
{
    double sum = 0;

    (void)arg;
    for (long i = 0; i < n; i++)
        sum += clock_ns() - clock_ns();
    __asm__ volatile("" ::"x"(sum));
}

static inline void empty_call(void)
{
    (void)gnu_get_libc_version();
}

static void run_call(void *arg, long n)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        empty_call();
}

static void local(struct bench *b, struct anchor *a, const char *op, size_t size,
                  void (*run)(void *arg, long n))
{
    struct result r = named(op, size);

    if (b->rank == 0) {
        a->size = size;
        a->failed = 0;
        bench_measure_local(b, run, a, &r);
        if (a->failed) {
            r.ns = r.min = r.max = NAN;
            snprintf(r.note, sizeof(r.note), "%s", strerror(a->failed));
        }
        bench_keep(b, &r);
    }
    MPI_Barrier(b->pair);
}

/* ---- both ranks ---- */

/* Each round hands the turn over twice. */
static int run_turns(void *arg, long n)
{
    struct anchor *a = arg;
    _Atomic uint64_t *turn = &a->b->map.control->turn;
    uint64_t me = (uint64_t)a->rank;

    for (long i = 0; i < n; i++) {
        while (atomic_load_explicit(turn, memory_order_acquire) != me)
            if (a->yield)
                place_relax(true);
        atomic_store_explicit(turn, 1 - me, memory_order_release);
    }
    return MPI_SUCCESS;
}

static int run_fetch_add(void *arg, long n)
{
    struct anchor *a = arg;

    for (long i = 0; i < n && (a->both || a->rank == 0); i++)
        atomic_fetch_add_explicit(&a->b->map.control->word, 1, memory_order_relaxed);
    return MPI_SUCCESS;
}

static inline void one_cas(struct anchor *a)
{
    if (atomic_compare_exchange_strong_explicit(&a->b->map.control->word, &a->expected, a->expected + 1,
                                                memory_order_relaxed, memory_order_relaxed))
        a->expected++;
}

static int run_cas(void *arg, long n)
{
    struct anchor *a = arg;

    for (long i = 0; i < n && (a->both || a->rank == 0); i++)
        one_cas(a);
    return MPI_SUCCESS;
}

static int run_fetch_add_called(void *arg, long n)
{
    struct anchor *a = arg;

    for (long i = 0; i < n && (a->both || a->rank == 0); i++) {
        atomic_fetch_add_explicit(&a->b->map.control->word, 1, memory_order_relaxed);
        empty_call();
        empty_call();
    }
    return MPI_SUCCESS;
}

static int run_cas_called(void *arg, long n)
{
    struct anchor *a = arg;

    for (long i = 0; i < n && (a->both || a->rank == 0); i++) {
        one_cas(a);
        empty_call();
        empty_call();
    }
    return MPI_SUCCESS;
}

static int run_ping_pong(void *arg, long n)
{
    struct anchor *a = arg;
    MPI_Comm pair = a->b->pair;
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++)
        for (int half = 0; half < 2 && !rc; half++) {
            MPI_Request request;

            if (half == a->rank)
                rc = MPI_Isend(a->buf, (int)a->size, MPI_BYTE, 1 - a->rank, 0, pair, &request);
            else
                rc = MPI_Irecv(a->buf, (int)a->size, MPI_BYTE, 1 - a->rank, 0, pair, &request);
            if (!rc)
                rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    return rc;
}

static void shared(struct bench *b, struct anchor *a, const char *op, size_t size,
                   int (*run)(void *arg, long n), int per_run)
{
    struct result r = named(op, size);
    struct work w = {.begin = nothing, .run = run, .end = nothing, .arg = a, .per_run = per_run,
                     .all_time = true};

    a->size = size;
    if (bench_measure(b, b->pair, &w, &r) && a->yield)
        r.ns = r.min;
    bench_keep(b, &r);
}

/* Both ranks on one processor: each turn is a switch between processes. The
 * fastest block counts, since a third process there would be switched to too. */
static void context_switch(struct bench *b, struct anchor *a)
{
    struct result r = named("switch", 0);

    bool refused = place_pin_to(0) != 0;

    if (refused)
        snprintf(r.note, sizeof(r.note), "sched_setaffinity: %s", strerror(errno));
    if (host_any_failed(b->pair, refused, r.note, sizeof(r.note))) {
        bench_keep(b, &r);
    } else {
        a->yield = true;
        shared(b, a, "switch", 0, run_turns, 2);
        a->yield = false;
    }
    if (b->pair_pinned)
        place_pin_to(b->rank);
    else
        place_unpin();
}

static void by_size(struct bench *b, struct anchor *a)
{
    for (int i = 0; i < b->sizes.n; i++) {
        size_t size = b->sizes.v[i];

        bench_doing(b, "anchors, %zu bytes", size);
        local(b, a, "memcpy", size, run_memcpy);
        local(b, a, "cma_write", size, run_cma_write);
        local(b, a, "cma_read", size, run_cma_read);
        shared(b, a, "isend_irecv", size, run_ping_pong, 2);
    }
    for (int i = 0; i < b->acc_sizes.n; i++)
        local(b, a, "add", b->acc_sizes.v[i], run_add);
}

/* With other values than zero: a compiler drops the clearing of cleared memory, and
 * what was never written is one page of zeros that is always in the cache. */
static void fill(double *at, size_t bytes, double value)
{
    for (size_t i = 0; i < bytes / sizeof(double); i++)
        at[i] = value;
}

void anchors_run(struct bench *b)
{
    struct anchor a = {.b = b, .rank = b->rank};
    size_t most = b->map.size;

    if (!b->map.control)
        return;
    a.buf = malloc(most);
    a.x = malloc(most);
    a.y = malloc(most);
    if (!a.buf || !a.x || !a.y)
        bench_wrong("no memory for %zu bytes", most);
    memset(a.buf, 1, most);
    fill(a.x, most, 1);
    fill(a.y, most, 0.5);
    bench_doing(b, "anchors");
    shared(b, &a, "cache_line", 0, run_turns, 2);
    shared(b, &a, "fetch_add", 8, run_fetch_add, 1);
    shared(b, &a, "cas", 8, run_cas, 1);
    shared(b, &a, "fetch_add_called", 8, run_fetch_add_called, 1);
    shared(b, &a, "cas_called", 8, run_cas_called, 1);
    a.both = true;
    shared(b, &a, "fetch_add_both", 8, run_fetch_add, 1);
    shared(b, &a, "cas_both", 8, run_cas, 1);
    shared(b, &a, "fetch_add_both_called", 8, run_fetch_add_called, 1);
    shared(b, &a, "cas_both_called", 8, run_cas_called, 1);
    context_switch(b, &a);
    local(b, &a, "clock", 0, run_clock);
    local(b, &a, "call", 0, run_call);
    by_size(b, &a);
    if (b->rank == 0)
        results_table(&b->results, "anchors", NULL, "");
    free(a.buf);
    free(a.x);
    free(a.y);
}
