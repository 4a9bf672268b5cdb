/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.c - synchronization calls with nothing to do; see suites.h.
 *
 * On a window of all ranks: what an application pays for a flush, a lock or a
 * fence when no operation is outstanding. All ranks fence; the passive calls
 * are rank 0's alone.
 */
#define _GNU_SOURCE 1

#include "bench/rma/suites.h"

struct calls {
    struct winmem w;
    int rank;
    int target;
};

static int flush(struct calls *c)
{
    return MPI_Win_flush(c->target, c->w.win);
}

static int flush_all(struct calls *c)
{
    return MPI_Win_flush_all(c->w.win);
}

static int flush_local(struct calls *c)
{
    return MPI_Win_flush_local(c->target, c->w.win);
}

static int sync_memory(struct calls *c)
{
    return MPI_Win_sync(c->w.win);
}

static int lock_shared(struct calls *c)
{
    int rc = MPI_Win_lock(MPI_LOCK_SHARED, c->target, 0, c->w.win);

    return rc ? rc : MPI_Win_unlock(c->target, c->w.win);
}

static int lock_exclusive(struct calls *c)
{
    int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, c->target, 0, c->w.win);

    return rc ? rc : MPI_Win_unlock(c->target, c->w.win);
}

static int lock_all(struct calls *c)
{
    int rc = MPI_Win_lock_all(0, c->w.win);

    return rc ? rc : MPI_Win_unlock_all(c->w.win);
}

static int fence(struct calls *c)
{
    return MPI_Win_fence(0, c->w.win);
}

/* Inlined with its call, so that it is called directly: on some processors a call
 * through a pointer costs more than what is to be measured. */
static inline __attribute__((always_inline)) int repeat(struct calls *c, long n,
                                                        int (*call)(struct calls *c))
{
    int rc = MPI_SUCCESS;

    for (long i = 0; i < n && !rc; i++)
        rc = call(c);
    return rc;
}

#define RUN(call)                            \
    static int run_##call(void *arg, long n) \
    {                                        \
        return repeat(arg, n, call);         \
    }
RUN(flush)
RUN(flush_all)
RUN(flush_local)
RUN(sync_memory)
RUN(lock_shared)
RUN(lock_exclusive)
RUN(lock_all)
RUN(fence)

static const struct {
    const char *name;
    int (*run)(void *arg, long n);
    bool in_lock_all; /* inside a lock_all epoch of rank 0 */
    bool everyone;
} calls[] = {{"flush", run_flush, true, false},
             {"flush_all", run_flush_all, true, false},
             {"flush_local", run_flush_local, true, false},
             {"sync", run_sync_memory, true, false},
             {"lock_shared", run_lock_shared, false, false},
             {"lock_exclusive", run_lock_exclusive, false, false},
             {"lock_all", run_lock_all, false, false},
             {"fence", run_fence, false, true}};

static int nothing(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

static int idle(void *arg, long n)
{
    (void)arg, (void)n;
    return MPI_SUCCESS;
}

static int enter(void *arg)
{
    struct calls *c = arg;

    return c->rank == 0 ? MPI_Win_lock_all(0, c->w.win) : MPI_SUCCESS;
}

static int leave(void *arg)
{
    struct calls *c = arg;

    return c->rank == 0 ? MPI_Win_unlock_all(c->w.win) : MPI_SUCCESS;
}

static int fence_last(void *arg)
{
    struct calls *c = arg;

    return MPI_Win_fence(MPI_MODE_NOSUCCEED, c->w.win);
}

static void one_kind(struct bench *b, struct calls *c)
{
    const char *kind = winmem_name[c->w.kind];

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct result r = {.suite = "calls", .op = calls[i].name, .kind = kind, .sync = ""};
        struct work w = {.begin = calls[i].in_lock_all ? enter : nothing,
                         .run = calls[i].everyone || c->rank == 0 ? calls[i].run : idle,
                         .end = calls[i].in_lock_all ? leave
                                : calls[i].everyone  ? fence_last
                                                     : nothing,
                         .arg = c,
                         .per_run = 1,
                         .all_time = calls[i].everyone};

        bench_doing(b, "calls, %s, %s", r.op, kind);
        bench_measure(b, b->all, &w, &r);
        bench_keep(b, &r);
    }
}

void rma_calls(struct bench *b)
{
    static const enum winmem_kind kinds[] = {WINMEM_MALLOC, WINMEM_ALLOCATE};

    for (int k = 0; k < 2; k++) {
        struct calls c = {.rank = b->rank, .target = b->nprocs > 1 ? 1 : 0};

        if (!bench_window(b, &c.w, kinds[k], 4096, b->all, "calls", "flush"))
            continue;
        size_t from = b->results.n;

        one_kind(b, &c);
        if (b->rank == 0)
            results_lines(&b->results, "calls", from);
        winmem_close(&c.w);
    }
}
