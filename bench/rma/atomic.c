/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic.c - fetch_and_op and compare_and_swap on 8 bytes; suites.h.
 *
 * All operations go to one word at rank 1. Alone, rank 0 does them; contended,
 * both ranks at once. Sums must come out exactly: every fetch_and_op adds one,
 * every successful compare_and_swap adds one.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bench/rma/anchors.h"
#include "bench/rma/epochs.h"
#include "bench/rma/suites.h"

struct atomic {
    struct winmem w;
    int64_t operand, compare, result;
    int64_t done; /* what this rank has added since the word was cleared */
    bool both;
    int rank;
};

/* Looped over by functions that are inlined with their operation, so that it is called
 * directly: on some processors a call through a pointer costs more than the operation. */
typedef int (*atomic_op)(struct atomic *a);
#define INLINE inline __attribute__((always_inline))

static int one_fetch_and_op(struct atomic *a)
{
    a->done++;
    return MPI_Fetch_and_op(&a->operand, &a->result, MPI_INT64_T, 1, a->w.disp[1], MPI_SUM,
                            a->w.win);
}

/* The caller looks at result after the flush. */
static int one_cas(struct atomic *a)
{
    a->operand = a->compare + 1;
    return MPI_Compare_and_swap(&a->operand, &a->compare, &a->result, MPI_INT64_T, 1, a->w.disp[1],
                                a->w.win);
}

static void cas_done(struct atomic *a)
{
    if (a->result == a->compare) {
        a->done++;
        a->compare++;
    } else {
        a->compare = a->result;
    }
}

static int begin_all(void *arg)
{
    struct atomic *a = arg;

    return a->both || a->rank == 0 ? MPI_Win_lock_all(0, a->w.win) : MPI_SUCCESS;
}

static int end_all(void *arg)
{
    struct atomic *a = arg;

    return a->both || a->rank == 0 ? MPI_Win_unlock_all(a->w.win) : MPI_SUCCESS;
}

static INLINE int loop_flush(struct atomic *a, long n, atomic_op op)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc && (a->both || a->rank == 0); i++) {
        rc = op(a);
        if (!rc)
            rc = MPI_Win_flush(1, a->w.win);
        if (op == one_cas)
            cas_done(a);
    }
    return rc;
}

static int nothing(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

static INLINE int loop_lock(struct atomic *a, long n, atomic_op op)
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc && a->rank == 0; i++) {
        rc = MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, a->w.win);
        if (!rc)
            rc = op(a);
        if (!rc)
            rc = MPI_Win_unlock(1, a->w.win);
        if (op == one_cas)
            cas_done(a);
    }
    return rc;
}

#define RUN(loop, op)                               \
    static int run_##loop##_##op(void *arg, long n) \
    {                                               \
        return loop_##loop(arg, n, one_##op);       \
    }
RUN(flush, fetch_and_op)
RUN(flush, cas)
RUN(lock, fetch_and_op)
RUN(lock, cas)

static int64_t own_word(struct atomic *a, int64_t set, bool write)
{
    int64_t *word = (int64_t *)a->w.base, old;
    int rc = bench_own_begin(&a->w);

    old = *word;
    if (write)
        *word = set;
    rc = rc ? rc : bench_own_end(&a->w);
    if (rc)
        bench_wrong("atomic: cannot lock the own window");
    return old;
}

static void verify(struct bench *b, struct atomic *a, const struct result *r)
{
    int64_t total;

    MPI_Allreduce(&a->done, &total, 1, MPI_INT64_T, MPI_SUM, b->pair);
    if (b->rank == 1) {
        int64_t got = own_word(a, 0, false);

        if (got != total)
            bench_wrong("%s, %s, %s: the word is %lld, expected %lld", r->op, r->kind, r->sync,
                        (long long)got, (long long)total);
    }
    MPI_Barrier(b->pair);
}

/* Open MPI 4.1.4's osc/rdma emulates compare_and_swap in its shared-memory
 * transport. On memory of MPI_Win_allocate the target follows an address of the
 * origin and crashes; on other memory the origin crashes when it is the target
 * too, for want of an endpoint. */
static bool host_crashes(const struct bench *b, enum winmem_kind kind, bool both)
{
    if (b->try_all || b->host.library || strncmp(b->host.name, "Open MPI v4.", 12))
        return false;
    return kind == WINMEM_ALLOCATE || (both && kind != WINMEM_SHARED);
}

static void one(struct bench *b, struct atomic *a, const char *op, bool cas, bool both, bool lock)
{
    struct result r = {.suite = "atomic",
                       .op = op,
                       .kind = winmem_name[a->w.kind],
                       .sync = sync_name[lock ? SYNC_LOCK : SYNC_LOCK_ALL],
                       .size = 8};
    struct work w = {.begin = lock ? nothing : begin_all,
                     .run = lock  ? cas ? run_lock_cas : run_lock_fetch_and_op
                            : cas ? run_flush_cas
                                  : run_flush_fetch_and_op,
                     .end = lock ? nothing : end_all,
                     .arg = a,
                     .per_run = 1,
                     .all_time = both},
                beside;

    a->operand = 1;
    a->compare = a->done = 0;
    a->both = both;
    bench_doing(b, "%s, %s, %s", op, r.kind, r.sync);
    if (cas && host_crashes(b, a->w.kind, both)) {
        r.ns = r.min = r.max = NAN;
        snprintf(r.note, sizeof(r.note), "not tried: Open MPI 4 crashes here (%s), see --try-all",
                 a->w.kind == WINMEM_ALLOCATE ? "at the target" : "when the target is the caller");
        bench_keep(b, &r);
        return;
    }
    if (b->rank == 1)
        own_word(a, 0, true);
    MPI_Barrier(b->pair); /* before anybody holds a lock_all epoch */
    if (both && anchor_work(b, cas ? "cas_both" : "fetch_add_both", 8, &beside))
        w.beside = &beside;
    if (bench_measure(b, b->pair, &w, &r))
        verify(b, a, &r);
    bench_keep(b, &r);
}

void rma_atomic(struct bench *b)
{
    static const char *const names[] = {"fetch_and_op", "cas", "fetch_and_op_both", "cas_both"};

    size_t from = b->results.n;

    for (int kind = 0; kind < WINMEM_KINDS; kind++) {
        struct atomic a = {.rank = b->rank};

        if (!bench_window(b, &a.w, kind, 4096, b->pair, "atomic", names[0]))
            continue;
        one(b, &a, names[0], false, false, true);
        one(b, &a, names[0], false, false, false);
        one(b, &a, names[1], true, false, true);
        one(b, &a, names[1], true, false, false);
        one(b, &a, names[2], false, true, false);
        one(b, &a, names[3], true, true, false);
        winmem_close(&a.w);
    }
    if (b->rank == 0)
        results_lines(&b->results, "atomic", from);
}
