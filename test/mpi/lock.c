/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.c - passive target synchronization (MPI 4.1, 12.5.3 and 12.5.4).
 *
 * Exclusive locks exclude: a read-modify-write by get and put, small and large,
 * loses nothing. Shared locks are shared, lock_all competes with exclusive ones,
 * nobody starves, locks on several targets nest, the owner's lock on itself
 * competes with the others'. Then flushes, requests, no_locks and NOCHECK.
 */
#include "mtcomm.h"

static int times = 60;

/* Read-modify-write of a block of longs, all equal; a torn or lost update shows. */
static void exclusion(enum mt_kind kind, int longs, int n)
{
    struct mt_win w;
    size_t bytes = (size_t)longs * sizeof(long);
    long *buf = mt_alloc(bytes);

    mt_section("exclusion, %d longs, %s", longs, mt_kind_name(kind));
    if (mt_win_make(&w, kind, (MPI_Aint)bytes, 1, MPI_COMM_WORLD)) {
        int bad = 0;
        mt_sync(&w);
        for (int i = 0; i < n; i++) {
            int target = i % w.size; /* all ranks on the same one, its owner too */
            MPI_Aint at = mt_disp(&w, target, 0);
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win));
            MT_OK(MPI_Get(buf, longs, MPI_LONG, target, at, longs, MPI_LONG, w.win));
            MT_OK(MPI_Win_flush(target, w.win));
            long first = buf[0];
            for (int k = 0; k < longs; k++) {
                bad += buf[k] != first;
                buf[k] = first + 1;
            }
            MT_OK(MPI_Put(buf, longs, MPI_LONG, target, at, longs, MPI_LONG, w.win));
            MT_OK(MPI_Win_unlock(target, w.win));
        }
        CHECK(bad == 0, "%d longs differed from their block: torn under an exclusive lock", bad);
        mt_sync(&w);
        long want = (long)((n - w.rank + w.size - 1) / w.size) * w.size;
        memcpy(buf, w.base, bytes);
        CHECK(buf[0] == want && buf[longs - 1] == want, "%ld and %ld, expected %ld", buf[0],
              buf[longs - 1], want);
        mt_win_free(&w);
    }
    free(buf);
}

/* Under the exclusive lock on itself a rank may use load and store. */
static void self_load_store(enum mt_kind kind)
{
    struct mt_win w;
    long v;

    mt_section("lock on self with load and store, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    for (int i = 0; i < times; i++) {
        int target = i % 2 == 0 ? 0 : w.rank;
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win));
        if (target == w.rank) {
            memcpy(&v, w.base, sizeof v);
            v++;
            memcpy(w.base, &v, sizeof v);
        } else {
            MT_OK(MPI_Get(&v, 1, MPI_LONG, target, mt_disp(&w, target, 0), 1, MPI_LONG, w.win));
            MT_OK(MPI_Win_flush(target, w.win));
            v++;
            MT_OK(MPI_Put(&v, 1, MPI_LONG, target, mt_disp(&w, target, 0), 1, MPI_LONG, w.win));
        }
        MT_OK(MPI_Win_unlock(target, w.win));
    }
    mt_sync(&w);
    memcpy(&v, w.base, sizeof v);
    long half = (times + 1) / 2, want = (times - half) + (w.rank == 0 ? half * w.size : 0);
    CHECK(v == want, "%ld, expected %ld", v, want);
    mt_win_free(&w);
}

/* Shared locks of all ranks are held at the same time: each waits, holding its own, for all others.
 */
static void shared_is_shared(enum mt_kind kind)
{
    struct mt_win w;
    int one = 1, seen = 0;

    mt_section("shared locks at the same time, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 4, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    for (int round = 1; round <= 5; round++) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, mt_disp(&w, 0, 0), 1, MPI_INT, MPI_SUM, w.win));
        do { /* would never end if a shared lock excluded another */
            MT_OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT, 0, mt_disp(&w, 0, 0), MPI_NO_OP, w.win));
            MT_OK(MPI_Win_flush(0, w.win));
        } while (seen < round * w.size);
        MT_OK(MPI_Win_unlock(0, w.win));
        mt_sync(&w);
    }
    mt_win_free(&w);
}

