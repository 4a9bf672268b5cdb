/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overlap.c - how much of an epoch's communication a computation hides; suites.h.
 *
 * Rank 0 starts 16 puts to rank 1, computes, and completes; or rank 1 computes between its post and
 * its wait. An epoch without the computation takes Tcomm, the computation alone Tcomp, both
 * together Ttotal: (Tcomm + Tcomp - Ttotal) / Tcomm of the communication is hidden. The same is
 * measured with MPI_Isend and MPI_Irecv. Where the origin's own calls copy the bytes, nothing can
 * be hidden at the origin, whatever the library does; it shows in Tcomm. A target whose post is
 * late holds up MPI_Win_complete alone, not the puts (rma/path/deferred.h).
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/common/clock.h"
#include "bench/common/stats.h"
#include "bench/rma/compute.h"
#include "bench/rma/messages.h"
#include "bench/rma/pattern.h"
#include "bench/rma/suites.h"

#define OPS 16
#define MAX_SIZE (1 << 20)
#define REPS_OF(b) (3 * (b)->reps) /* few operations a repetition */
#define USUAL 1.2 /* the computation over the communication, where the size varies */

enum { ORIGIN, TARGET, SIDES };

struct overlap {
    struct bench *b;
    struct winmem w;
    MPI_Group peer;
    char *buf;
    struct messages messages; /* of the same bytes */
    bool sends;               /* these are measured */
    int size;
    double rate; /* rounds of the computation in a nanosecond */
    unsigned seed;
};

static int put_all(struct overlap *o, long rounds)
{
    int rc = MPI_Win_start(o->peer, 0, o->w.win);

    for (int i = 0; i < OPS && !rc; i++) {
        const MPI_Aint at = (MPI_Aint)i * o->size;

        rc = MPI_Put(o->buf + at, o->size, MPI_BYTE, 1, o->w.disp[1] + at, o->size, MPI_BYTE,
                     o->w.win);
    }
    compute(rounds);
    return rc ? rc : MPI_Win_complete(o->w.win);
}

static int expose_all(struct overlap *o, long rounds)
{
    int rc = MPI_Win_post(o->peer, 0, o->w.win);

    compute(rounds);
    return rc ? rc : MPI_Win_wait(o->w.win);
}

static int exchange(struct overlap *o, long rounds)
{
    int rc = messages_start(&o->messages);

    compute(rounds);
    return rc ? rc : messages_wait(&o->messages);
}

static void check(const struct overlap *o, const struct result *r)
{
    const size_t n = OPS * (size_t)o->size, wrong = pattern_check(o->w.base, n, o->seed);

    if (wrong < n)
        bench_wrong("overlap, %s, %s, %d bytes: byte %zu is wrong", r->kind, r->sync, o->size,
                    wrong);
}

/* The median time of an epoch at a side, at which the computation of so many rounds is. False: a
 * call failed, and *r says which. */
static bool epoch(struct overlap *o, int side, long rounds, struct result *r, double *ns)
{
    const long mine = o->b->rank == side ? rounds : 0;
    double v[3 * BENCH_MAX_REPS];

    for (int rep = 0; rep < REPS_OF(o->b); rep++) {
        int rc;

        o->seed++;
        if (o->b->rank == ORIGIN)
            pattern_fill(o->buf, OPS * (size_t)o->size, o->seed);
        MPI_Barrier(o->b->pair);
        const double start = clock_ns();

        if (o->sends)
            rc = exchange(o, mine);
        else
            rc = o->b->rank == ORIGIN ? put_all(o, mine) : expose_all(o, mine);
        v[rep] = clock_ns() - start;
        if (rc)
            host_error_text("call in epoch", rc, r->note, sizeof(r->note));
        if (host_any_failed(o->b->pair, rc != MPI_SUCCESS, r->note, sizeof(r->note)))
            return false;
        if (o->b->rank == TARGET)
            check(o, r);
    }
    *ns = stats_median(v, (size_t)REPS_OF(o->b));
    MPI_Bcast(ns, 1, MPI_DOUBLE, side, o->b->pair);
    return true;
}

/* One measurement: op names side and, where the size is fixed, how long the computation is. */
static void measure(struct overlap *o, const char *op, int side, double factor)
{
    struct result r = {.suite = "overlap",
                       .op = op,
                       .kind = winmem_name[o->w.kind],
                       .sync = o->sends ? "isend_irecv" : "pscw",
                       .size = (size_t)o->size,
                       .ns = NAN,
                       .min = NAN,
                       .max = NAN};
    double communication, total;

    bench_doing(o->b, "overlap, %s, %s, %s, %d bytes", op, r.kind, r.sync, o->size);
    o->messages.size = o->size;
    if (epoch(o, side, 0, &r, &communication)) {
        const double computation = factor * communication;

        if (epoch(o, side, (long)(computation * o->rate), &r, &total)) {
            const double hidden = (communication + computation - total) / communication;

            r.ns = r.min = r.max = total;
            r.of = communication;
            r.bare = computation;
            snprintf(r.note, sizeof(r.note), "%s: %.0f %% hidden", r.sync, 100 * hidden);
        }
    }
    bench_keep(o->b, &r);
}

static void one_kind(struct overlap *o)
{
    static const struct {
        const char *op;
        double factor;
    } longer[] = {{"origin_0.25", 0.25}, {"origin_0.5", 0.5}, {"origin_1", 1}, {"origin_2", 2}};
    static const char *const side[SIDES] = {"origin", "target"};
    const char *kind = winmem_name[o->w.kind];

    for (int sends = 0; sends < 2; sends++) {
        o->sends = sends;
        for (int s = 0; s < SIDES; s++)
            for (o->size = 4 << 10; o->size <= MAX_SIZE; o->size *= 4)
                measure(o, side[s], s, USUAL);
        o->size = MAX_SIZE;
        for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++)
            measure(o, longer[i].op, ORIGIN, longer[i].factor);
    }
    if (o->b->rank)
        return;
    for (int s = 0; s < SIDES; s++)
        results_table(&o->b->results, "overlap", side[s], kind);
    for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++)
        results_table(&o->b->results, "overlap", longer[i].op, kind);
}

void rma_overlap(struct bench *b)
{
    static const enum winmem_kind kinds[] = {WINMEM_MALLOC, WINMEM_ALLOCATE};
    struct overlap o = {.b = b, .rate = compute_rate()};
    MPI_Group both;
    int peer = 1 - b->rank;

    o.buf = malloc((size_t)OPS * MAX_SIZE);
    if (!o.buf)
        bench_wrong("no memory for the overlap test");
    MPI_Comm_group(b->pair, &both);
    MPI_Group_incl(both, 1, &peer, &o.peer);
    MPI_Group_free(&both);
    for (int k = 0; k < 2; k++) {
        if (!bench_window(b, &o.w, kinds[k], (size_t)OPS * MAX_SIZE, b->pair, "overlap", "origin"))
            continue;
        o.messages = (struct messages){.comm = b->pair,
                                       .buf = b->rank == ORIGIN ? o.buf : o.w.base,
                                       .peer = peer,
                                       .count = OPS,
                                       .sends = b->rank == ORIGIN};
        one_kind(&o);
        winmem_close(&o.w);
    }
    MPI_Group_free(&o.peer);
    free(o.buf);
}
