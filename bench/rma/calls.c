/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.c - synchronization calls with nothing to do; see suites.h.
 *
 * On a window of all ranks: what an application pays for a flush, a lock, a
 * fence or post, start, complete and wait when no operation is outstanding. All
 * ranks fence; ranks 0 and 1 have the epoch of start and post; the passive calls
 * are rank 0's alone.
 */
#define _GNU_SOURCE 1

#include "bench/rma/suites.h"

struct calls {
    struct winmem w;
    int rank;
    int target;
    MPI_Group peer; /* of ranks 0 and 1 the other one; empty in the rest */
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

static int pscw(struct calls *c)
{
    int rc = MPI_SUCCESS;

    if (c->rank == 0) {
        rc = MPI_Win_start(c->peer, 0, c->w.win);
        rc = rc ? rc : MPI_Win_complete(c->w.win);
    } else if (c->rank == c->target) {
        rc = MPI_Win_post(c->peer, 0, c->w.win);
        rc = rc ? rc : MPI_Win_wait(c->w.win);
    }
    return rc;
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
RUN(pscw)

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

static const struct {
    const char *name;
    int (*run)(void *arg, long n);
    int (*begin)(void *arg), (*end)(void *arg);
    bool everyone; /* the slowest rank's time counts, not rank 0's */
} calls[] = {{"flush", run_flush, enter, leave, false},
             {"flush_all", run_flush_all, enter, leave, false},
             {"flush_local", run_flush_local, enter, leave, false},
             {"sync", run_sync_memory, enter, leave, false},
             {"lock_shared", run_lock_shared, nothing, nothing, false},
             {"lock_exclusive", run_lock_exclusive, nothing, nothing, false},
             {"lock_all", run_lock_all, nothing, nothing, false},
             {"fence", run_fence, nothing, fence_last, true},
             {"pscw", run_pscw, nothing, nothing, true}};

static void one_kind(struct bench *b, struct calls *c)
{
    const char *kind = winmem_name[c->w.kind];

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct result r = {.suite = "calls", .op = calls[i].name, .kind = kind, .sync = ""};
        struct work w = {.begin = calls[i].begin,
                         .run = calls[i].everyone || c->rank == 0 ? calls[i].run : idle,
                         .end = calls[i].end,
                         .arg = c,
                         .per_run = 1,
                         .all_time = calls[i].everyone};

        bench_doing(b, "calls, %s, %s", r.op, kind);
        bench_measure(b, b->all, &w, &r);
        bench_keep(b, &r);
    }
}

/* The process on the other side of the epoch of start and post. */
static MPI_Group peer_of(const struct bench *b, const struct calls *c)
{
    MPI_Group all, peer;
    const int other = c->rank == 0 ? c->target : 0;

    MPI_Comm_group(b->all, &all);
    MPI_Group_incl(all, c->rank == 0 || c->rank == c->target, &other, &peer);
    MPI_Group_free(&all);
    return peer;
}

void rma_calls(struct bench *b)
{
    static const enum winmem_kind kinds[] = {WINMEM_MALLOC, WINMEM_ALLOCATE};

    for (int k = 0; k < 2; k++) {
        struct calls c = {.rank = b->rank, .target = b->nprocs > 1 ? 1 : 0};

        if (!bench_window(b, &c.w, kinds[k], 4096, b->all, "calls", "flush"))
            continue;
        size_t from = b->results.n;

        c.peer = peer_of(b, &c);
        one_kind(b, &c);
        if (b->rank == 0)
            results_lines(&b->results, "calls", from);
        MPI_Group_free(&c.peer);
        winmem_close(&c.w);
    }
}
