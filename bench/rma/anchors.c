/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * anchors.c - see anchors.h.
 *
 * Shared-memory anchors run on the peer map, not on an MPI window, and two-rank
 * ones without MPI inside the timed part (but isend_irecv). The atomics are
 * relaxed: what is measured is the locked instruction.
 */
#define _GNU_SOURCE 1
#include "bench/rma/anchors.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "bench/common/clock.h"

struct anchor;

struct anchors {
    struct bench *b;
    const struct anchor *anchor; /* the one being measured */
    size_t size;
    bool yield;
    bool both;         /* rank 1 takes part in the atomics */
    int failed;        /* errno of a refused call */
    uint64_t expected; /* cas: what this rank believes the word to be */
    double *x, *y;
    char *buf;
    int rank;
};

static int nothing(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

/* ---- rank 0 alone ---- */

static void run_memcpy(struct anchors *a, long n)
{
    for (long i = 0; i < n; i++) {
        memcpy(a->b->map.data, a->b->map.private, a->size);
        __asm__ volatile("" ::: "memory");
    }
}

static void cma(struct anchors *a, long n, bool write)
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

static void run_cma_write(struct anchors *a, long n)
{
    cma(a, n, true);
}

static void run_cma_read(struct anchors *a, long n)
{
    cma(a, n, false);
}

/* What an accumulate on memory that is not mapped needs at least, when it asks the kernel alone:
 * all is read, and what belongs to every other double, or all, is written. */
static void run_cma_acc(struct anchors *a, long n)
{
    struct iovec here = {a->y, a->size}, there = {a->b->map.remote, a->size};

    for (long i = 0; i < n && !a->failed; i++) {
        pid_t pid = a->b->map.pid;

        if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)a->size)
            a->failed = EIO;
        anchors_add(a->y, a->x, a->size);
        if (!a->failed && process_vm_writev(pid, &here, 1, &there, 1, 0) != (ssize_t)a->size)
            a->failed = EIO;
    }
}

static void run_cma_acc_strided(struct anchors *a, long n)
{
    enum { MOST = 64 };
    int pieces = (int)(a->size / sizeof(double));
    size_t span = (2 * (size_t)pieces - 1) * sizeof(double);
    struct iovec here = {a->y, span}, there = {a->b->map.remote, span}, from[MOST], to[MOST];

    if (pieces > MOST)
        a->failed = E2BIG;
    for (int i = 0; i < pieces && !a->failed; i++) {
        from[i] = (struct iovec){a->y + 2 * i, sizeof(double)};
        to[i] = (struct iovec){a->b->map.remote + 2 * (size_t)i * sizeof(double), sizeof(double)};
    }
    for (long i = 0; i < n && !a->failed; i++) {
        pid_t pid = a->b->map.pid;

        if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)span)
            a->failed = EIO;
        for (int j = 0; j < pieces; j++)
            a->y[2 * j] += a->x[j];
        if (!a->failed && process_vm_writev(pid, from, (unsigned long)pieces, to,
                                            (unsigned long)pieces, 0) != (ssize_t)a->size)
            a->failed = EIO;
    }
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

static void run_add(struct anchors *a, long n)
{
    for (long i = 0; i < n; i++) {
        anchors_add(a->y, a->x, a->size);
        __asm__ volatile("" ::: "memory");
    }
}

static void run_clock(struct anchors *a, long n)
{
    double sum = 0;

    (void)a;
    for (long i = 0; i < n; i++)
        sum += clock_ns() - clock_ns();
    __asm__ volatile("" ::"x"(sum));
}

static inline void empty_call(void)
{
    (void)gnu_get_libc_version();
}

static void run_call(struct anchors *a, long n)
{
    (void)a;
    for (long i = 0; i < n; i++)
        empty_call();
}

/* ---- both ranks ---- */

static int run_turns(void *arg, long n)
{
    struct anchors *a = arg;

    peer_map_turns(&a->b->map, a->rank, n, a->yield);
    return MPI_SUCCESS;
}

