/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc.c - accumulate and get_accumulate, SUM of doubles; see suites.h.
 *
 * Rank 0 adds ones to rank 1's elements, contiguous or every other one. Every
 * sum must come out exactly as the number of operations, gaps must stay zero,
 * and what get_accumulate fetches must be one less than that.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include "bench/rma/anchors.h"
#include "bench/rma/epochs.h"
#include "bench/rma/suites.h"

static const char *const op_name[] = {"accumulate", "accumulate_strided", "get_accumulate",
                                      "get_accumulate_strided"};

struct acc {
    struct winmem w;
    double *ones, *fetched;
    int count;
    int stride; /* 1 or 2 doubles */
    MPI_Datatype target;
    int target_count;
    long done; /* operations since the target was cleared */
};

static int one_accumulate(void *arg)
{
    struct acc *a = arg;

    a->done++;
    return MPI_Accumulate(a->ones, a->count, MPI_DOUBLE, 1, a->w.disp[1], a->target_count,
                          a->target, MPI_SUM, a->w.win);
}

static int one_get_accumulate(void *arg)
{
    struct acc *a = arg;

    a->done++;
    return MPI_Get_accumulate(a->ones, a->count, MPI_DOUBLE, a->fetched, a->count, MPI_DOUBLE, 1,
                              a->w.disp[1], a->target_count, a->target, MPI_SUM, a->w.win);
}

static int run_accumulate(void *epochs, long n)
{
    return epochs_loop(epochs, n, one_accumulate);
}

static int run_get_accumulate(void *epochs, long n)
{
    return epochs_loop(epochs, n, one_get_accumulate);
}

static void clear(struct bench *b, struct acc *a)
{
    int rc = MPI_SUCCESS;

    a->done = 0;
    if (b->rank == 1) {
        rc = bench_own_begin(&a->w);
        memset(a->w.base, 0, a->w.size);
        rc = rc ? rc : bench_own_end(&a->w);
    }
    if (rc)
        bench_wrong("accumulate: cannot lock the own window");
    MPI_Barrier(b->pair);
}

static void check_sums(struct acc *a, const struct result *r, long done)
{
    const double *v = (const double *)a->w.base;

    for (int i = 0; i < a->count * a->stride; i++) {
        double want = i % a->stride ? 0 : (double)done;

        if (v[i] != want)
            bench_wrong(
                "%s of %zu bytes, %s, %s: element %d is %.17g after %ld operations, expected %.17g",
                r->op, r->size, r->kind, r->sync, i, v[i], done, want);
    }
}

static void check_fetched(struct acc *a, const struct result *r, long done)
{
    for (int i = 0; i < a->count; i++)
        if (a->fetched[i] != (double)(done - 1))
            bench_wrong("%s of %zu bytes, %s, %s: element %d fetched as %.17g by operation %ld, "
                        "expected %ld",
                        r->op, r->size, r->kind, r->sync, i, a->fetched[i], done, done - 1);
}

static void verify(struct bench *b, struct acc *a, const struct result *r, bool fetches)
{
    long done = a->done;

    MPI_Bcast(&done, 1, MPI_LONG, 0, b->pair);
    if (b->rank == 0 && fetches)
        check_fetched(a, r, done);
    if (b->rank == 1) {
        int rc = bench_own_begin(&a->w);

        check_sums(a, r, done);
        rc = rc ? rc : bench_own_end(&a->w);
        if (rc)
            bench_wrong("accumulate: cannot lock the own window");
    }
    MPI_Barrier(b->pair);
}

static bool one_size(struct bench *b, struct acc *a, int op, enum sync_kind sync, size_t size)
{
    struct result r = {.suite = "acc",
                       .op = op_name[op],
                       .kind = winmem_name[a->w.kind],
                       .sync = sync_name[sync],
                       .size = size};
    bool fetches = op >= 2, ok;
    struct epochs e;

    a->count = (int)(size / sizeof(double));
    a->stride = op % 2 ? 2 : 1;
    a->target = MPI_DOUBLE;
    a->target_count = a->count;
    if (a->stride == 2) {
        MPI_Type_vector(a->count, 1, 2, MPI_DOUBLE, &a->target);
        MPI_Type_commit(&a->target);
        a->target_count = 1;
    }
    bench_doing(b, "%s, %s, %s, %zu bytes", r.op, r.kind, r.sync, size);
    clear(b, a);
    epochs_init(&e, sync, a->w.win, b->pair, fetches ? run_get_accumulate : run_accumulate, a);

    struct work w = epochs_work(&e), beside;

    if (op == 0 && sync == SYNC_LOCK_ALL && anchor_work(b, "add", size, &beside))
        w.beside = &beside;

    ok = bench_measure(b, b->pair, &w, &r);
    if (ok)
        verify(b, a, &r, fetches);
    bench_keep(b, &r);
    epochs_free(&e);
    if (a->stride == 2)
        MPI_Type_free(&a->target);
    return ok;
}

static void one_kind(struct bench *b, struct acc *a)
{
    static const enum sync_kind sync[] = {SYNC_LOCK, SYNC_LOCK_ALL};

    for (int op = 0; op < 4; op++) {
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < b->acc_sizes.n; i++)
                if (!one_size(b, a, op, sync[s], b->acc_sizes.v[i]))
                    break;
        if (b->rank == 0)
            results_table(&b->results, "acc", op_name[op], winmem_name[a->w.kind]);
    }
}

void rma_acc(struct bench *b)
{
    struct acc a = {.done = 0};
    size_t most = 0;

    for (int i = 0; i < b->acc_sizes.n; i++)
        most = b->acc_sizes.v[i] > most ? b->acc_sizes.v[i] : most;
    a.ones = malloc(most);
    a.fetched = malloc(most);
    if (!a.ones || !a.fetched)
        bench_wrong("no memory for %zu bytes", most);
    for (size_t i = 0; i < most / sizeof(double); i++) {
        a.ones[i] = 1;
        a.fetched[i] = -1;
    }
    for (int kind = 0; kind < WINMEM_KINDS; kind++) {
        if (!bench_window(b, &a.w, kind, 2 * most, b->pair, "acc", op_name[0]))
            continue;
        one_kind(b, &a);
        winmem_close(&a.w);
    }
    free(a.ones);
    free(a.fetched);
}
