/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.c - see measure.h.
 */
#define _GNU_SOURCE 1
#include "bench/halo/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/clock.h"
#include "bench/common/host.h"
#include "bench/common/stats.h"
#include "bench/common/watchdog.h"

#define FULL_STEPS 2 /* steps with all contents new and checked, before timing */
#define MAX_STEPS 2000000
#define MIN_REPS 3
#define DOUBTFUL 0.25   /* a spread over this */
#define CHECKED_PART 16 /* a sixteenth as many checked steps as timed ones */

/* Steps of one measurement per mode, and the times of all measurements. */
struct series {
    long steps[HALO_MODES];
    double step_ns[HALO_MODES];  /* estimate */
    double extra_ns[HALO_MODES]; /* what a measurement costs beside its timed steps */
    double ref[HALO_MODES][HALO_MAX_REPS];
    double val[HALO_MODES][HALO_MAX_REPS];
};

static void step_failed(const struct halo *h, const struct halo_mode *mode, int rc)
{
    char text[160];

    host_error_text(mode->name, rc, text, sizeof(text));
    fprintf(stderr, "mpi-rma-halo: rank %d, step %llu: %s\n", h->rank, (unsigned long long)h->step,
            text);
    MPI_Abort(h->comm, 1);
    abort();
}

/* n steps at full speed; elapsed ns on this rank. */
static double timed_steps(struct halo *h, const struct halo_mode *mode, long n)
{
    double start = clock_ns();

    for (long i = 0; i < n; i++) {
        halo_grid_stamp(h);
        int rc = mode->step(h);

        if (rc)
            step_failed(h, mode, rc);
    }
    return clock_ns() - start;
}

static void checked_steps(struct halo *h, const struct halo_mode *mode, long n, bool full)
{
    for (long i = 0; i < n; i++) {
        if (full)
            halo_grid_fill(h);
        else
            halo_grid_stamp(h);
        int rc = mode->step(h);

        if (rc)
            step_failed(h, mode, rc);
        halo_grid_check(h, mode->name, full);
    }
}

/* One measurement: ns per step on this rank. */
static double measure(struct halo *h, const struct halo_mode *mode, long n)
{
    int rc = mode->begin(h);

    if (rc)
        step_failed(h, mode, rc);
    MPI_Barrier(h->comm);
    double ns = timed_steps(h, mode, n) / (double)n;

    halo_grid_check(h, mode->name, true);
    checked_steps(h, mode, n / CHECKED_PART + 1, false);
    rc = mode->end(h);
    if (rc)
        step_failed(h, mode, rc);
    return ns;
}

/* Collective: were ghost cells of this cell wrong on any rank, text on this one if not ""? */
static void judge(const struct halo *h, const char *text, struct halo_cell *c)
{
    char reason[sizeof(c->reason)];

    snprintf(reason, sizeof(reason), "%s", text);
    if (!host_any_failed(h->comm, reason[0] != '\0', reason, sizeof(reason)))
        return;
    c->ok = false;
    c->wrong = true;
    snprintf(c->reason, sizeof(c->reason), "%s", reason);
}

/* What has been wrong since the last call. */
static void judge_now(struct halo *h, struct halo_cell *c)
{
    judge(h, h->wrong, c);
    h->wrong[0] = '\0';
}

/* Does the mode work here at all? One step whose errors are reasons for n/a,
 * then some with full checks. */
static bool probe(struct halo *h, const struct halo_mode *mode, char *reason, size_t len)
{
    int rc = mode->begin(h);
    bool failed = rc != MPI_SUCCESS;

    if (rc == MPI_ERR_UNSUPPORTED_OPERATION) /* in words, since hosts' differ */
        snprintf(reason, len, "needs libmpi-rma");
    else if (failed)
        host_error_text("beginning", rc, reason, len);
    if (host_any_failed(h->comm, failed, reason, len))
        return false;
    halo_grid_fill(h);
    rc = mode->step(h);
    failed = rc != MPI_SUCCESS;
    if (failed)
        host_error_text("first step", rc, reason, len);
    if (host_any_failed(h->comm, failed, reason, len))
        return false;
    halo_grid_check(h, mode->name, true);
    checked_steps(h, mode, FULL_STEPS, true);
    rc = mode->end(h);
    if (rc)
        step_failed(h, mode, rc);
    return true;
}

