/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * origins.c - many origins of one target, and many targets of one origin; suites.h.
 *
 * Rank 0 has a window with each other rank, one for each pair. With k of them it is the target of k
 * origins, each of which puts 16 times into its own window, or the origin of k targets. With a size
 * of 0 nothing is put: the epochs are empty, and only synchronization is measured. The time is
 * rank 0's, from its first call to its last; all begin behind a barrier. The same bytes by
 * MPI_Isend and MPI_Irecv stand beside, and the misses of rank 0's caches where they are counted.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/common/clock.h"
#include "bench/common/stats.h"
#include "bench/rma/messages.h"
#include "bench/rma/misses.h"
#include "bench/rma/pattern.h"
#include "bench/rma/suites.h"

#define OPS 16
#define MAX_SIZE (512 << 10)
#define MAX_PEERS 7
#define REPS_OF(b) (3 * (b)->reps) /* few operations a repetition */

/* A window of rank 0 and one other rank, in which rank 0 is rank 0. */
struct two {
    MPI_Comm comm; /* MPI_COMM_NULL in other ranks */
    MPI_Group peer;
    struct winmem w;
    char *buf; /* what the origin puts */
    struct messages messages;
};

struct origins {
    struct bench *b;
    struct two two[MAX_PEERS]; /* two[i] is of ranks 0 and i + 1 */
    int peers;                 /* as many as take part */
    int size;
    bool many_targets; /* rank 0 is the origin */
    bool sends;        /* send and receive are measured */
    unsigned seed;
    int misses; /* counter of rank 0, or -1 */
    char no_misses[96];
};

static bool is_origin(const struct origins *o)
{
    return (o->b->rank == 0) == o->many_targets;
}

static int put_all(struct origins *o, struct two *t)
{
    const int target = o->many_targets ? 1 : 0;
    int rc = MPI_Win_start(t->peer, 0, t->w.win);

    for (int i = 0; i < OPS && o->size > 0 && !rc; i++) {
        const MPI_Aint at = (MPI_Aint)i * o->size;

        rc = MPI_Put(t->buf + at, o->size, MPI_BYTE, target, t->w.disp[target] + at, o->size,
                     MPI_BYTE, t->w.win);
    }
    return rc ? rc : MPI_Win_complete(t->w.win);
}

/* The pairs of this rank: all that take part, or its own. */
static struct two *first(struct origins *o)
{
    return &o->two[o->b->rank ? o->b->rank - 1 : 0];
}

static struct two *last(struct origins *o)
{
    return o->b->rank ? first(o) : &o->two[o->peers - 1];
}

static int by_windows(struct origins *o)
{
    int rc = MPI_SUCCESS;

    if (is_origin(o)) {
        for (struct two *t = first(o); t <= last(o) && !rc; t++)
            rc = put_all(o, t);
        return rc;
    }
    for (struct two *t = first(o); t <= last(o) && !rc; t++)
        rc = MPI_Win_post(t->peer, 0, t->w.win);
    for (struct two *t = first(o); t <= last(o) && !rc; t++)
        rc = MPI_Win_wait(t->w.win);
    return rc;
}

static int by_messages(struct origins *o)
{
    int rc = MPI_SUCCESS;

    for (struct two *t = first(o); t <= last(o); t++)
        t->messages = (struct messages){.comm = t->comm,
                                        .buf = is_origin(o) ? t->buf : t->w.base,
                                        .peer = o->b->rank ? 0 : 1,
                                        .count = OPS,
                                        .size = o->size,
                                        .sends = is_origin(o)};
    for (struct two *t = first(o); t <= last(o) && !rc; t++)
        rc = messages_start(&t->messages);
    for (struct two *t = first(o); t <= last(o) && !rc; t++)
        rc = messages_wait(&t->messages);
    return rc;
}

static void check(struct origins *o, const struct result *r)
{
    const size_t n = OPS * (size_t)o->size;

    for (struct two *t = first(o); t <= last(o); t++) {
        const size_t wrong = pattern_check(t->w.base, n, o->seed);

        if (wrong < n)
            bench_wrong("origins, %s, %s, %s, %zu bytes, window %d: byte %zu is wrong", r->op,
                        r->kind, r->sync, r->size, (int)(t - o->two), wrong);
    }
}

/* One epoch of all that take part; the time and the misses of rank 0. */
static int epoch(struct origins *o, double *ns, double *misses)
{
    int rc = MPI_SUCCESS;
    const bool takes_part = o->b->rank <= o->peers;

    o->seed++;
    if (takes_part && is_origin(o))
        for (struct two *t = first(o); t <= last(o); t++)
            pattern_fill(t->buf, OPS * (size_t)o->size, o->seed);
    MPI_Barrier(o->b->all);
    const double before = o->misses >= 0 ? misses_read(o->misses) : 0;
    const double start = clock_ns();

    if (takes_part)
        rc = o->sends ? by_messages(o) : by_windows(o);
    *ns = clock_ns() - start;
    *misses = o->misses >= 0 ? misses_read(o->misses) - before : 0;
    return rc;
}

