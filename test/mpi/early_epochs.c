/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early_epochs.c - epochs of all kinds follow each other at origins whose targets are late.
 *
 * early_epochs [STEPS]. In a step some ranks are origins and the others targets; all draw the same.
 * Each origin puts in an epoch of MPI_Win_start to each target, and at once goes on to passive
 * epochs on the same targets, with requests and flushes; the targets post when all of that may have
 * been sent long ago. Now and then a fence epoch follows, in which all ranks put to all. Nothing
 * else is between the steps, no barrier and no message. So an origin is ahead of its target by as
 * much as the library lets it, and has to wait then; it must not lose its target.
 *
 * A passive epoch on memory that is exposed breaks MPI 4.1, 12.5.3, but the hosts run such
 * programs. Each origin has a lane at each target, with a part for each kind of epoch. What was put
 * by MPI_Win_start's epochs is checked by the target after MPI_Win_wait, that of fences after the
 * fence, that of passive epochs by requests that get it back and in the end by the target, as the
 * sums of accumulates are. MTEST_SEED replays a failure.
 */
#include <unistd.h>

#include "mtcomm.h"

enum { STARTED = 24 * 1024, PASSIVE = 64, FENCED = 6 * 1024, SUMS = 8 }; /* 64-bit integers */
enum { LANE = STARTED + PASSIVE + FENCED + SUMS, MOST_RANKS = 8, MOST_REQUESTS = 40 };
enum { LATE_US = 20 * 1000 };

static int64_t out[MOST_RANKS][LANE];        /* what this step puts */
static int64_t passive[MOST_RANKS][PASSIVE]; /* what my puts have left at each target */
static int64_t sums[MOST_RANKS][SUMS];       /* and my accumulates */
static int64_t got[MOST_REQUESTS];           /* results of requests, and what they must be */
static int64_t expected[MOST_REQUESTS];

static int roll(int n) /* 0 .. n-1, the same on all ranks */
{
    return (int)mt_rand((uint64_t)n);
}

static int64_t value(int origin, int target, int step, int i)
{
    return (int64_t)origin * 1000003 + target * 7919 + (int64_t)step * 104729 + i;
}

static MPI_Aint lane(const struct mt_win *w, int origin, int target, int cell)
{
    return mt_disp(w, target, ((MPI_Aint)origin * LANE + cell) * 8);
}

static const int64_t *own_lane(const struct mt_win *w, int origin, int cell)
{
    return (const int64_t *)(const void *)w->base + (size_t)origin * LANE + cell;
}

static void put(const struct mt_win *w, int target, int step, int cell, int n)
{
    int64_t *from = out[target] + cell;
    for (int i = 0; i < n; i++)
        from[i] = value(w->rank, target, step, i);
    MT_OK(MPI_Put(from, n, MPI_INT64_T, target, lane(w, w->rank, target, cell), n, MPI_INT64_T,
                  w->win));
}

static void check_put(const struct mt_win *w, int origin, int step, int cell, int n)
{
    const int64_t *at = own_lane(w, origin, cell);
    for (int i = 0; i < n; i++) {
        const int64_t want = value(origin, w->rank, step, i);
        if (!CHECK(at[i] == want, "element %d of rank %d in step %d: %lld, not %lld", i, origin,
                   step, (long long)at[i], (long long)want))
            return;
    }
}

/* ---- passive epochs ---- */

/* One request to the target, of a kind that rng draws. Puts go to a cell of their own in the epoch,
 * number k of it, or are got back when they have been flushed: k cells below flushed. */
static void request(const struct mt_win *w, int target, int k, int flushed, struct mt_rng *rng,
                    MPI_Request *req)
{
    const uint64_t kind = mt_rng_below(rng, 3);
    const int base = STARTED, cell = kind == 1 ? (int)mt_rng_below(rng, (uint64_t)flushed + 1) : k;
    const int sum = (int)mt_rng_below(rng, SUMS);
    if (kind == 1 && cell < flushed) {
        expected[k] = passive[target][cell];
        got[k] = -1;
        MT_OK(MPI_Rget(&got[k], 1, MPI_INT64_T, target, lane(w, w->rank, target, base + cell), 1,
                       MPI_INT64_T, w->win, req));
        return;
    }
    expected[k] = got[k] = (int64_t)(mt_rng_next(rng) >> 8);
    if (kind == 2) {
        sums[target][sum] += got[k];
        MT_OK(MPI_Raccumulate(&got[k], 1, MPI_INT64_T, target,
                              lane(w, w->rank, target, base + PASSIVE + FENCED + sum), 1,
                              MPI_INT64_T, MPI_SUM, w->win, req));
        return;
    }
    passive[target][k] = got[k];
    MT_OK(MPI_Rput(&got[k], 1, MPI_INT64_T, target, lane(w, w->rank, target, base + k), 1,
                   MPI_INT64_T, w->win, req));
}

/* The requests of an epoch that has begun. */
static void requests(const struct mt_win *w, int target, struct mt_rng *rng)
{
    MPI_Request req[MOST_REQUESTS];
    MPI_Status status[MOST_REQUESTS];
    const int n = (int)mt_rng_below(rng, MOST_REQUESTS + 1);
    int flushed = 0;
    for (int k = 0; k < n; k++) {
        request(w, target, k, flushed, rng, &req[k]);
        if (mt_rng_below(rng, 8) == 0) {
            MT_OK(MPI_Win_flush(target, w->win));
            flushed = k + 1;
        }
    }
    MT_OK(MPI_Waitall(n, req, status));
    for (int k = 0; k < n; k++)
        CHECK(got[k] == expected[k], "request %d to rank %d gives %lld, not %lld", k, target,
              (long long)got[k], (long long)expected[k]);
}

