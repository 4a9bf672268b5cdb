/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * passive.c - one-sided calls while the target computes; see suites.h.
 *
 * Rank 1 computes for compute_s seconds without an MPI call, or until rank 0
 * has enough samples and says so through the peer map. Rank 0 times each
 * operation with its completion; where the host needs the target's help the
 * first sample lasts until the computation ends. What the computation loses is
 * measured too, against its own speed just before.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/clock.h"
#include "bench/common/stats.h"
#include "bench/rma/epochs.h"
#include "bench/rma/suites.h"

#define MAX_SAMPLES 20000
#define DOUBLES 8
#define ALONE_S 0.05
#define ENOUGH_S 0.2 /* of samples, when the target does not block */

struct passive {
    struct bench *b;
    struct winmem w;
    MPI_Datatype strided;
    double ones[DOUBLES];
    int64_t one, fetched;
    double put;
    long done;
};

static int one_put(struct passive *p)
{
    p->put = (double)p->done;
    return MPI_Put(&p->put, 1, MPI_DOUBLE, 1, p->w.disp[1], 1, MPI_DOUBLE, p->w.win);
}

static int one_acc(struct passive *p)
{
    return MPI_Accumulate(p->ones, DOUBLES, MPI_DOUBLE, 1, p->w.disp[1], DOUBLES, MPI_DOUBLE,
                          MPI_SUM, p->w.win);
}

static int one_strided(struct passive *p)
{
    return MPI_Accumulate(p->ones, DOUBLES, MPI_DOUBLE, 1, p->w.disp[1], 1, p->strided, MPI_SUM,
                          p->w.win);
}

static int one_fetch(struct passive *p)
{
    return MPI_Fetch_and_op(&p->one, &p->fetched, MPI_INT64_T, 1, p->w.disp[1], MPI_SUM, p->w.win);
}

static const struct {
    const char *name;
    int (*op)(struct passive *p);
    int stride; /* doubles between the elements that must hold the sum */
    int count;
} ops[] = {{"put", one_put, 1, 1},
           {"accumulate", one_acc, 1, DOUBLES},
           {"accumulate_strided", one_strided, 2, DOUBLES},
           {"fetch_and_op", one_fetch, 1, 0}};

#define OPS (int)(sizeof(ops) / sizeof(ops[0]))

/* ---- the target ---- */

/* About ten microseconds of arithmetic in registers. */
static void slice(void)
{
    double x = 1.0;

    for (int i = 0; i < 4000; i++) {
        x = x * 1.0000001 + 1e-9;
        __asm__ volatile("" : "+x"(x));
    }
}

/* Slices per second until the time is over or rank 0 says stop. */
static double compute(struct peer_control *control, double seconds)
{
    double start = clock_ns(), now;
    long n = 0;

    do {
        slice();
        n++;
        now = clock_ns();
    } while (now - start < seconds * 1e9 &&
             !(control && atomic_load_explicit(&control->stop, memory_order_acquire)));
    return (double)n / ((now - start) / 1e9);
}

/* Part of its speed that the computation loses while rank 0 works, in percent. */
static double target(struct passive *p)
{
    struct peer_control *c = p->b->map.control;
    double alone = compute(NULL, ALONE_S), busy;

    atomic_store_explicit(&c->go, 1, memory_order_release);
    busy = compute(c, p->b->compute_s);
    atomic_store_explicit(&c->go, 0, memory_order_release);
    return 100 * (1 - busy / alone);
}

/* ---- the origin ---- */

static int timed_op(struct passive *p, int op, bool lock, double *ns)
{
    double start = clock_ns();
    int rc = lock ? MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, p->w.win) : MPI_SUCCESS;

    p->done++;
    if (!rc)
        rc = ops[op].op(p);
    if (!rc)
        rc = lock ? MPI_Win_unlock(1, p->w.win) : MPI_Win_flush(1, p->w.win);
    *ns = clock_ns() - start;
    return rc;
}

/* Keep the target under way for ENOUGH_S, so that its own speed can be told. */
static int origin(struct passive *p, int op, bool lock, double *sample, size_t *n)
{
    struct peer_control *c = p->b->map.control;
    double start, ns;
    int rc = MPI_SUCCESS;

    while (!atomic_load_explicit(&c->go, memory_order_acquire))
        place_relax(p->b->place.oversubscribed);
    start = clock_ns();
    *n = 0;
    while (!rc && atomic_load_explicit(&c->go, memory_order_acquire) &&
           clock_ns() - start < ENOUGH_S * 1e9) {
        rc = timed_op(p, op, lock, &ns);
        if (*n < MAX_SAMPLES)
            sample[(*n)++] = ns;
    }
    atomic_store_explicit(&c->stop, 1, memory_order_release);
    return rc;
}

/* ---- both ---- */