/* ns per step; the shorter of two measurements, so that one disturbance does
 * not count, unless the steps are so slow that it doesn't matter. */
static double measure_twice(struct halo *h, const struct halo_mode *mode, long n, double slow,
                            double *extra)
{
    double best = INFINITY;

    for (int i = 0; i < 2; i++) {
        double start = clock_ns(), mine = measure(h, mode, n), all;

        *extra = clock_ns() - start - mine * (double)n;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, h->comm);
        if (all < best)
            best = all;
        if (all > slow)
            break;
    }
    return best;
}

/* Find how many steps take about block_ms; all ranks agree. */
static void calibrate(struct halo *h, const struct halo_mode *mode, double block_ms, long *steps,
                      double *step_ns, double *extra_ns)
{
    long n = 1;
    double target = block_ms * 1e6;

    for (;;) {
        double ns = measure_twice(h, mode, n, target / 4, extra_ns);
        double fit = target / (ns < 1 ? 1 : ns);

        *step_ns = ns;

        if ((double)n * ns >= target / 6 || n >= MAX_STEPS) {
            *steps = fit < 2 ? 2 : fit > MAX_STEPS ? MAX_STEPS : (long)fit;
            return;
        }
        fit = fit < (double)n * 32 ? fit / 3 : (double)n * 32;
        n = (long)fit > n ? (long)fit : n * 2;
    }
}

/* Repetitions that fit into the seconds left; rank 0 decides. */
static int choose_reps(const struct halo *h, const struct halo_plan *plan, const struct series *s,
                       const struct halo_row *row, double seconds)
{
    double ns = 0;
    int reps = plan->reps;

    for (int m = 0; m < HALO_MODES; m++)
        if (row->wanted[m] && row->cell[m].ok)
            ns += s->step_ns[m] * (double)s->steps[m] + s->extra_ns[m] + s->extra_ns[MODE_ISEND] +
                  s->step_ns[MODE_ISEND] * (double)s->steps[MODE_ISEND];
    if (ns > 0 && seconds * 1e9 < ns * reps)
        reps = (int)(seconds * 1e9 / ns);
    if (reps < MIN_REPS)
        reps = plan->reps < MIN_REPS ? plan->reps : MIN_REPS;
    MPI_Bcast(&reps, 1, MPI_INT, 0, h->comm);
    return reps;
}

bool halo_cell_doubtful(const struct halo_cell *c)
{
    return c->spread > DOUBTFUL;
}

static void summarize(struct halo_row *row, struct series *s, int reps)
{
    for (int m = 0; m < HALO_MODES; m++) {
        struct halo_cell *c = &row->cell[m];
        double ratio[HALO_MAX_REPS];

        if (!row->wanted[m] || !c->ok)
            continue;
        for (int i = 0; i < reps; i++)
            ratio[i] = s->val[m][i] / s->ref[m][i];
        c->ratio = stats_median(ratio, (size_t)reps);
        c->spread = (stats_quantile(ratio, (size_t)reps, 0.75) -
                     stats_quantile(ratio, (size_t)reps, 0.25)) /
                    c->ratio;
        c->us = stats_median(s->val[m], (size_t)reps) / 1e3;
        c->us_min = s->val[m][0] / 1e3;
        c->us_max = s->val[m][reps - 1] / 1e3;
        c->ref_us = stats_median(s->ref[m], (size_t)reps) / 1e3;
        c->steps = s->steps[m];
        c->reps = reps;
    }
}

/* All measurements; what was wrong in those of a mode, the reference beside it included, goes to
 * wrong. */