static int run_fetch_add(void *arg, long n)
{
    struct anchors *a = arg;

    for (long i = 0; i < n && (a->both || a->rank == 0); i++)
        atomic_fetch_add_explicit(&a->b->map.control->word, 1, memory_order_relaxed);
    return MPI_SUCCESS;
}

static inline void one_cas(struct anchors *a)
{
    if (atomic_compare_exchange_strong_explicit(&a->b->map.control->word, &a->expected,
                                                a->expected + 1, memory_order_relaxed,
                                                memory_order_relaxed))
        a->expected++;
}

static int run_cas(void *arg, long n)
{
    struct anchors *a = arg;

    for (long i = 0; i < n && (a->both || a->rank == 0); i++)
        one_cas(a);
    return MPI_SUCCESS;
}

static int run_fetch_add_called(void *arg, long n)
{
    struct anchors *a = arg;

    for (long i = 0; i < n && (a->both || a->rank == 0); i++) {
        atomic_fetch_add_explicit(&a->b->map.control->word, 1, memory_order_relaxed);
        empty_call();
        empty_call();
    }
    return MPI_SUCCESS;
}

static int run_cas_called(void *arg, long n)
{
    struct anchors *a = arg;

    for (long i = 0; i < n && (a->both || a->rank == 0); i++) {
        one_cas(a);
        empty_call();
        empty_call();
    }
    return MPI_SUCCESS;
}