static void measure(struct origins *o, const char *op)
{
    const double kib = (double)o->peers * OPS * o->size / 1024;
    struct result r = {.suite = "origins",
                       .op = op,
                       .kind = winmem_name[o->two[0].w.kind],
                       .sync = o->sends ? "isend_irecv" : "pscw",
                       .size = (size_t)o->size,
                       .ns = NAN,
                       .min = NAN,
                       .max = NAN};
    double v[3 * BENCH_MAX_REPS], misses[3 * BENCH_MAX_REPS];
    const int reps = REPS_OF(o->b);

    bench_doing(o->b, "origins, %s, %s, %s, %d bytes", op, r.kind, r.sync, o->size);
    for (int rep = 0; rep < reps; rep++) {
        const int rc = epoch(o, &v[rep], &misses[rep]);

        if (rc)
            host_error_text("call in epoch", rc, r.note, sizeof(r.note));
        if (host_any_failed(o->b->all, rc != MPI_SUCCESS, r.note, sizeof(r.note))) {
            bench_keep(o->b, &r);
            return;
        }
        if (o->b->rank <= o->peers && !is_origin(o))
            check(o, &r);
    }
    r.ns = stats_median(v, (size_t)reps);
    r.min = v[0];
    r.max = v[reps - 1];
    if (o->misses >= 0 && o->size > 0)
        snprintf(r.note, sizeof(r.note), "%s, %d bytes: %.2f cache misses of rank 0 for a KiB",
                 r.sync, o->size, stats_median(misses, (size_t)reps) / kib);
    else if (o->misses < 0)
        snprintf(r.note, sizeof(r.note), "%s", o->no_misses);
    bench_keep(o->b, &r);
}

static void one_kind(struct origins *o, int peers)
{
    static const char *const name[2][MAX_PEERS] = {
        {"1_origin", "2_origins", "3_origins", "4_origins", "5_origins", "6_origins", "7_origins"},
        {"1_target", "2_targets", "3_targets", "4_targets", "5_targets", "6_targets", "7_targets"}};
    static const int sizes[] = {0, 8, 64 << 10, MAX_SIZE};
    const char *kind = winmem_name[o->two[0].w.kind];

    for (int many = 0; many < 2; many++)
        for (int k = 0; k < peers; k++) {
            o->many_targets = many;
            o->peers = k + 1;
            for (int sends = 0; sends < 2; sends++)
                for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                    o->sends = sends;
                    o->size = sizes[i];
                    if (!sends || o->size > 0) /* no message says less than an empty epoch */
                        measure(o, name[many][k]);
                }
            if (o->b->rank == 0)
                results_table(&o->b->results, "origins", name[many][k], kind);
        }
}

static void open_two(struct origins *o, int i)
{
    struct two *t = &o->two[i];
    const bool member = o->b->rank == 0 || o->b->rank == i + 1;
    MPI_Group both;
    int rank, peer;

    MPI_Comm_split(o->b->all, member ? 0 : MPI_UNDEFINED, o->b->rank, &t->comm);
    if (!member)
        return;
    MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(t->comm, &rank);
    peer = 1 - rank;
    MPI_Comm_group(t->comm, &both);
    MPI_Group_incl(both, 1, &peer, &t->peer);
    MPI_Group_free(&both);
    t->buf = calloc(OPS, MAX_SIZE);
    if (!t->buf)
        bench_wrong("no memory for the test of many origins");
}

static void close_two(struct two *t)
{
    if (t->comm == MPI_COMM_NULL)
        return;
    free(t->buf);
    MPI_Group_free(&t->peer);
    MPI_Comm_free(&t->comm);
}

/* A window of each pair. False, and the results say why: some could not be had. */
static bool open_windows(struct origins *o, enum winmem_kind kind, int peers)
{
    struct result r = {.suite = "origins",
                       .op = "1_origin",
                       .kind = winmem_name[kind],
                       .sync = "pscw",
                       .ns = NAN,
                       .min = NAN,
                       .max = NAN};
    bool failed = false;

    for (int i = 0; i < peers; i++)
        if (o->two[i].comm != MPI_COMM_NULL)
            failed |= winmem_open(&o->two[i].w, kind, (size_t)OPS * MAX_SIZE, o->two[i].comm,
                                  r.note, sizeof(r.note)) != 0;
    if (!host_any_failed(o->b->all, failed, r.note, sizeof(r.note)))
        return true;
    bench_keep(o->b, &r);
    return false;
}

void rma_origins(struct bench *b)
{
    static const enum winmem_kind kinds[] = {WINMEM_MALLOC, WINMEM_ALLOCATE};
    const int peers = b->nprocs - 1 < MAX_PEERS ? b->nprocs - 1 : MAX_PEERS;
    struct origins o = {.b = b, .misses = -1};

    if (b->rank == 0)
        o.misses = misses_open(o.no_misses, sizeof(o.no_misses));
    for (int i = 0; i < peers; i++)
        open_two(&o, i);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        if (!(b->kinds >> kinds[k] & 1) || !open_windows(&o, kinds[k], peers))
            continue;
        one_kind(&o, peers);
        for (int i = 0; i < peers; i++)
            if (o.two[i].comm != MPI_COMM_NULL)
                winmem_close(&o.two[i].w);
    }
    for (int i = 0; i < peers; i++)
        close_two(&o.two[i]);
    if (o.misses >= 0)
        close(o.misses);
}
