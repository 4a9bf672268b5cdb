/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock_all_order.c - several locks and MPI_Win_lock_all, in orders in which no process waits for a
 * lock that another one holds while that one waits for a lock of the first. Nobody may hang:
 *
 *   untouched  rank 0 holds an exclusive lock on 1 and asks for 2; rank 3 holds lock_all and
 *              accesses 1 only
 *   crosswise  two ranks hold shared locks, or lock_all of two windows, and ask for the other's;
 *              two others wait for exclusive locks on both
 *   turns      all ranks do random ones of these at random targets, exclusive locks in ascending
 *              order
 *
 * Messages make the first two orders certain, as far as it can be seen that a rank waits.
 */
#include "mtcomm.h"

enum { WAITS_MS = 30, ROUNDS = 300 };

static void signal_to(int rank)
{
    MT_OK(MPI_Send(NULL, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD));
}

static void await(int rank)
{
    MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void add_one(const struct mt_win *w, int target)
{
    const int64_t one = 1;
    MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, mt_disp(w, target, 0), 1, MPI_INT64_T,
                         MPI_SUM, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
}

/* By then another rank, which has been told to go on, waits for a lock. */
static void let_wait(void)
{
    const double end = mt_now() + WAITS_MS * 1e-3;
    int flag;
    while (mt_now() < end) {
        MT_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    }
}

static void lock(const struct mt_win *w, int type, int target)
{
    MT_OK(MPI_Win_lock(type, target, 0, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
}

static void untouched(const struct mt_win *w)
{
    if (w->rank == 0) {
        lock(w, MPI_LOCK_EXCLUSIVE, 1);
        add_one(w, 1);
        signal_to(3);
        let_wait();
        lock(w, MPI_LOCK_EXCLUSIVE, 2);
        add_one(w, 2);
        MT_OK(MPI_Win_unlock(2, w->win));
        MT_OK(MPI_Win_unlock(1, w->win));
    } else if (w->rank == 3) {
        await(0);
        MT_OK(MPI_Win_lock_all(0, w->win));
        add_one(w, 1);
        MT_OK(MPI_Win_unlock_all(w->win));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Ranks 0 and 1 hold what 2 and 3 then wait for, and ask for each other's. */
static void crosswise(const struct mt_win *a, const struct mt_win *b, bool all)
{
    const struct mt_win *mine = a->rank ? b : a, *other = a->rank ? a : b;
    const int me = a->rank;
    if (me < 2) {
        MT_OK(all ? MPI_Win_lock_all(0, mine->win)
                  : MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, mine->win));
        add_one(mine, 2);
        signal_to(me + 2);
        let_wait();
        MT_OK(all ? MPI_Win_lock_all(0, other->win)
                  : MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, other->win));
        add_one(other, 2);
        MT_OK(all ? MPI_Win_unlock_all(other->win) : MPI_Win_unlock(2, other->win));
        MT_OK(all ? MPI_Win_unlock_all(mine->win) : MPI_Win_unlock(2, mine->win));
    } else if (me < 4) {
        const struct mt_win *w = me == 2 ? a : b;
        await(me - 2);
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, w->win));
        add_one(w, 2);
        MT_OK(MPI_Win_unlock(2, w->win));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Up to three exclusive or shared locks in ascending order, or lock_all, which begins with the
 * rank's own lock, and accesses behind that; or shared ones in any order, while exclusive ones are
 * only taken alone. Returns how often this rank has added one. */
static int turns(const struct mt_win *w, bool ascending)
{
    struct mt_rng rng = mt_rng((uint64_t)mt_rank + (ascending ? 100 : 200));
    int added = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const bool all = mt_rng_below(&rng, 3) == 0;
        const bool several = ascending || mt_rng_below(&rng, 2);
        const int first = ascending && all ? w->rank + (int)mt_rng_below(&rng, 2)
                                           : (int)mt_rng_below(&rng, (uint64_t)w->size);
        bool locked[64] = {false};
        if (all) {
            MT_OK(MPI_Win_lock_all(0, w->win));
        }
        for (int j = 0; j < (several ? 3 : 1); j++) {
            const int t = ascending ? first + j : (first + j * 5) % w->size;
            const bool exclusive = (ascending || !several) && mt_rng_below(&rng, 2);
            if (t >= w->size || locked[t]) {
                continue;
            }
            locked[t] = true;
            if (!all) {
                MT_OK(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t, 0, w->win));
            }
            add_one(w, t);
            added++;
        }
        for (int t = 0; t < w->size && !all; t++) {
            if (locked[t]) {
                MT_OK(MPI_Win_unlock(t, w->win));
            }
        }
        if (all) {
            MT_OK(MPI_Win_unlock_all(w->win));
        }
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    return added;
}

static void check_sum(const struct mt_win *w, int added)
{
    int64_t mine = added, expected = 0, found = 0, here;
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    memcpy(&here, w->base, sizeof here);
    MT_OK(MPI_Win_unlock(w->rank, w->win));
    MT_OK(MPI_Allreduce(&mine, &expected, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    MT_OK(MPI_Allreduce(&here, &found, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    CHECK(found == expected, "%lld added, %lld found", (long long)expected, (long long)found);
}

static void run(enum mt_kind kind)
{
    struct mt_win a, b;
    mt_section("%s", mt_kind_name(kind));
    if (!mt_win_make(&a, kind, 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    if (mt_win_make(&b, kind, 8, 1, MPI_COMM_WORLD)) {
        if (mt_size >= 4) {
            mt_section("%s: untouched", mt_kind_name(kind));
            untouched(&a);
            mt_section("%s: crosswise, locks", mt_kind_name(kind));
            crosswise(&a, &b, false);
            mt_section("%s: crosswise, lock_all", mt_kind_name(kind));
            crosswise(&a, &b, true);
        }
        mt_win_free(&b);
    }
    mt_win_free(&a);
    if (!mt_win_make(&a, kind, 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_section("%s: turns, ascending", mt_kind_name(kind));
    int added = turns(&a, true);
    mt_section("%s: turns, in any order", mt_kind_name(kind));
    added += turns(&a, false);
    check_sum(&a, added);
    mt_win_free(&a);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    run(MT_ALLOCATE);
    run(MT_CREATE_MALLOC);
    run(MT_ALLOCATE_SHARED);
    return MT_FINISH();
}