static void verify(struct passive *p, int op, const struct result *r)
{
    long done = p->done;
    double want, *v = (double *)p->w.base;
    int rc = MPI_SUCCESS;

    MPI_Bcast(&done, 1, MPI_LONG, 0, p->b->pair);
    if (p->b->rank == 1) {
        want = (double)done;
        rc = bench_own_begin(&p->w);
        for (int i = 0; i < ops[op].count * ops[op].stride; i++)
            if (v[i] != (i % ops[op].stride ? 0 : want))
                bench_wrong("%s with a computing target, %s, %s: element %d is %g, expected %g",
                            r->op, r->kind, r->sync, i, v[i], i % ops[op].stride ? 0 : want);
        if (ops[op].count == 0 && *(int64_t *)p->w.base != done)
            bench_wrong("%s with a computing target, %s, %s: the word is %lld, expected %ld", r->op,
                        r->kind, r->sync, (long long)*(int64_t *)p->w.base, done);
        rc = rc ? rc : bench_own_end(&p->w);
    }
    if (rc)
        bench_wrong("passive: cannot lock the own window");
    MPI_Barrier(p->b->pair);
}

static void clear(struct passive *p)
{
    struct peer_control *c = p->b->map.control;
    int rc = MPI_SUCCESS;

    p->done = 0;
    if (p->b->rank == 1) {
        atomic_store_explicit(&c->go, 0, memory_order_relaxed);
        atomic_store_explicit(&c->stop, 0, memory_order_relaxed);
        rc = bench_own_begin(&p->w);
        memset(p->w.base, 0, p->w.size);
        rc = rc ? rc : bench_own_end(&p->w);
    }
    if (rc)
        bench_wrong("passive: cannot lock the own window");
    MPI_Barrier(p->b->pair);
}

/* What reading the clock twice adds to a sample. */
static double clock_cost(void)
{
    double v[101];

    for (int i = 0; i < 101; i++) {
        v[i] = clock_ns();
        v[i] = clock_ns() - v[i];
    }
    return stats_median(v, 101);
}

static void finish(struct passive *p, struct result *r, double *sample, size_t n, double slowed)
{
    double clock = clock_cost();

    MPI_Bcast(&slowed, 1, MPI_DOUBLE, 1, p->b->pair);
    if (p->b->rank != 0)
        return;
    double first = n ? sample[0] : NAN;

    r->ns = stats_median(sample, n) - clock;
    r->min = stats_quantile(sample, n, 0) - clock;
    r->max = stats_quantile(sample, n, 0.99) - clock;
    if (n && r->ns > 0.4e9 * p->b->compute_s)
        snprintf(r->note, sizeof(r->note), "blocked until the target called MPI");
    else
        snprintf(r->note, sizeof(r->note),
                 "%zu samples, first %.1f us, 99 %% under %.2f us, target slowed %.1f %%", n,
                 first / 1e3, r->max / 1e3, slowed);
}

static void one(struct passive *p, int op, bool lock, double *sample)
{
    struct bench *b = p->b;
    struct result r = {.suite = "passive",
                       .op = ops[op].name,
                       .kind = winmem_name[p->w.kind],
                       .sync = sync_name[lock ? SYNC_LOCK : SYNC_LOCK_ALL],
                       .size = ops[op].count > 1 ? 64 : 8,
                       .ns = NAN,
                       .min = NAN,
                       .max = NAN};
    double slowed = 0;
    size_t n = 0;
    int rc = MPI_SUCCESS;

    bench_doing(b, "passive, %s, %s, %s", r.op, r.kind, r.sync);
    clear(p);
    if (b->rank == 0 && !lock)
        rc = MPI_Win_lock_all(0, p->w.win);
    MPI_Barrier(b->pair);
    if (b->rank == 1)
        slowed = target(p);
    else if (!rc)
        rc = origin(p, op, lock, sample, &n);
    else
        atomic_store_explicit(&b->map.control->stop, 1, memory_order_release);
    MPI_Barrier(b->pair);
    if (b->rank == 0 && !lock && !rc)
        rc = MPI_Win_unlock_all(p->w.win);
    if (rc)
        host_error_text("call in epoch", rc, r.note, sizeof(r.note));
    if (!host_any_failed(b->pair, rc != MPI_SUCCESS, r.note, sizeof(r.note))) {
        finish(p, &r, sample, n, slowed);
        verify(p, op, &r);
    }
    bench_keep(b, &r);
}

void rma_passive(struct bench *b)
{
    static const enum winmem_kind kinds[] = {WINMEM_MALLOC, WINMEM_ALLOCATE, WINMEM_DYNAMIC};
    struct passive p = {.b = b, .one = 1};
    double *sample = malloc(MAX_SAMPLES * sizeof(*sample));

    if (!sample)
        bench_wrong("no memory for samples");
    for (int i = 0; i < DOUBLES; i++)
        p.ones[i] = 1;
    MPI_Type_vector(DOUBLES, 1, 2, MPI_DOUBLE, &p.strided);
    MPI_Type_commit(&p.strided);
    for (int k = 0; k < 3; k++) {
        if (!b->map.control || !bench_window(b, &p.w, kinds[k], 4096, b->pair, "passive", "put"))
            continue;
        size_t from = b->results.n;

        for (int op = 0; op < OPS; op++) {
            one(&p, op, true, sample);
            one(&p, op, false, sample);
        }
        if (b->rank == 0)
            results_lines(&b->results, "passive", from);
        winmem_close(&p.w);
    }
    MPI_Type_free(&p.strided);
    free(sample);
}