/* lock_all with accumulates competes with exclusive read-modify-writes of others. */
static void lock_all_competes(enum mt_kind kind)
{
    struct mt_win w;
    long one = 1, v = 0;

    mt_section("lock_all against exclusive locks, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 16, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    for (int i = 0; i < times; i++) {
        int target = i % w.size;
        MPI_Aint at = mt_disp(&w, target, 8);
        if ((i + w.rank) % 3 == 0) {
            MT_OK(MPI_Win_lock_all(0, w.win));
            MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM, w.win));
            MT_OK(MPI_Win_unlock_all(w.win));
        } else {
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win));
            MT_OK(MPI_Get(&v, 1, MPI_LONG, target, at, 1, MPI_LONG, w.win));
            MT_OK(MPI_Win_flush(target, w.win));
            v++;
            MT_OK(MPI_Put(&v, 1, MPI_LONG, target, at, 1, MPI_LONG, w.win));
            MT_OK(MPI_Win_unlock(target, w.win));
        }
    }
    mt_sync(&w);
    memcpy(&v, w.base + 8, sizeof v);
    long want = (long)((times - w.rank + w.size - 1) / w.size) * w.size;
    CHECK(v == want, "%ld, expected %ld", v, want);
    mt_win_free(&w);
}

/* Nobody starves: while the others lock and unlock without pause, each rank gets its share and
 * ends. The others stop when all have announced that they are done, so a starved rank would hang
 * the section. */
static void fairness(enum mt_kind kind)
{
    struct mt_win w;
    int one = 1, done = 0, mine = 0, quota = times / 2;
    double worst = 0;

    mt_section("fairness, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    do {
        double start = mt_now();
        int type = w.rank % 3 == 2 ? MPI_LOCK_EXCLUSIVE
                   : mine % 2      ? MPI_LOCK_EXCLUSIVE
                                   : MPI_LOCK_SHARED;
        MT_OK(MPI_Win_lock(type, 0, 0, w.win));
        double took = mt_now() - start;
        worst = took > worst ? took : worst;
        if (++mine == quota) {
            MT_OK(
                MPI_Accumulate(&one, 1, MPI_INT, 0, mt_disp(&w, 0, 0), 1, MPI_INT, MPI_SUM, w.win));
        }
        MT_OK(MPI_Fetch_and_op(NULL, &done, MPI_INT, 0, mt_disp(&w, 0, 0), MPI_NO_OP, w.win));
        MT_OK(MPI_Win_unlock(0, w.win));
    } while (done < w.size);
    CHECK(mine >= quota, "%d locks", mine);
    CHECK(worst < 5, "waited %.1f s for one lock", worst);
    mt_win_free(&w);
}

/* Locks on all targets held together, taken in rank order so that no cycle is possible. */
static void nested(enum mt_kind kind)
{
    struct mt_win w;
    long v;

    mt_section("nested locks, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    for (int i = 0; i < times / 6; i++) {
        for (int t = 0; t < w.size; t++) {
            MT_OK(MPI_Win_lock(t % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, t, 0, w.win));
        }
        for (int t = w.size - 1; t >= 0; t--) {
            if (t % 2 == 0) {
                MT_OK(MPI_Get(&v, 1, MPI_LONG, t, mt_disp(&w, t, 0), 1, MPI_LONG, w.win));
                MT_OK(MPI_Win_flush(t, w.win));
                v++;
                MT_OK(MPI_Put(&v, 1, MPI_LONG, t, mt_disp(&w, t, 0), 1, MPI_LONG, w.win));
                MT_OK(MPI_Win_flush_local(t, w.win));
            }
        }
        for (int t = 0; t < w.size; t++) {
            MT_OK(MPI_Win_unlock((t + i) % w.size, w.win));
        }
    }
    mt_sync(&w);
    memcpy(&v, w.base, sizeof v);
    CHECK(v == (w.rank % 2 ? 0 : (long)(times / 6) * w.size), "%ld", v);
    mt_win_free(&w);
}

