/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weak_unlock.c - info key mpirma_weak_unlock: MPI_Win_unlock of a target by packets returns when
 * the origin's buffers may be used again. Whether it has waited is seen without a clock: the target
 * holds its own lock until the origin's message behind the unlock has come, and says so if it had
 * to give up. What comes later (flush, the next lock, MPI_Win_free) is ordered behind it, and
 * reports its errors. On other paths the key changes nothing, which the values show.
 */
#include "mtcomm.h"

#define GIVE_UP 5.0 /* seconds */
#define LARGE 20000 /* integers of 64 bits: many packets */
#define EPOCHS 100

static bool by_packets(const struct mt_win *w)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    MPI_Info info;
    MT_OK(MPI_Win_get_info(w->win, &info));
    MT_OK(MPI_Info_get(info, "mpirma_weak_unlock", MPI_MAX_INFO_VAL, value, &there));
    CHECK(there && strcmp(value, "true") == 0, "mpirma_weak_unlock is \"%s\"", value);
    MT_OK(MPI_Info_get(info, "mpirma_path", MPI_MAX_INFO_VAL, value, &there));
    MPI_Info_free(&info);
    return there && strstr(value, "packets") && !strstr(value, "cma");
}

static bool make(struct mt_win *w, enum mt_kind kind, MPI_Aint bytes)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_weak_unlock", "true");
    const bool made = mt_win_make_info(w, kind, bytes, 1, info, MPI_COMM_WORLD);
    MPI_Info_free(&info);
    return made;
}

static void await_origin(void)
{
    const double end = mt_now() + GIVE_UP;
    int flag = 0;
    while (!flag && mt_now() < end) {
        MT_OK(MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    }
    CHECK(flag, "MPI_Win_unlock of rank 1 waits for the lock");
}

/* Rank 1's epoch at rank 0, which holds its lock meanwhile. bad: its put is one that only the
 * target can refuse. */
static void epoch_at_locked(const struct mt_win *w, bool bad)
{
    static int64_t value[2], got;
    if (w->rank == 0) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
        await_origin();
        MT_OK(MPI_Win_unlock(0, w->win));
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (w->rank == 1) {
        const MPI_Aint at = mt_disp(w, 0, 0), nowhere = 4096;
        value[0] = 42;
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
        MT_OK(MPI_Put(value, 1, MPI_INT64_T, 0, bad ? nowhere : at, 1, MPI_INT64_T, w->win));
        MT_OK(MPI_Win_unlock(0, w->win));
        value[0] = 7; /* the origin's buffer is its own again */
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
        if (bad) {
            CHECK_ERR(MPI_Win_flush(0, w->win), MPI_ERR_RMA_RANGE);
        } else {
            MT_OK(MPI_Get(&got, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, w->win));
            MT_OK(MPI_Win_flush(0, w->win));
            CHECK(got == 42, "the next epoch gets %lld", (long long)got);
        }
        MT_OK(MPI_Win_unlock(0, w->win));
    }
}

/* Every rank changes its part at all others, in many epochs; the last thing is no flush. */
static void many_epochs(const struct mt_win *w, bool all)
{
    int64_t *out = mt_alloc(LARGE * sizeof *out), sum = 0;
    const MPI_Aint part = LARGE * 8 + 8;
    for (int e = 0; e < EPOCHS; e++) {
        for (int t = 0; t < w->size; t++) {
            const MPI_Aint at = mt_disp(w, t, w->rank * part);
            const int n = e % 10 == 9 ? LARGE : 1;
            const int64_t one = 1;
            for (int i = 0; i < n; i++) {
                out[i] = e * 100000 + i + w->rank;
            }
            MT_OK(all ? MPI_Win_lock_all(0, w->win)
                      : MPI_Win_lock(e % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, t, 0, w->win));
            MT_OK(MPI_Put(out, n, MPI_INT64_T, t, at, n, MPI_INT64_T, w->win));
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, t, at + LARGE * 8, 1, MPI_INT64_T, MPI_SUM,
                                 w->win));
            MT_OK(all ? MPI_Win_unlock_all(w->win) : MPI_Win_unlock(t, w->win));
            memset(out, 0xff, (size_t)n * sizeof *out);
        }
    }
    MT_OK(MPI_Win_lock_all(0, w->win));
    MT_OK(MPI_Win_flush_all(w->win)); /* which waits for the epochs before, too */
    MT_OK(MPI_Win_unlock_all(w->win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    for (int o = 0; o < w->size; o++) {
        const int64_t *at = (const int64_t *)(const void *)(w->base + o * part);
        for (int i = 0; i < LARGE; i++) {
            if (!CHECK(at[i] == (EPOCHS - 1) * 100000 + i + o, "element %d of rank %d is %lld", i,
                       o, (long long)at[i])) {
                break;
            }
        }
        sum += at[LARGE];
    }
    MT_OK(MPI_Win_unlock(w->rank, w->win));
    CHECK(sum % (EPOCHS * w->size) == 0 && sum > 0, "%lld accumulates have come", (long long)sum);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(out);
}

/* What MPI_Win_free alone waits for, and then a window that follows at once. */
static void freed(void)
{
    static int64_t value = 11;
    struct mt_win w;
    for (int i = 0; i < 10 && make(&w, MT_ALLOCATE, 8); i++) {
        const int right = (w.rank + 1) % w.size;
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w.win));
        MT_OK(MPI_Put(&value, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, w.win));
        MT_OK(MPI_Win_unlock(right, w.win));
        mt_win_free(&w);
    }
}

int main(int argc, char **argv)
{
    struct mt_win w;

    MT_INIT(argc, argv);
    mt_section("a locked target");
    if (make(&w, MT_ALLOCATE, 8)) {
        if (by_packets(&w)) {
            epoch_at_locked(&w, false);
        }
        mt_win_free(&w);
    }
    mt_section("a refused put");
    if (make(&w, MT_DYNAMIC, 8)) {
        if (by_packets(&w)) {
            epoch_at_locked(&w, true);
        }
        mt_win_free(&w);
    }
    for (int all = 0; all < 2; all++) {
        mt_section(all ? "many epochs of lock_all" : "many epochs");
        if (make(&w, MT_ALLOCATE, mt_size * (LARGE * 8 + 8))) {
            many_epochs(&w, all);
            mt_win_free(&w);
        }
    }
    mt_section("free");
    freed();
    return MT_FINISH();
}