static int run_ping_pong(void *arg, long n)
{
    struct anchors *a = arg;
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

/* ---- all of them ---- */

static const struct anchor {
    const char *op;
    void (*alone)(struct anchors *a, long n); /* by rank 0, or NULL */
    int (*run)(void *arg, long n);            /* by both */
    int per_run;
    bool both; /* rank 1 does atomics too */
} list[] = {
    {"cache_line", NULL, run_turns, 2, false},
    {"fetch_add", NULL, run_fetch_add, 1, false},
    {"cas", NULL, run_cas, 1, false},
    {"fetch_add_called", NULL, run_fetch_add_called, 1, false},
    {"cas_called", NULL, run_cas_called, 1, false},
    {"fetch_add_both", NULL, run_fetch_add, 1, true},
    {"cas_both", NULL, run_cas, 1, true},
    {"fetch_add_both_called", NULL, run_fetch_add_called, 1, true},
    {"cas_both_called", NULL, run_cas_called, 1, true},
    {"isend_irecv", NULL, run_ping_pong, 2, false},
    {"memcpy", run_memcpy, NULL, 1, false},
    {"cma_write", run_cma_write, NULL, 1, false},
    {"cma_read", run_cma_read, NULL, 1, false},
    {"cma_acc", run_cma_acc, NULL, 1, false},
    {"cma_acc_strided", run_cma_acc_strided, NULL, 1, false},
    {"add", run_add, NULL, 1, false},
    {"clock", run_clock, NULL, 1, false},
    {"call", run_call, NULL, 1, false},
};

static int run_alone(void *arg, long n)
{
    struct anchors *a = arg;

    if (a->rank == 0)
        a->anchor->alone(a, n);
    return a->failed ? MPI_ERR_OTHER : MPI_SUCCESS;
}

bool anchor_work(struct bench *b, const char *op, size_t size, struct work *out)
{
    struct anchors *a = b->anchors;

    if (!a || size > b->map.size)
        return false;
    a->anchor = list;
    while (strcmp(a->anchor->op, op))
        a->anchor++;
    a->size = size;
    a->both = a->anchor->both;
    a->failed = 0;
    *out = (struct work){.begin = nothing,
                         .run = a->anchor->run ? a->anchor->run : run_alone,
                         .end = nothing,
                         .arg = a,
                         .per_run = a->anchor->per_run,
                         .all_time = true};
    return true;
}

static void one(struct bench *b, const char *op, size_t size)
{
    struct result r = {.suite = "anchors",
                       .op = op,
                       .kind = "",
                       .sync = "",
                       .size = size,
                       .ns = NAN,
                       .min = NAN,
                       .max = NAN};
    struct anchors *a = b->anchors;
    struct work w;

    if (!anchor_work(b, op, size, &w))
        return;
    bool measured = bench_measure(b, b->pair, &w, &r);

    /* Both on one processor: the fastest block counts, since a third process there would be
     * switched to too. */
    if (measured && a->yield) {
        r.op = "switch";
        r.ns = r.min;
    }
    if (!measured && a->failed)
        snprintf(r.note, sizeof(r.note), "%s", strerror(a->failed));
    bench_keep(b, &r);
}

/* Both ranks on one processor: each turn is a switch between processes. */
static void context_switch(struct bench *b)
{
    struct result r = {.suite = "anchors",
                       .op = "switch",
                       .kind = "",
                       .sync = "",
                       .ns = NAN,
                       .min = NAN,
                       .max = NAN};
    bool refused = place_pin_to(0) != 0;

    if (refused)
        snprintf(r.note, sizeof(r.note), "sched_setaffinity: %s", strerror(errno));
    if (host_any_failed(b->pair, refused, r.note, sizeof(r.note))) {
        bench_keep(b, &r);
    } else {
        bool oversubscribed = b->place.oversubscribed;

        b->anchors->yield = b->place.oversubscribed =
            true; /* the driver leaves the processor too */
        one(b, "cache_line", 0);
        b->anchors->yield = false;
        b->place.oversubscribed = oversubscribed;
    }
    if (b->pair_pinned)
        place_pin_to(b->rank);
    else
        place_unpin();
}

static void by_size(struct bench *b)
{
    static const char *const each[] = {"memcpy", "cma_write", "cma_read", "isend_irecv"};

    for (int i = 0; i < b->sizes.n; i++) {
        bench_doing(b, "anchors, %zu bytes", b->sizes.v[i]);
        for (int j = 0; j < 4; j++)
            one(b, each[j], b->sizes.v[i]);
    }
    for (int i = 0; i < b->acc_sizes.n; i++) {
        one(b, "add", b->acc_sizes.v[i]);
        one(b, "cma_acc", b->acc_sizes.v[i]);
    }
    one(b, "cma_acc_strided", 64);
}

/* With other values than zero: a compiler drops the clearing of cleared memory, and
 * what was never written is one page of zeros that is always in the cache. */
static void fill(double *at, size_t bytes, double value)
{
    for (size_t i = 0; i < bytes / sizeof(double); i++)
        at[i] = value;
}

void anchors_open(struct bench *b)
{
    struct anchors *a;
    size_t most = b->map.size;

    if (!b->map.control)
        return;
    a = calloc(1, sizeof(*a));
    if (a) {
        *a = (struct anchors){
            .b = b, .rank = b->rank, .buf = malloc(most), .x = malloc(most), .y = malloc(most)};
        b->anchors = a;
    }
    if (!a || !a->buf || !a->x || !a->y)
        bench_wrong("no memory for %zu bytes", most);
    memset(a->buf, 1, most);
    fill(a->x, most, 1);
    fill(a->y, most, 0.5);
}

void anchors_close(struct bench *b)
{
    if (!b->anchors)
        return;
    free(b->anchors->buf);
    free(b->anchors->x);
    free(b->anchors->y);
    free(b->anchors);
    b->anchors = NULL;
}

void anchors_run(struct bench *b)
{
    static const char *const small[] = {
        "fetch_add",      "cas",      "fetch_add_called",      "cas_called",
        "fetch_add_both", "cas_both", "fetch_add_both_called", "cas_both_called"};

    if (!b->anchors)
        return;
    bench_doing(b, "anchors");
    one(b, "cache_line", 0);
    for (int i = 0; i < 8; i++)
        one(b, small[i], 8);
    context_switch(b);
    one(b, "clock", 0);
    one(b, "call", 0);
    by_size(b);
    if (b->rank == 0)
        results_table(&b->results, "anchors", NULL, "");
}
