/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified_epochs.c - notifications and the epochs that their operations belong to.
 */
#include "notified.h"

/* In each kind of epoch the notification comes before its end, in a PSCW epoch that has begun. */
void epochs(struct mt_win *w)
{
    const int right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    MPI_Group all, to, from;
    int value = w->rank + 1, saw;

    mt_section("%s: epochs", mt_kind_name(w->kind));
    MT_OK(MPIRMA_Notify_reset(w->win, left, TURN, NULL));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_fence(0, w->win));
    MT_OK(MPIRMA_Put_notify(&value, 1, MPI_INT, right, mt_disp(w, right, 16), 1, MPI_INT, w->win,
                            TURN));
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    MT_OK(MPIRMA_Notify_wait(w->win, left, TURN, 1));
    memcpy(&saw, w->base + 16, sizeof saw);
    CHECK(saw == left + 1, "fence: saw %d", saw);

    MPI_Win_get_group(w->win, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    for (int i = 0; i < 10; i++) {
        value = 100 * i + w->rank;
        MT_OK(MPI_Win_post(from, 0, w->win));
        MT_OK(MPI_Win_start(to, 0, w->win));
        MT_OK(MPIRMA_Put_notify(&value, 1, MPI_INT, right, mt_disp(w, right, 32), 1, MPI_INT,
                                w->win, TURN));
        MT_OK(MPI_Win_complete(w->win));
        MT_OK(MPIRMA_Notify_wait(w->win, left, TURN, 1));
        memcpy(&saw, w->base + 32, sizeof saw);
        CHECK(saw == 100 * i + left, "epoch %d: saw %d", i, saw);
        MT_OK(MPI_Win_wait(w->win));
    }
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    for (int i = 0; i < 20; i++) {
        value = 1000 * i + w->rank;
        MT_OK(MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, right, 0, w->win));
        for (int k = 0; k < 9; k++) /* more than a target keeps for an origin without its lock */
            MT_OK(MPIRMA_Put_notify(&value, 1, MPI_INT, right, mt_disp(w, right, 48 + 4 * k), 1,
                                    MPI_INT, w->win, TURN));
        MT_OK(MPIRMA_Notify_wait(w->win, left, TURN, 9));
        for (int k = 0; k < 9; k++) {
            memcpy(&saw, w->base + 48 + 4 * k, sizeof saw);
            CHECK(saw == 1000 * i + left, "lock %d: saw %d", i, saw);
        }
        MT_OK(MPI_Win_unlock(right, w->win));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

/* The epochs of first_of_epochs. */
enum epoch { LOCK_ALL, LOCK, PSCW, FENCE, EPOCHS };

static void open_epoch(struct mt_win *w, enum epoch e, int right, MPI_Group to, MPI_Group from)
{
    if (e == LOCK_ALL) {
        MT_OK(MPI_Win_lock_all(0, w->win));
    } else if (e == LOCK) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w->win));
    } else if (e == PSCW) {
        MT_OK(MPI_Win_post(from, 0, w->win));
        MT_OK(MPI_Win_start(to, 0, w->win));
    } else {
        MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    }
}

static void close_epoch(struct mt_win *w, enum epoch e, int right)
{
    if (e == LOCK_ALL) {
        MT_OK(MPI_Win_unlock_all(w->win));
    } else if (e == LOCK) {
        MT_OK(MPI_Win_unlock(right, w->win));
    } else if (e == PSCW) {
        MT_OK(MPI_Win_complete(w->win));
        MT_OK(MPI_Win_wait(w->win));
    } else {
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    }
}

/* In each kind of epoch a large put is the first operation, and each process waits for that of its
 * left neighbour before it ends the epoch. */
void first_of_epochs(struct mt_win *w)
{
    const int right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size;
    unsigned char *data = malloc(LARGEST);
    MPI_Group all, to, from;

    mt_section("%s: first of an epoch", mt_kind_name(w->kind));
    MPI_Win_get_group(w->win, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    MT_OK(MPIRMA_Notify_reset(w->win, left, TURN, NULL));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 2 * EPOCHS; i++) {
        const enum epoch e = (enum epoch)(i % EPOCHS);
        memset(data, 16 * i + w->rank % 16, LARGEST);
        open_epoch(w, e, right, to, from);
        MT_OK(MPIRMA_Put_notify(data, LARGEST, MPI_BYTE, right, mt_disp(w, right, 0), LARGEST,
                                MPI_BYTE, w->win, TURN));
        MT_OK(MPIRMA_Notify_wait(w->win, left, TURN, 1));
        CHECK_BYTES(w->base, LARGEST, 16 * i + left % 16);
        close_epoch(w, e, right);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    free(data);
}
