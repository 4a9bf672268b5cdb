/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * skew.c - a target that computes inside its exposure epoch; suites.h.
 *
 * The process skew test of the papers: rank 1 posts, multiplies two matrices of
 * order n, and waits; rank 0 starts, puts 16 times 256 KiB and completes. The
 * origin's time should not know n. Beside it stand bare copies of the same bytes, from the same
 * buffer into the same window, with the same going on between them: what the
 * matrices lose to them, and what they lose to the matrices, which is the part of the
 * growth that no library can avoid.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "bench/common/clock.h"
#include "bench/common/stats.h"
#include "bench/rma/pattern.h"
#include "bench/rma/suites.h"

#define PUTS (SKEW_BYTES / PUT_BYTES)
#define PUT_BYTES (256 << 10)
#define MAX_ORDER 256
#define REPS 15

struct skew {
    struct bench *b;
    struct winmem w;
    MPI_Group peer;
    char *buf;
    char *
        theirs; /* the window of rank 1, for bare copies; NULL: no_copies says why there are none */
    char no_copies[160];
    unsigned seed; /* of what the window of rank 1 has */
    double *m[3];
    double origin[REPS], compute[REPS];
};

static void multiply(struct skew *s, int n)
{
    double *restrict c = s->m[2];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;

            for (int k = 0; k < n; k++)
                sum += s->m[0][i * n + k] * s->m[1][k * n + j];
            c[i * n + j] = sum;
        }
    __asm__ volatile("" ::: "memory");
}

static int origin(struct skew *s)
{
    int rc = MPI_Win_start(s->peer, 0, s->w.win);

    for (int i = 0; i < PUTS && !rc; i++)
        rc = MPI_Put(s->buf + (size_t)i * PUT_BYTES, PUT_BYTES, MPI_BYTE, 1,
                     s->w.disp[1] + (MPI_Aint)i * PUT_BYTES, PUT_BYTES, MPI_BYTE, s->w.win);
    return rc ? rc : MPI_Win_complete(s->w.win);
}

static int target(struct skew *s, int order, double *compute)
{
    int rc = MPI_Win_post(s->peer, 0, s->w.win);
    double start = clock_ns();

    multiply(s, order);
    *compute = clock_ns() - start;
    return rc ? rc : MPI_Win_wait(s->w.win);
}

/* The bytes of an epoch without MPI, to where the puts go: into mapped pages, or by the kernel. */
static int copy_bare(struct skew *s)
{
    for (int i = 0; i < PUTS; i++) {
        const size_t at = (size_t)i * PUT_BYTES;
        struct iovec here = {s->buf + at, PUT_BYTES}, there = {s->theirs + at, PUT_BYTES};

        if (s->w.kind != WINMEM_MALLOC)
            memcpy(s->theirs + at, s->buf + at, PUT_BYTES);
        else if (process_vm_writev(s->b->map.pid, &here, 1, &there, 1, 0) < 0)
            return MPI_ERR_OTHER;
    }
    return MPI_SUCCESS;
}

static int copy_nothing(struct skew *s)
{
    (void)s;
    return MPI_SUCCESS;
}

static int multiply_only(struct skew *s, int order, double *compute)
{
    const double start = clock_ns();

    multiply(s, order);
    *compute = clock_ns() - start;
    return MPI_SUCCESS;
}

/* What is done at the two sides; in all of them the same goes on around it. */
struct way {
    int (*origin)(struct skew *s);
    int (*target)(struct skew *s, int order, double *compute);
    bool moves; /* new contents are at the target afterwards */
};
static const struct way by_puts = {origin, target, true};
static const struct way by_copies = {copy_bare, multiply_only, true};
static const struct way by_nothing = {copy_nothing, multiply_only, false};

/* Medians: of the origin's time, and of the target's computation. */
struct times {
    double origin, compute;
};

static void check(struct skew *s, int order)
{
    const size_t wrong = pattern_check(s->w.base, SKEW_BYTES, s->seed);

    if (wrong < SKEW_BYTES)
        bench_wrong("skew, %s, order %d: wrong contents at byte %zu of epoch %u",
                    winmem_name[s->w.kind], order, wrong, s->seed);
}

/* False: a call failed, and *r says which. */
static bool repeat(struct skew *s, const struct way *way, int order, struct result *r,
                   struct times *times)
{
    struct bench *b = s->b;

    for (int rep = 0; rep < REPS; rep++) {
        s->seed += way->moves;
        pattern_fill(s->buf, SKEW_BYTES, s->seed);
        MPI_Barrier(b->pair);
        const double start = clock_ns();
        const int rc = b->rank == 0 ? way->origin(s) : way->target(s, order, &s->compute[rep]);

        s->origin[rep] = clock_ns() - start;
        if (rc)
            host_error_text("call in epoch", rc, r->note, sizeof(r->note));
        if (host_any_failed(b->pair, rc != MPI_SUCCESS, r->note, sizeof(r->note)))
            return false;
        if (b->rank == 1)
            check(s, order);
    }
    times->origin = stats_median(s->origin, REPS);
    times->compute = stats_median(s->compute, REPS);
    MPI_Bcast(&times->compute, 1, MPI_DOUBLE, 1, b->pair);
    return true;
}

