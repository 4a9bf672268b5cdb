/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active.c - every rank communicates at once; see suites.h.
 *
 * For runs with more ranks than processors: the primitives that a host which
 * spins makes a thousand times slower there. Each rank is the origin of its
 * right neighbour and the target of its left one; lock_exclusive and
 * fetch_and_op all go to rank 0. Sums are verified.
 */
#define _GNU_SOURCE 1
#include <string.h>

#include "bench/rma/suites.h"

struct active {
    struct bench *b;
    struct winmem w;
    MPI_Group left, right;
    int to;
    int64_t one, result;
    int64_t done;
    int (*round)(struct active *a);
};

static int put(struct active *a)
{
    return MPI_Put(&a->one, 1, MPI_INT64_T, a->to, a->w.disp[a->to] + 64, 1, MPI_INT64_T, a->w.win);
}

static int fence(struct active *a)
{
    int rc = put(a);

    return rc ? rc : MPI_Win_fence(0, a->w.win);
}

static int pscw(struct active *a)
{
    int rc = MPI_Win_post(a->left, 0, a->w.win);

    if (!rc)
        rc = MPI_Win_start(a->right, 0, a->w.win);
    if (!rc)
        rc = put(a);
    if (!rc)
        rc = MPI_Win_complete(a->w.win);
    return rc ? rc : MPI_Win_wait(a->w.win);
}

static int lock_put(struct active *a)
{
    int rc = MPI_Win_lock(MPI_LOCK_SHARED, a->to, 0, a->w.win);

    if (!rc)
        rc = put(a);
    return rc ? rc : MPI_Win_unlock(a->to, a->w.win);
}

static int lock_exclusive(struct active *a)
{
    int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, a->w.win);

    a->done++;
    if (!rc)
        rc = MPI_Accumulate(&a->one, 1, MPI_INT64_T, 0, a->w.disp[0], 1, MPI_INT64_T, MPI_SUM,
                            a->w.win);
    return rc ? rc : MPI_Win_unlock(0, a->w.win);
}

static int fetch_and_op(struct active *a)
{
    int rc = MPI_Fetch_and_op(&a->one, &a->result, MPI_INT64_T, 0, a->w.disp[0], MPI_SUM, a->w.win);

    a->done++;
    return rc ? rc : MPI_Win_flush(0, a->w.win);
}

static int barrier(struct active *a)
{
    return MPI_Barrier(a->b->all);
}

static int nothing(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

static int fence_first(void *arg)
{
    return MPI_Win_fence(MPI_MODE_NOPRECEDE, ((struct active *)arg)->w.win);
}

static int fence_last(void *arg)
{
    return MPI_Win_fence(MPI_MODE_NOSUCCEED, ((struct active *)arg)->w.win);
}

static int enter(void *arg)
{
    return MPI_Win_lock_all(0, ((struct active *)arg)->w.win);
}

static int leave(void *arg)
{
    return MPI_Win_unlock_all(((struct active *)arg)->w.win);
}

static const struct {
    const char *name;
    int (*round)(struct active *a);
    int (*begin)(void *arg);
    int (*end)(void *arg);
    bool puts, sums; /* what to verify */
} rounds[] = {{"barrier", barrier, nothing, nothing, false, false},
              {"fence", fence, fence_first, fence_last, true, false},
              {"pscw", pscw, nothing, nothing, true, false},
              {"lock", lock_put, nothing, nothing, true, false},
              {"lock_exclusive", lock_exclusive, nothing, nothing, false, true},
              {"fetch_and_op", fetch_and_op, enter, leave, false, true}};

static int run(void *arg, long n)
{
    struct active *a = arg;
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++)
        rc = a->round(a);
    return rc;
}

static void clear(struct active *a)
{
    int rc = bench_own_begin(&a->w);

    a->done = 0;
    memset(a->w.base, 0, a->w.size);
    rc = rc ? rc : bench_own_end(&a->w);
    if (rc)
        bench_wrong("active: cannot lock the own window");
    MPI_Barrier(a->b->all);
}

static void verify(struct active *a, const struct result *r, bool puts, bool sums)
{
    int64_t total = 0, want_put = puts, got_sum, got_put;
    int rc;

    MPI_Allreduce(&a->done, &total, 1, MPI_INT64_T, MPI_SUM, a->b->all);
    rc = bench_own_begin(&a->w);
    memcpy(&got_sum, a->w.base, sizeof(got_sum));
    memcpy(&got_put, a->w.base + 64, sizeof(got_put));
    rc = rc ? rc : bench_own_end(&a->w);
    if (rc)
        bench_wrong("active: cannot lock the own window");
    if (got_put != want_put)
        bench_wrong("%s by all ranks, %s: the word put is %lld, expected %lld", r->op, r->kind,
                    (long long)got_put, (long long)want_put);
    if (sums && a->b->rank == 0 && got_sum != total)
        bench_wrong("%s by all ranks, %s: the sum is %lld, expected %lld", r->op, r->kind,
                    (long long)got_sum, (long long)total);
}

static void one_kind(struct active *a)
{
    struct bench *b = a->b;

    for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
        struct result r = {.suite = "active",
                           .op = rounds[i].name,
                           .kind = winmem_name[a->w.kind],
                           .sync = "",
                           .size = 8};
        struct work w = {.begin = rounds[i].begin,
                         .run = run,
                         .end = rounds[i].end,
                         .arg = a,
                         .per_run = 1,
                         .all_time = true};

        bench_doing(b, "active, %s, %s", r.op, r.kind);
        a->round = rounds[i].round;
        clear(a);
        if (bench_measure(b, b->all, &w, &r))
            verify(a, &r, rounds[i].puts, rounds[i].sums);
        bench_keep(b, &r);
    }
}

void rma_active(struct bench *b)
{
    static const enum winmem_kind kinds[] = {WINMEM_MALLOC, WINMEM_ALLOCATE};
    int from = (b->rank + b->nprocs - 1) % b->nprocs;
    struct active a = {.b = b, .to = (b->rank + 1) % b->nprocs, .one = 1};
    MPI_Group all;

    MPI_Comm_group(b->all, &all);
    MPI_Group_incl(all, 1, &from, &a.left);
    MPI_Group_incl(all, 1, &a.to, &a.right);
    MPI_Group_free(&all);
    for (int k = 0; k < 2; k++) {
        if (!bench_window(b, &a.w, kinds[k], 4096, b->all, "active", "fence"))
            continue;
        size_t from = b->results.n;

        one_kind(&a);
        if (b->rank == 0)
            results_lines(&b->results, "active", from);
        winmem_close(&a.w);
    }
    MPI_Group_free(&a.left);
    MPI_Group_free(&a.right);
}
