/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_sync_errors.c - calls outside the epoch they need: MPI_ERR_RMA_SYNC.
 *
 * Operations without an epoch or towards targets that the epoch does not cover,
 * unlock without lock, complete without start, wait and test without post, second
 * lock of a target, lock inside lock_all and the reverse, fence while locked,
 * flush outside passive epochs, request-based operations outside passive epochs,
 * free inside an epoch (MPI 4.1, 12.5 and 12.7). Each error comes from the calling
 * process alone, leaves no trace at any target, and the window works after it.
 */
#include "mtest.h"

enum { BYTES = 256 };

static int next_of(const struct mt_win *w)
{
    return (w->rank + 1) % w->size;
}

static void works(struct mt_win *w, int value)
{
    int t = next_of(w);

    CHECK_PUT_WORKS(w->win, t, mt_disp(w, t, 128), value);
}

/* Every operation must be refused towards t. */
static void all_ops_refused(struct mt_win *w, int t)
{
    int x = 1, y = 2, z = 3;
    MPI_Aint at = mt_disp(w, t, 0);
    MPI_Win win = w->win;
    MPI_Request req = MPI_REQUEST_NULL;

    CHECK_ERR(MPI_Put(&x, 1, MPI_INT, t, at, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Get(&x, 1, MPI_INT, t, at, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Accumulate(&x, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Get_accumulate(&x, 1, MPI_INT, &y, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win),
              MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Fetch_and_op(&x, &y, MPI_INT, t, at, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Compare_and_swap(&x, &z, &y, MPI_INT, t, at, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Rput(&x, 1, MPI_INT, t, at, 1, MPI_INT, win, &req), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Rget(&x, 1, MPI_INT, t, at, 1, MPI_INT, win, &req), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Raccumulate(&x, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win, &req),
              MPI_ERR_RMA_SYNC);
    CHECK_ERR(
        MPI_Rget_accumulate(&x, 1, MPI_INT, &y, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, win, &req),
        MPI_ERR_RMA_SYNC);
}

/* In active target epochs, where MPIRMA_STRICT alone refuses them (requests.c). */
static void request_ops_refused(struct mt_win *w, int t)
{
    const char *strict = getenv("MPIRMA_STRICT");
    int x = 1, y = 2;
    MPI_Aint at = mt_disp(w, t, 0);
    MPI_Request req = MPI_REQUEST_NULL;

    if (strict == NULL || strcmp(strict, "1") != 0)
        return;
    CHECK_ERR(MPI_Rput(&x, 1, MPI_INT, t, at, 1, MPI_INT, w->win, &req), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Rget(&x, 1, MPI_INT, t, at, 1, MPI_INT, w->win, &req), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Raccumulate(&x, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM, w->win, &req),
              MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Rget_accumulate(&x, 1, MPI_INT, &y, 1, MPI_INT, t, at, 1, MPI_INT, MPI_SUM,
                                  w->win, &req),
              MPI_ERR_RMA_SYNC);
}

static void no_epoch(struct mt_win *w)
{
    int flag = 0, t = next_of(w);

    mt_section("%s, no epoch", mt_kind_name(w->kind));
    all_ops_refused(w, t);
    all_ops_refused(w, w->rank);
    CHECK_ERR(MPI_Win_unlock(t, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_wait(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_test(w->win, &flag), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush(t, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush_local(t, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush_local_all(w->win), MPI_ERR_RMA_SYNC);
    works(w, 1);
}

static void while_locked(struct mt_win *w)
{
    int t = next_of(w), other = (t + 1) % w->size;

    mt_section("%s, locked", mt_kind_name(w->kind));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win));
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_start(MPI_GROUP_EMPTY, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    if (other != t) {
        all_ops_refused(w, other);
        CHECK_ERR(MPI_Win_unlock(other, w->win), MPI_ERR_RMA_SYNC);
        CHECK_ERR(MPI_Win_flush(other, w->win), MPI_ERR_RMA_SYNC);
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w->win)); /* another target is legal */
        MT_OK(MPI_Win_unlock(other, w->win));
    }
    MT_OK(MPI_Win_sync(w->win));
    MT_OK(MPI_Win_unlock(t, w->win));
    CHECK_ERR(MPI_Win_unlock(t, w->win), MPI_ERR_RMA_SYNC);
    works(w, 2);
}

static void while_all_locked(struct mt_win *w)
{
    int t = next_of(w);

    mt_section("%s, lock_all", mt_kind_name(w->kind));
    MT_OK(MPI_Win_lock_all(0, w->win));
    CHECK_ERR(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_unlock(t, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_start(MPI_GROUP_EMPTY, 0, w->win), MPI_ERR_RMA_SYNC);
    MT_OK(MPI_Win_unlock_all(w->win));
    CHECK_ERR(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    works(w, 3);
}

static void in_access_epoch(struct mt_win *w)
{
    int t = next_of(w), prev = (w->rank + w->size - 1) % w->size, x = 77;
    MPI_Group all, to, from;

    mt_section("%s, start and complete", mt_kind_name(w->kind));
    MT_OK(MPI_Win_get_group(w->win, &all));
    MPI_Group_incl(all, 1, &t, &to);
    MPI_Group_incl(all, 1, &prev, &from);
    MT_OK(MPI_Win_post(from, 0, w->win));
    CHECK_ERR(MPI_Win_post(from, 0, w->win), MPI_ERR_RMA_SYNC);
    MT_OK(MPI_Win_start(to, 0, w->win));
    CHECK_ERR(MPI_Win_start(to, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush(t, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_unlock(t, w->win), MPI_ERR_RMA_SYNC);
    request_ops_refused(w, t);
    if (w->size > 1) {
        all_ops_refused(w, w->rank); /* not in the group of start */
    }
    MT_OK(MPI_Put(&x, 1, MPI_INT, t, mt_disp(w, t, 64), 1, MPI_INT, w->win));
    MT_OK(MPI_Win_complete(w->win));
    CHECK_ERR(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    MT_OK(MPI_Win_wait(w->win));
    CHECK_ERR(MPI_Win_wait(w->win), MPI_ERR_RMA_SYNC);
    memcpy(&x, w->base + 64, sizeof x);
    CHECK(x == 77, "expected 77, saw %d", x);
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    works(w, 4);
}

static void in_fence_epoch(struct mt_win *w)
{
    int t = next_of(w), x = 55;

    mt_section("%s, fence", mt_kind_name(w->kind));
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    MT_OK(MPI_Put(&x, 1, MPI_INT, t, mt_disp(w, t, 72), 1, MPI_INT, w->win));
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush(t, w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_flush_local_all(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_unlock(t, w->win), MPI_ERR_RMA_SYNC);
    request_ops_refused(w, t);
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    memcpy(&x, w->base + 72, sizeof x);
    CHECK(x == 55, "expected 55, saw %d", x);
    all_ops_refused(w, t); /* NOSUCCEED: the epoch is over */
    works(w, 5);
}

/* A fence that is followed by a lock has begun no epoch; when the lock is gone there is none
 * (12.5.1). */
static void lock_after_fence(struct mt_win *w)
{
    int t = next_of(w), x = 56;

    mt_section("%s, lock after fence", mt_kind_name(w->kind));
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win));
    MT_OK(MPI_Put(&x, 1, MPI_INT, t, mt_disp(w, t, 76), 1, MPI_INT, w->win));
    MT_OK(MPI_Win_unlock(t, w->win));
    all_ops_refused(w, t);
    MT_OK(MPI_Win_fence(0, w->win));
    memcpy(&x, w->base + 76, sizeof x);
    CHECK(x == 56, "expected 56, saw %d", x);
    MT_OK(MPI_Put(&x, 1, MPI_INT, t, mt_disp(w, t, 76), 1, MPI_INT,
                  w->win)); /* of a fence epoch again */
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    works(w, 6);
}

/* Collective on purpose: every rank frees inside its own epoch. */
static void free_inside_epoch(struct mt_win *w)
{
    int t = next_of(w);

    mt_section("%s, free inside an epoch", mt_kind_name(w->kind));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, w->win));
    CHECK_ERR(MPI_Win_free(&w->win), MPI_ERR_RMA_SYNC);
    CHECK(w->win != MPI_WIN_NULL, "a refused free must leave the handle");
    MT_OK(MPI_Win_unlock(t, w->win));
    works(w, 6);
}

/* MPI_PROC_NULL is always a valid target, but inside an epoch like any other (MPI 4.1, 12.3). */
static void proc_null(struct mt_win *w)
{
    int x = 8, y = 9;

    mt_section("%s, MPI_PROC_NULL", mt_kind_name(w->kind));
    MT_OK(MPI_Win_lock_all(0, w->win));
    MT_OK(MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win));
    MT_OK(MPI_Get(&y, 1, MPI_INT, MPI_PROC_NULL, 1 << 20, 1, MPI_INT, w->win));
    MT_OK(MPI_Accumulate(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win));
    MT_OK(MPI_Fetch_and_op(&x, &y, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, w->win));
    MT_OK(MPI_Win_unlock_all(w->win));
    /* A lock on nobody is one that both hosts take, too. */
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w->win));
    CHECK_ERR(MPI_Win_lock(0x5a5a, MPI_PROC_NULL, 0, w->win), MPI_ERR_LOCKTYPE);
    CHECK_ERR(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, MPI_MODE_NOPRECEDE, w->win),
              MPI_ERR_ASSERT);
    MT_OK(MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win));
    MT_OK(MPI_Win_flush(MPI_PROC_NULL, w->win));
    MT_OK(MPI_Win_flush_local(MPI_PROC_NULL, w->win));
    MT_OK(MPI_Win_unlock(MPI_PROC_NULL, w->win));
    CHECK(y == 9, "the result buffer was written: %d", y);
    works(w, 7);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    for (enum mt_kind kind = 0; kind<MT_KINDS; kind += mt_size> 2 ? 2 : 1) {
        struct mt_win w;
        mt_section("%s", mt_kind_name(kind));
        if (!mt_win_make(&w, kind, BYTES, 4, MPI_COMM_WORLD)) {
            continue;
        }
        no_epoch(&w);
        while_locked(&w);
        while_all_locked(&w);
        in_access_epoch(&w);
        in_fence_epoch(&w);
        lock_after_fence(&w);
        if (!mt_host_only("MPI_Win_free inside an epoch")) {
            free_inside_epoch(&w);
        }
        proc_null(&w);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_BYTES(w.base, 64, 0); /* what was refused never arrived */
        mt_win_free(&w);
    }
    return MT_FINISH();
}