/* The bare copies, and what the multiplication takes with them and by itself; without copies the
 * reason is in the result. */
static void bare(struct skew *s, int order, double compute, struct result *r)
{
    struct times alone = {NAN, NAN}, with = {NAN, NAN};
    struct result c = *r;

    r->op = "copies";
    r->sync = "";
    r->ns = r->min = r->max = NAN;
    c.op = "compute";
    c.ns = c.min = c.max = compute;
    const bool known = order > 0 && repeat(s, &by_nothing, order, &c, &alone);

    if (!s->theirs)
        snprintf(r->note, sizeof(r->note), "%s", s->no_copies);
    else if (repeat(s, &by_copies, order, r, &with)) {
        r->ns = with.origin;
        r->min = s->origin[0];
        r->max = s->origin[REPS - 1];
    }
    bench_keep(s->b, r);
    if (known)
        snprintf(c.note, sizeof(c.note), "order %d: %.1f %% slower than alone", order,
                 100 * (compute / alone.compute - 1));
    if (known && !isnan(with.compute))
        snprintf(c.note + strlen(c.note), sizeof(c.note) - strlen(c.note),
                 ", %.1f %% with bare copies", 100 * (with.compute / alone.compute - 1));
    bench_keep(s->b, &c);
}

static bool one_order(struct skew *s, int order)
{
    struct result r = {.suite = "skew",
                       .op = "epoch",
                       .kind = winmem_name[s->w.kind],
                       .sync = "pscw",
                       .size = (size_t)order,
                       .ns = NAN,
                       .min = NAN,
                       .max = NAN};
    struct times puts;

    bench_doing(s->b, "skew, %s, order %d", r.kind, order);
    if (!repeat(s, &by_puts, order, &r, &puts)) {
        bench_keep(s->b, &r);
        return false;
    }
    r.ns = puts.origin;
    r.min = s->origin[0];
    r.max = s->origin[REPS - 1];
    bench_keep(s->b, &r);
    bare(s, order, puts.compute, &r);
    return true;
}

/* Where the origin reaches the window of rank 1 by bare copies: by its address in rank 1, for the
 * kernel, or where the window is mapped here. */
static void find_theirs(struct skew *s)
{
    uint64_t address = (uint64_t)(uintptr_t)s->w.base;
    MPI_Aint bytes = 0;
    void *mapped = NULL;
    int unit;

    s->theirs = NULL;
    if (!s->b->map.control) {
        snprintf(s->no_copies, sizeof(s->no_copies), "%s", s->b->map_reason);
    } else if (s->w.kind == WINMEM_MALLOC) {
        MPI_Bcast(&address, 1, MPI_UINT64_T, 1, s->b->pair);
        s->theirs = (char *)(uintptr_t)address;
    } else {
        const int rc = MPI_Win_shared_query(s->w.win, 1, &bytes, &unit, &mapped);

        s->theirs = rc || bytes < SKEW_BYTES ? NULL : mapped;
        snprintf(s->no_copies, sizeof(s->no_copies), "the target's window is not mapped");
        if (host_any_failed(s->b->pair, !s->theirs, s->no_copies, sizeof(s->no_copies)))
            s->theirs = NULL;
    }
}

static void one_kind(struct skew *s)
{
    static const int order[] = {0, 32, 64, 128, MAX_ORDER}; /* the paper's */
    const char *kind = winmem_name[s->w.kind];

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (!one_order(s, order[i]))
            break;
    if (s->b->rank == 0) {
        results_table(&s->b->results, "skew", "epoch", kind);
        results_table(&s->b->results, "skew", "copies", kind);
        results_table(&s->b->results, "skew", "compute", kind);
    }
}

void rma_skew(struct bench *b)
{
    static const enum winmem_kind kinds[] = {WINMEM_MALLOC, WINMEM_ALLOCATE};
    struct skew s = {.b = b};
    MPI_Group both;
    int peer = 1 - b->rank;

    s.buf = malloc(PUTS * PUT_BYTES);
    for (int i = 0; i < 3; i++) {
        s.m[i] = malloc(MAX_ORDER * MAX_ORDER * sizeof(double));
        for (int j = 0; s.m[i] && j < MAX_ORDER * MAX_ORDER; j++)
            s.m[i][j] = j % 17;
    }
    if (!s.buf || !s.m[0] || !s.m[1] || !s.m[2])
        bench_wrong("no memory for the skew test");
    MPI_Comm_group(b->pair, &both);
    MPI_Group_incl(both, 1, &peer, &s.peer);
    MPI_Group_free(&both);
    for (int k = 0; k < 2; k++) {
        if (!bench_window(b, &s.w, kinds[k], PUTS * PUT_BYTES, b->pair, "skew", "epoch"))
            continue;
        s.seed = 0;
        find_theirs(&s);
        one_kind(&s);
        winmem_close(&s.w);
    }
    MPI_Group_free(&s.peer);
    free(s.buf);
    for (int i = 0; i < 3; i++)
        free(s.m[i]);
}