static void repeat(struct halo *h, const struct halo_plan *plan, const struct halo_row *row,
                   struct series *s, int reps, char (*wrong)[sizeof(h->wrong)])
{
    for (int i = 0; i < reps; i++) {
        for (int m = 0; m < HALO_MODES; m++) {
            if (!row->wanted[m] || !row->cell[m].ok)
                continue;
            watchdog_arm(plan->timeout, "halo, %s, %zu bytes, mode %s", winmem_name[row->kind],
                         row->size, halo_modes[m].name);
            s->ref[m][i] = measure(h, &halo_modes[MODE_ISEND], s->steps[MODE_ISEND]);
            s->val[m][i] = measure(h, &halo_modes[m], s->steps[m]);
            if (!wrong[m][0])
                memcpy(wrong[m], h->wrong, sizeof(h->wrong));
            h->wrong[0] = '\0';
        }
    }
}

/* The slowest rank's times, on rank 0. */
static void collect(const struct halo *h, struct series *s)
{
    double(*all)[HALO_MAX_REPS] = h->rank == 0 ? malloc(sizeof(s->ref)) : NULL;

    if (h->rank == 0 && !all) {
        fprintf(stderr, "mpi-rma-halo: no memory for the results\n");
        MPI_Abort(h->comm, 1);
    }
    MPI_Reduce(s->ref, all, HALO_MODES * HALO_MAX_REPS, MPI_DOUBLE, MPI_MAX, 0, h->comm);
    if (h->rank == 0)
        memcpy(s->ref, all, sizeof(s->ref));
    MPI_Reduce(s->val, all, HALO_MODES * HALO_MAX_REPS, MPI_DOUBLE, MPI_MAX, 0, h->comm);
    if (h->rank == 0)
        memcpy(s->val, all, sizeof(s->val));
    free(all);
}

static void open_failed(struct halo_row *row, const char *reason)
{
    for (int m = 0; m < HALO_MODES; m++) {
        row->cell[m].ok = false;
        snprintf(row->cell[m].reason, sizeof(row->cell[m].reason), "%s", reason);
    }
}

/* Without isend/irecv there is nothing to compare with. */
static void reference_failed(struct halo_row *row)
{
    for (int m = 0; m < HALO_MODES; m++)
        if (m != MODE_ISEND)
            row->cell[m] = row->cell[MODE_ISEND];
}

void halo_measure_row(struct halo *h, const struct halo_plan *plan, double seconds,
                      struct halo_row *row)
{
    static struct series s;
    static char wrong[HALO_MODES][sizeof(h->wrong)];
    double start = clock_ns();
    char reason[160] = "";

    memset(&s, 0, sizeof(s));
    memset(wrong, 0, sizeof(wrong));
    watchdog_arm(plan->timeout, "halo, %s, %zu bytes, creating windows", winmem_name[row->kind],
                 row->size);
    if (halo_grid_open(h, row->kind, row->size, reason, sizeof(reason))) {
        open_failed(row, reason);
        return;
    }
    for (int m = 0; m < HALO_MODES; m++) {
        struct halo_cell *c = &row->cell[m];

        if (!row->wanted[m] && m != MODE_ISEND)
            continue;
        watchdog_arm(plan->timeout, "halo, %s, %zu bytes, first steps of mode %s",
                     winmem_name[row->kind], row->size, halo_modes[m].name);
        c->ok = probe(h, &halo_modes[m], c->reason, sizeof(c->reason));
        if (c->ok)
            judge_now(h, c);
        if (c->ok)
            calibrate(h, &halo_modes[m], m == MODE_ISEND ? plan->block_ms / 2 : plan->block_ms,
                      &s.steps[m], &s.step_ns[m], &s.extra_ns[m]);
        if (c->ok)
            judge_now(h, c);
        if (m == MODE_ISEND && !c->ok) {
            reference_failed(row);
            break;
        }
    }
    seconds -= (clock_ns() - start) / 1e9;
    int reps = choose_reps(h, plan, &s, row, seconds);

    repeat(h, plan, row, &s, reps, wrong);
    collect(h, &s);
    for (int m = 0; m < HALO_MODES; m++)
        if (row->wanted[m] && row->cell[m].ok)
            judge(h, wrong[m], &row->cell[m]);
    watchdog_arm(plan->timeout, "halo, %s, %zu bytes, freeing windows", winmem_name[row->kind],
                 row->size);
    halo_grid_close(h);
    watchdog_arm(0, "idle");
    if (h->rank == 0)
        summarize(row, &s, reps);
}
