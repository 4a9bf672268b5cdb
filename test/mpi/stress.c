/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stress.c - every kind of synchronization in turn, for a bounded time, with exact results.
 *
 * stress [SECONDS]. One window of each flavour is alive all the time. Each turn
 * takes the next of them through a fence phase, a PSCW ring, exclusive locks
 * around a read-modify-write, and contended accumulates; ranks are late at
 * random. Rank 0 ends the run by a flag that it puts within a fence epoch, so
 * that all ranks make the same number of turns. Meant for more ranks than cores.
 */
#include "mtcomm.h"

/* Layout of a window: three int64, then one cell per origin for each kind of put. */
enum { STOP = 0, LOCKED = 8, SUMMED = 16, CELLS = 24 };
#define CELL 48
#define BULK 40000

static int64_t load(const struct mt_win *w, MPI_Aint at)
{
    int64_t v;
    memcpy(&v, w->base + at, sizeof v);
    return v;
}

static MPI_Aint cell(int origin)
{
    return CELLS + (MPI_Aint)origin * CELL;
}

static MPI_Aint bulk(void)
{
    return CELLS + (MPI_Aint)mt_size * CELL;
}

static uint32_t tag_of(int from, int to, int turn)
{
    return (uint32_t)(from * 64 + to + turn * 4096);
}

static void fence_phase(const struct mt_win *w, int turn, bool stop, char *src)
{
    int64_t flag = stop;

    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    for (int i = 0; i < w->size; i++) {
        int t = (w->rank + i) % w->size;
        mt_fill(src + t * CELL, CELL, tag_of(w->rank, t, turn));
        MT_OK(MPI_Put(src + t * CELL, CELL, MPI_BYTE, t, mt_disp(w, t, cell(w->rank)), CELL,
                      MPI_BYTE, w->win));
        if (w->rank == 0) {
            MT_OK(MPI_Put(&flag, 1, MPI_INT64_T, t, mt_disp(w, t, STOP), 1, MPI_INT64_T, w->win));
        }
    }
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE, w->win));
    for (int o = 0; o < w->size; o++) {
        CHECK_FILL(w->base + cell(o), CELL, tag_of(o, w->rank, turn));
    }
}

static void pscw_phase(const struct mt_win *w, int turn, char *src)
{
    int right = (w->rank + 1) % w->size, left = (w->rank - 1 + w->size) % w->size;
    MPI_Group to = mt_group_one(w, right), from = mt_group_one(w, left);

    for (int i = 0; i < 3; i++) {
        int bytes = i == 2 ? BULK : CELL;
        MT_OK(MPI_Win_post(from, 0, w->win));
        MT_OK(MPI_Win_start(to, 0, w->win));
        mt_fill(src, (size_t)bytes, tag_of(w->rank, right, turn + i));
        MT_OK(MPI_Put(src, bytes, MPI_BYTE, right, mt_disp(w, right, bulk()), bytes, MPI_BYTE,
                      w->win));
        MT_OK(MPI_Win_complete(w->win));
        MT_OK(MPI_Win_wait(w->win));
        CHECK_FILL(w->base + bulk(), (size_t)bytes, tag_of(left, w->rank, turn + i));
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    mt_sync(w); /* before anybody locks what somebody else still exposes */
}

static void lock_phase(const struct mt_win *w, int turn)
{
    int64_t v;

    for (int i = 0; i < 2; i++) {
        int target = (turn + i) % w->size;
        MPI_Aint at = mt_disp(w, target, LOCKED);
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
        MT_OK(MPI_Get(&v, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, w->win));
        MT_OK(MPI_Win_flush(target, w->win));
        v++;
        MT_OK(MPI_Put(&v, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, w->win));
        MT_OK(MPI_Win_unlock(target, w->win));
    }
}

/* Each rank adds exactly `size` to every target, by two kinds of calls. */
static void acc_phase(const struct mt_win *w)
{
    int64_t one = 1, old, most = w->size - 1;

    MT_OK(MPI_Win_lock_all(0, w->win));
    for (int t = 0; t < w->size; t++) {
        int target = (w->rank + t) % w->size;
        MPI_Aint at = mt_disp(w, target, SUMMED);
        MT_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, target, at, MPI_SUM, w->win));
        if (t % 2 == 0) {
            MT_OK(MPI_Win_flush(target, w->win));
        }
        MT_OK(MPI_Accumulate(&most, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_SUM, w->win));
    }
    MT_OK(MPI_Win_unlock_all(w->win));
}

static void turns(struct mt_win *w, const bool *have, double seconds)
{
    struct mt_rng rng = mt_rng((uint64_t)mt_rank + 1);
    int made[MT_KINDS] = {0}, turn = 0;
    int64_t locked[MT_KINDS] = {0};
    double end = mt_now() + seconds;
    size_t cells = (size_t)mt_size * CELL;
    char *src = mt_alloc(cells > BULK ? cells : BULK);
    bool stop = false;

    for (; !stop; turn++) {
        int k = turn % MT_KINDS;
        if (!have[k]) {
            continue;
        }
        mt_section("turn %d, %s", turn, mt_kind_name((enum mt_kind)k));
        if (mt_rng_below(&rng, 10) == 0) {
            mt_compute(0.001);
        }
        fence_phase(&w[k], turn, mt_rank == 0 && mt_now() > end, src);
        stop = load(&w[k], STOP) != 0;
        mt_sync(&w[k]);
        pscw_phase(&w[k], turn, src);
        lock_phase(&w[k], turn);
        acc_phase(&w[k]);
        mt_sync(&w[k]);
        made[k]++;
        for (int i = 0; i < 2; i++) {
            locked[k] += (turn + i) % mt_size == mt_rank ? mt_size : 0;
        }
        int64_t sum = load(&w[k], SUMMED), want = (int64_t)made[k] * mt_size * mt_size;
        CHECK(sum == want, "sum %ld, expected %ld", (long)sum, (long)want);
        CHECK(load(&w[k], LOCKED) == locked[k], "counter %ld, expected %ld",
              (long)load(&w[k], LOCKED), (long)locked[k]);
    }
    if (mt_rank == 0) {
        printf("stress: %d turns\n", turn);
    }
    free(src);
}

int main(int argc, char **argv)
{
    struct mt_win w[MT_KINDS];
    bool have[MT_KINDS], any = false;

    MT_INIT(argc, argv);
    double seconds = argc > 1 ? atof(argv[1]) : 1.0;
    MT_FOR_KINDS(kind)
    {
        have[kind] = mt_win_make(&w[kind], kind, bulk() + BULK, 1, MPI_COMM_WORLD);
        any |= have[kind];
        if (have[kind]) {
            mt_sync(&w[kind]);
        }
    }
    if (CHECK(any, "no window could be made")) {
        turns(w, have, seconds);
    }
    MT_FOR_KINDS(kind)
    {
        if (have[kind]) {
            mt_win_free(&w[kind]);
        }
    }
    return MT_FINISH();
}