/* No operation, NOCHECK, flushes of nothing, every flush, request-based operations within locks. */
static void flushes(enum mt_kind kind)
{
    struct mt_win w;
    long v = 0, got = -1;
    MPI_Request req[2];
    MPI_Status st[2];

    mt_section("flushes and requests, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, mt_size * 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    for (int t = 0; t < w.size; t++) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w.win));
        MT_OK(MPI_Win_unlock(t, w.win));
    }
    mt_sync(&w); /* NOCHECK: nobody holds it exclusively */
    for (int t = 0; t < w.size; t++) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, t, MPI_MODE_NOCHECK, w.win));
        MT_OK(MPI_Win_unlock(t, w.win));
    }
    for (int pass = 0; pass < 2; pass++) {
        MT_OK(MPI_Win_lock_all(pass == 0 ? 0 : MPI_MODE_NOCHECK, w.win));
        MT_OK(MPI_Win_flush_all(w.win));
        MT_OK(MPI_Win_flush_local_all(w.win));
        MT_OK(MPI_Win_sync(w.win));
        for (int t = 0; t < w.size; t++) {
            MPI_Aint at = mt_disp(&w, t, w.rank * 8);
            MT_OK(MPI_Win_flush(t, w.win));
            MT_OK(MPI_Win_flush_local(t, w.win));
            v = w.rank * 100 + t + pass * 10000;
            MT_OK(MPI_Put(&v, 1, MPI_LONG, t, at, 1, MPI_LONG, w.win));
            if (t % 2) {
                MT_OK(MPI_Win_flush(t, w.win));
            } else {
                MT_OK(MPI_Win_flush_all(w.win));
            }
            MT_OK(MPI_Get(&got, 1, MPI_LONG, t, at, 1, MPI_LONG, w.win));
            if (t % 2) {
                MT_OK(MPI_Win_flush_local(t, w.win)); /* a get is complete when it is locally */
            } else {
                MT_OK(MPI_Win_flush_local_all(w.win));
            }
            CHECK(got == v, "%ld, expected %ld", got, v);
            v++;
            MT_OK(MPI_Rput(&v, 1, MPI_LONG, t, at, 1, MPI_LONG, w.win, &req[0]));
            MT_OK(MPI_Wait(&req[0], &st[0]));
            MT_OK(MPI_Win_flush(t, w.win));
            MT_OK(MPI_Rget(&got, 1, MPI_LONG, t, at, 1, MPI_LONG, w.win, &req[0]));
            MT_OK(MPI_Raccumulate(&v, 0, MPI_LONG, t, at, 0, MPI_LONG, MPI_SUM, w.win, &req[1]));
            MT_OK(MPI_Waitall(2, req, st));
            CHECK(got == v, "rget: %ld, expected %ld", got, v);
        }
        MT_OK(MPI_Win_unlock_all(w.win));
    }
    mt_sync(&w);
    for (int o = 0; o < w.size; o++) {
        memcpy(&v, w.base + o * 8, sizeof v);
        CHECK(v == o * 100 + w.rank + 10000 + 1, "from %d: %ld", o, v);
    }
    mt_win_free(&w);
}

/* Rank 0 alone locks, while the others wait in a call of the host. */
static void locked_despite_hint(struct mt_win *w, int target)
{
    long add = 1, seen = -1;

    mt_sync(w);
    for (int i = 0; w->rank == 0 && i < 3; i++) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
        MT_OK(MPI_Accumulate(&add, 1, MPI_LONG, target, mt_disp(w, target, 0), 1, MPI_LONG, MPI_SUM,
                             w->win));
        MT_OK(MPI_Win_unlock(target, w->win));
        MT_OK(MPI_Win_lock_all(0, w->win));
        MT_OK(MPI_Get(&seen, 1, MPI_LONG, target, mt_disp(w, target, 0), 1, MPI_LONG, w->win));
        MT_OK(MPI_Win_flush(target, w->win));
        MT_OK(MPI_Win_unlock_all(w->win));
        CHECK(seen == i + 1, "despite no_locks: %ld, expected %d", seen, i + 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPI_Win_lock_all(0, w->win));
    MT_OK(MPI_Win_unlock_all(w->win));
}

/* no_locks is a promise (12.2.1). A program that locks all the same is served, as on the hosts,
 * but with MPIRMA_STRICT; other epochs work as ever. */
static void no_locks(enum mt_kind kind)
{
    struct mt_win w;
    MPI_Info info;
    const char *strict = getenv("MPIRMA_STRICT");
    long v = mt_rank + 1, seen;

    mt_section("no_locks, %s", mt_kind_name(kind));
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "no_locks", "true"));
    if (mt_win_make_info(&w, kind, 8, 1, info, MPI_COMM_WORLD)) {
        int target = (w.rank + 1) % w.size;
        if (strict != NULL && strcmp(strict, "1") == 0) {
            CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win), MPI_ERR_RMA_SYNC);
            CHECK_ERR(MPI_Win_lock_all(0, w.win), MPI_ERR_RMA_SYNC);
        } else {
            locked_despite_hint(&w, target);
        }
        mt_sync(&w);
        mt_epoch_begin(&w, MT_EP_PSCW, target, (w.rank - 1 + w.size) % w.size);
        MT_OK(MPI_Put(&v, 1, MPI_LONG, target, mt_disp(&w, target, 0), 1, MPI_LONG, w.win));
        mt_epoch_end(&w, MT_EP_PSCW, target);
        memcpy(&seen, w.base, sizeof seen);
        CHECK(seen == (w.rank - 1 + w.size) % w.size + 1, "%ld", seen);
        mt_win_free(&w);
    }
    MT_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    times = (int)mt_rounds(times);
    MT_FOR_KINDS(kind)
    {
        exclusion(kind, 1, times);
        exclusion(kind, 700, times / 2);
        exclusion(kind, 40000, 6);
        self_load_store(kind);
        shared_is_shared(kind);
        lock_all_competes(kind);
        fairness(kind);
        nested(kind);
        flushes(kind);
        no_locks(kind);
    }
    return MT_FINISH();
}
