/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_lock.c - operations on a target whose lock another process holds: rank 1 gives the lock back
 * only when rank 2, which has asked for it too, says by a message that its calls have returned. So
 * a call that waits for the lock is found, not by its time: rank 1 gives up waiting for the message
 * and says so. (MPI 4.1, 12.5.3 allows calls to wait; this library promises that put, get and
 * accumulates do not.) Rank 0 is the target. The operations are larger than all packets that may be
 * sent before the lock is granted. Rank 2 locks exclusively, shared, or by MPI_Win_lock_all, and
 * ends with a flush or without.
 *
 * Operations with a request (12.3.5) may wait for the lock in their calls. There rank 1 gives it
 * back by itself, and each request is complete before the unlock, also behind an operation without
 * one.
 */
#include "mtcomm.h"

#define GIVE_UP 5.0 /* seconds */
#define HELD 0.05   /* seconds, where operations have requests */

enum { TARGET, HOLDER, ORIGIN };
enum { PUT, ACC, AREAS, ELEMS = 1 << 17 };
enum how { EXCLUSIVE, SHARED, ALL, HOWS };

static int64_t out[ELEMS], got[ELEMS], add[ELEMS];

static MPI_Aint area(const struct mt_win *w, int which)
{
    return mt_disp(w, TARGET, (MPI_Aint)which * ELEMS * 8);
}

/* The lock, which may only be asked for with the first operation. */
static void take(const struct mt_win *w)
{
    int64_t word = 0;

    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, w->win));
    MT_OK(MPI_Get(&word, 1, MPI_INT64_T, TARGET, area(w, PUT), 1, MPI_INT64_T, w->win));
    MT_OK(MPI_Win_flush(TARGET, w->win));
    MT_OK(MPI_Send(NULL, 0, MPI_INT, ORIGIN, 0, MPI_COMM_WORLD));
}

static void hold(const struct mt_win *w)
{
    const double begin = mt_now();
    int come = 0;

    take(w);
    while (!come && mt_now() - begin < GIVE_UP) {
        MT_OK(MPI_Iprobe(ORIGIN, 0, MPI_COMM_WORLD, &come, MPI_STATUS_IGNORE));
    }
    CHECK(come, "the calls of rank %d wait for the lock", ORIGIN);
    MT_OK(MPI_Win_unlock(TARGET, w->win));
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, ORIGIN, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Asks for the lock that rank 1 holds by now. */
static void lock_held(const struct mt_win *w, enum how how)
{
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, HOLDER, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (how == ALL) {
        MT_OK(MPI_Win_lock_all(0, w->win));
    } else {
        MT_OK(
            MPI_Win_lock(how == SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, TARGET, 0, w->win));
    }
}

static void ask(const struct mt_win *w, enum how how, bool flush)
{
    lock_held(w, how);
    MT_OK(MPI_Put(out, ELEMS, MPI_INT64_T, TARGET, area(w, PUT), ELEMS, MPI_INT64_T, w->win));
    MT_OK(MPI_Accumulate(out, ELEMS, MPI_INT64_T, TARGET, area(w, ACC), ELEMS, MPI_INT64_T,
                         MPI_REPLACE, w->win));
    MT_OK(MPI_Accumulate(add, ELEMS, MPI_INT64_T, TARGET, area(w, ACC), ELEMS, MPI_INT64_T, MPI_SUM,
                         w->win));
    MT_OK(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, got, ELEMS, MPI_INT64_T, TARGET, area(w, ACC),
                             ELEMS, MPI_INT64_T, MPI_NO_OP, w->win));
    MT_OK(MPI_Send(NULL, 0, MPI_INT, HOLDER, 0, MPI_COMM_WORLD));
    if (flush) {
        MT_OK(MPI_Win_flush(TARGET, w->win));
        CHECK(got[ELEMS - 1] == out[ELEMS - 1] + 1, "%lld", (long long)got[ELEMS - 1]);
    }
    MT_OK(how == ALL ? MPI_Win_unlock_all(w->win) : MPI_Win_unlock(TARGET, w->win));
    for (int i = 0; i < ELEMS; i++) {
        if (!CHECK(got[i] == out[i] + 1, "element %d: %lld", i, (long long)got[i])) {
            break;
        }
    }
}

static void hold_a_while(const struct mt_win *w)
{
    take(w);
    for (const double begin = mt_now(); mt_now() - begin < HELD;) {
    }
    MT_OK(MPI_Win_unlock(TARGET, w->win));
}

static void ask_with_requests(const struct mt_win *w, enum how how, bool behind)
{
    MPI_Request req[3];
    MPI_Status st[3];

    lock_held(w, how);
    if (behind) {
        MT_OK(MPI_Accumulate(out, ELEMS, MPI_INT64_T, TARGET, area(w, ACC), ELEMS, MPI_INT64_T,
                             MPI_REPLACE, w->win));
    }
    MT_OK(MPI_Rput(out, ELEMS, MPI_INT64_T, TARGET, area(w, PUT), ELEMS, MPI_INT64_T, w->win,
                   &req[0]));
    MT_OK(MPI_Raccumulate(behind ? add : out, ELEMS, MPI_INT64_T, TARGET, area(w, ACC), ELEMS,
                          MPI_INT64_T, behind ? MPI_SUM : MPI_REPLACE, w->win, &req[1]));
    MT_OK(MPI_Rget_accumulate(add, ELEMS, MPI_INT64_T, got, ELEMS, MPI_INT64_T, TARGET,
                              area(w, ACC), ELEMS, MPI_INT64_T, behind ? MPI_NO_OP : MPI_SUM,
                              w->win, &req[2]));
    MT_OK(MPI_Waitall(3, req, st));
    for (int i = 0; i < ELEMS; i++) {
        if (!CHECK(got[i] == out[i] + behind, "element %d: %lld", i, (long long)got[i])) {
            break;
        }
    }
    MT_OK(how == ALL ? MPI_Win_unlock_all(w->win) : MPI_Win_unlock(TARGET, w->win));
}

static void check_memory(const struct mt_win *w)
{
    const int64_t *at = (const int64_t *)(const void *)w->base;

    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, w->win));
    for (int i = 0; i < ELEMS; i++) {
        if (!CHECK(at[i] == out[i] && at[ELEMS + i] == out[i] + 1, "element %d: %lld and %lld", i,
                   (long long)at[i], (long long)at[ELEMS + i])) {
            break;
        }
    }
    MT_OK(MPI_Win_unlock(TARGET, w->win));
}

static void prepare(int turn)
{
    for (int k = 0; k < ELEMS; k++) {
        out[k] = (int64_t)turn * 1000003 + k;
        add[k] = 1;
        got[k] = -1;
    }
}

int main(int argc, char **argv)
{
    struct mt_win w;

    MT_INIT(argc, argv);
    if (mt_size == 3 && mt_win_make(&w, MT_ALLOCATE, AREAS * ELEMS * 8, 1, MPI_COMM_WORLD)) {
        for (int i = 0; i < 4 * HOWS; i++) {
            const enum how how = (enum how)(i / 2 % HOWS);
            const bool requests = i >= 2 * HOWS;

            mt_section("lock %d", i);
            prepare(i);
            if (mt_rank == HOLDER) {
                (requests ? hold_a_while : hold)(&w);
            } else if (mt_rank == ORIGIN) {
                (requests ? ask_with_requests : ask)(&w, how, i % 2);
            }
            MT_OK(MPI_Barrier(MPI_COMM_WORLD));
            if (mt_rank == TARGET) {
                check_memory(&w);
            }
            MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        }
        mt_win_free(&w);
    }
    return MT_FINISH();
}