static void passive_epochs(const struct mt_win *w, const bool *is_target, struct mt_rng *rng)
{
    for (int t = 0; t < w->size; t++) {
        for (uint64_t n = is_target[t] ? mt_rng_below(rng, 4) : 0; n; n--) {
            const bool all = mt_rng_below(rng, 3) == 0;
            const int asserts = mt_rng_below(rng, 3) ? 0 : MPI_MODE_NOCHECK;
            if (all)
                MT_OK(MPI_Win_lock_all(asserts, w->win));
            else
                MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, t, asserts, w->win));
            requests(w, t, rng);
            if (all)
                MT_OK(MPI_Win_unlock_all(w->win));
            else
                MT_OK(MPI_Win_unlock(t, w->win));
        }
    }
}

/* ---- steps ---- */

static MPI_Group group_of(const struct mt_win *w, const bool *of, bool members)
{
    int ranks[MOST_RANKS];
    int n = 0;
    MPI_Group all;
    MPI_Group some;
    for (int r = 0; r < w->size; r++)
        if (of[r] == members)
            ranks[n++] = r;
    MT_OK(MPI_Win_get_group(w->win, &all));
    MT_OK(MPI_Group_incl(all, n, ranks, &some));
    MT_OK(MPI_Group_free(&all));
    return some;
}

static void origin_step(const struct mt_win *w, const bool *is_target, int step, int n)
{
    struct mt_rng rng = mt_rng((uint64_t)step * MOST_RANKS + (uint64_t)w->rank);
    MPI_Group targets = group_of(w, is_target, true);
    MT_OK(MPI_Win_start(targets, 0, w->win));
    for (int t = 0; t < w->size; t++)
        if (is_target[t])
            put(w, t, step, 0, n);
    MT_OK(MPI_Win_complete(w->win));
    MT_OK(MPI_Group_free(&targets));
    passive_epochs(w, is_target, &rng);
}

static void target_step(const struct mt_win *w, const bool *is_target, int step, int n)
{
    MPI_Group origins = group_of(w, is_target, false);
    usleep(LATE_US);
    MT_OK(MPI_Win_post(origins, 0, w->win));
    MT_OK(MPI_Win_wait(w->win));
    MT_OK(MPI_Group_free(&origins));
    for (int o = 0; o < w->size; o++)
        if (!is_target[o])
            check_put(w, o, step, 0, n);
}

static void fence_step(const struct mt_win *w, int step, int n)
{
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    for (int t = 0; t < w->size; t++)
        put(w, t, step, STARTED + PASSIVE, n);
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    for (int o = 0; o < w->size; o++)
        check_put(w, o, step, STARTED + PASSIVE, n);
}

static void take_step(const struct mt_win *w, int step)
{
    bool is_target[MOST_RANKS];
    const int first = roll(w->size), ntargets = 1 + roll(w->size - 1);
    const int n = 1 + roll(roll(3) ? STARTED : 16), nfence = 1 + roll(roll(2) ? FENCED : 16);
    for (int r = 0; r < w->size; r++)
        is_target[r] = (r + w->size - first) % w->size < ntargets;
    if (is_target[w->rank])
        target_step(w, is_target, step, n);
    else
        origin_step(w, is_target, step, n);
    if (!roll(3))
        fence_step(w, step, nfence);
}

/* What passive epochs have left. */
static void check_passive(const struct mt_win *w)
{
    int64_t theirs[MOST_RANKS][PASSIVE + SUMS];
    for (int t = 0; t < w->size; t++) {
        int64_t mine[PASSIVE + SUMS];
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win)); /* of weak unlocks, too */
        MT_OK(MPI_Win_flush(t, w->win));
        MT_OK(MPI_Win_unlock(t, w->win));
        memcpy(mine, passive[t], sizeof passive[t]);
        memcpy(mine + PASSIVE, sums[t], sizeof sums[t]);
        MT_OK(MPI_Gather(mine, PASSIVE + SUMS, MPI_INT64_T, theirs, PASSIVE + SUMS, MPI_INT64_T, t,
                         MPI_COMM_WORLD));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    for (int o = 0; o < w->size; o++) {
        CHECK(!memcmp(own_lane(w, o, STARTED), theirs[o], PASSIVE * sizeof(int64_t)),
              "passive puts of rank %d are not what was put", o);
        CHECK(!memcmp(own_lane(w, o, STARTED + PASSIVE + FENCED), theirs[o] + PASSIVE,
                      SUMS * sizeof(int64_t)),
              "sums of rank %d are not what was added", o);
    }
    MT_OK(MPI_Win_unlock(w->rank, w->win));
}

static void play(bool weak, int steps)
{
    const MPI_Aint bytes = (MPI_Aint)mt_size * LANE * 8;
    struct mt_win w;
    MPI_Info info;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "mpirma_weak_unlock", weak ? "true" : "false"));
    mt_section("a window%s", weak ? " with weak unlocks" : "");
    memset(passive, 0, sizeof passive);
    memset(sums, 0, sizeof sums);
    if (mt_win_make_info(&w, MT_ALLOCATE, bytes, 8, info, MPI_COMM_WORLD)) {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int step = 0; step < steps; step++)
            take_step(&w, step);
        check_passive(&w);
        mt_win_free(&w);
    }
    MT_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int steps = argc > 1 ? atoi(argv[1]) : 10;
    CHECK(steps > 0, "steps %s, expected a positive number", argc > 1 ? argv[1] : "");
    if (CHECK(mt_size > 1 && mt_size <= MOST_RANKS, "%d ranks, expected 2 to %d", mt_size,
              MOST_RANKS)) {
        play(false, steps);
        play(true, steps);
    }
    return MT_FINISH();
}
