/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * skew.c - a target that computes inside its exposure epoch; suites.h.
 *
 * The process skew test of the papers: rank 1 posts, multiplies two matrices of
 * order n, and waits; rank 0 starts, puts 16 times 256 KiB and completes. The
 * origin's time should not know n. Beside it stand bare copies of the same bytes: what the
 * matrices lose to them, and what they lose to the matrices, which is the part of the
 * growth that no library can avoid.
 */
#define _GNU_SOURCE 1
#include <math.h>
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

static void check(struct skew *s, int rep, int order)
{
    const size_t wrong = pattern_check(s->w.base, SKEW_BYTES, (unsigned)rep);

    if (wrong < SKEW_BYTES)
        bench_wrong("skew, %s, order %d: wrong contents at byte %zu of epoch %d",
                    winmem_name[s->w.kind], order, wrong, rep);
}

/* The bytes of an epoch without MPI: into mapped pages, or by the kernel. */
static void copy_bare(struct skew *s)
{
    struct peer_map *m = &s->b->map;

    for (int i = 0; i < PUTS; i++) {
        const size_t at = (size_t)i * PUT_BYTES;
        struct iovec here = {s->buf + at, PUT_BYTES}, there = {m->remote + at, PUT_BYTES};

        if (s->w.kind != WINMEM_MALLOC)
            memcpy(m->data + at, s->buf + at, PUT_BYTES);
        else if (process_vm_writev(m->pid, &here, 1, &there, 1, 0) < 0)
            break;
    }
}

/* The target has looked at what came, as check() does. */
static void read_all(const void *at)
{
    const uint64_t *word = at;
    uint64_t sum = 0;

    for (size_t i = 0; i < PUTS * PUT_BYTES / sizeof(*word); i++)
        sum += word[i];
    __asm__ volatile("" ::"r"(sum));
}

/* How fast the matrices are (rank 1), while rank 0 copies or not, and how fast its
 * copies are. */
static double bare_time(struct skew *s, int order, bool copies)
{
    struct peer_map *m = &s->b->map;
    double v[REPS];

    if (!m->control)
        return NAN;
    for (int rep = 0; rep < REPS; rep++) {
        pattern_fill(s->buf, SKEW_BYTES, (unsigned)rep);
        if (s->b->rank == 1)
            read_all(s->w.kind != WINMEM_MALLOC ? m->data : m->private);
        MPI_Barrier(s->b->pair);
        double start = clock_ns();

        if (s->b->rank == 1)
            multiply(s, order);
        else if (copies)
            copy_bare(s);
        v[rep] = clock_ns() - start;
    }
    return stats_median(v, REPS);
}

static void keep(struct skew *s, int order, const double bare[2])
{
    struct result r = {.suite = "skew",
                       .op = "epoch",
                       .kind = winmem_name[s->w.kind],
                       .sync = "pscw",
                       .size = (size_t)order};
    struct result c = r;
    double got[3] = {stats_median(s->compute, REPS), bare[0], bare[1]};

    MPI_Bcast(got, 3, MPI_DOUBLE, 1, s->b->pair);
    r.ns = stats_median(s->origin, REPS);
    r.min = s->origin[0];
    r.max = s->origin[REPS - 1];
    bench_keep(s->b, &r);
    r.op = "copies";
    r.sync = "";
    r.ns = r.min = r.max = bare[1];
    bench_keep(s->b, &r);
    c.op = "compute";
    c.ns = c.min = c.max = got[0];
    if (order)
        snprintf(c.note, sizeof(c.note),
                 "order %d: %.1f %% slower than alone, %.1f %% with bare copies", order,
                 100 * (got[0] / got[1] - 1), 100 * (got[2] / got[1] - 1));
    bench_keep(s->b, &c);
}

static bool one_order(struct skew *s, int order)
{
    struct bench *b = s->b;
    struct result r = {.suite = "skew",
                       .op = "epoch",
                       .kind = winmem_name[s->w.kind],
                       .sync = "pscw",
                       .size = (size_t)order,
                       .ns = NAN,
                       .min = NAN,
                       .max = NAN};
    double bare[2];

    bench_doing(b, "skew, %s, order %d", r.kind, order);
    bare[0] = bare_time(s, order, false);
    bare[1] = bare_time(s, order, true);
    for (int rep = 0; rep < REPS; rep++) {
        int rc;

        pattern_fill(s->buf, SKEW_BYTES, (unsigned)rep);
        MPI_Barrier(b->pair);
        double start = clock_ns();

        rc = b->rank == 0 ? origin(s) : target(s, order, &s->compute[rep]);
        s->origin[rep] = clock_ns() - start;
        if (rc)
            host_error_text("call in epoch", rc, r.note, sizeof(r.note));
        if (host_any_failed(b->pair, rc != MPI_SUCCESS, r.note, sizeof(r.note))) {
            bench_keep(b, &r);
            return false;
        }
        if (b->rank == 1)
            check(s, rep, order);
    }
    keep(s, order, bare);
    return true;
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
        one_kind(&s);
        winmem_close(&s.w);
    }
    MPI_Group_free(&s.peer);
    free(s.buf);
    for (int i = 0; i < 3; i++)
        free(s.m[i]);
}
