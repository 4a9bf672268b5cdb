/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * left_early.c - the last rank calls MPI_Finalize while others have windows with it. It may: its
 * windows need not be freed, and what others do among themselves goes on, however long they wait
 * for each other. Who waits for something that only the ended rank could do gets an error in
 * bounded time, whatever the path. Rank k < WAITS has a window with the last rank alone, so that
 * nobody else tells it.
 *
 * left_early [allocate]: windows of MPI_Win_allocate instead of MPI_Win_create.
 */
#include "mtcomm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WAIT_FENCE,
    WAIT_FREE,
    WAIT_PSCW,
    WAIT_LOCK,
    WAIT_START,
    WAIT_FLUSH,
    WAITS,
    PAIR_A = WAITS,
    PAIR_B,
    LAST,
    RANKS
};

static int64_t memory[WAITS + 1], *pair = &memory[WAITS];
static bool allocate;

/* Of those that say so; MPI_WIN_NULL at the others. Ranks in it are in the order of the world's. */
static MPI_Win window(bool member, int64_t **base)
{
    MPI_Comm comm;
    MPI_Win win = MPI_WIN_NULL;

    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, mt_rank, &comm));
    if (!member) {
        return win;
    }
    if (allocate) {
        MT_OK(MPI_Win_allocate(sizeof **base, 1, MPI_INFO_NULL, comm, base, &win));
        **base = 0;
    } else {
        MT_OK(MPI_Win_create(*base, sizeof **base, 1, MPI_INFO_NULL, comm, &win));
    }
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_free(&comm));
    return win;
}

static MPI_Group group_of(MPI_Win win, int rank)
{
    MPI_Group all, one;

    MT_OK(MPI_Win_get_group(win, &all));
    MT_OK(MPI_Group_incl(all, 1, &rank, &one));
    MT_OK(MPI_Group_free(&all));
    return one;
}

static bool by_packets(void)
{
    return strstr(mt_path(), "packets") != NULL || getenv("MPIRMA_RANKS_PER_NODE") != NULL;
}

/* It may be served until it calls MPI_Finalize. */
static int flush_until_it_has_ended(MPI_Win win)
{
    const double began = MPI_Wtime();
    const int64_t v = 1;
    int rc = MPI_SUCCESS;

    while (rc == MPI_SUCCESS && MPI_Wtime() - began < 10) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
        (void)MPI_Put(&v, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win);
        rc = MPI_Win_flush(1, win);
        (void)MPI_Win_unlock(1, win);
    }
    return rc;
}

/* The ended rank is rank 1 of this window. */
static int wait_for_it(MPI_Win win)
{
    MPI_Group group = group_of(win, 1);
    int64_t v = 1;
    int rc;

    switch (mt_rank) {
    case WAIT_FENCE:
        rc = MPI_Win_fence(0, win);
        break;
    case WAIT_FREE:
        rc = MPI_Win_free(&win);
        break;
    case WAIT_PSCW:
        MT_OK(MPI_Win_post(group, 0, win));
        rc = MPI_Win_wait(win);
        break;
    case WAIT_START:
        MT_OK(MPI_Win_start(group, 0, win));
        (void)MPI_Get(&v, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win);
        rc = MPI_Win_complete(win);
        break;
    case WAIT_FLUSH: /* memory in reach needs nothing of the ended rank */
        rc = by_packets() ? flush_until_it_has_ended(win) : MPI_ERR_OTHER;
        break;
    default:
        rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        break;
    }
    MT_OK(MPI_Group_free(&group));
    return rc;
}

/* Two that have a window with the ended rank wait for each other, longer than it takes to notice
 * that a process has ended. */
static void go_on(MPI_Win win)
{
    const int me = mt_rank - PAIR_A;
    int class = MPI_SUCCESS;
    MPI_Group other = group_of(win, 1 - me);
    int64_t v = 7;

    if (me == 0) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
        MT_OK(MPI_Put(&v, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win));
        MT_OK(MPI_Win_flush(1, win));
        MT_OK(MPI_Send(NULL, 0, MPI_INT, PAIR_B, 0, MPI_COMM_WORLD));
        usleep(1200000);
        MT_OK(MPI_Win_unlock(1, win));
        MT_OK(MPI_Win_start(other, 0, win));
        usleep(1200000);
        MT_OK(MPI_Put(&v, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win));
        MT_OK(MPI_Win_complete(win));
    } else {
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, PAIR_A, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
        CHECK(*pair == 7, "%ld", (long)*pair);
        *pair = 0;
        MT_OK(MPI_Win_unlock(1, win));
        MT_OK(MPI_Win_post(other, 0, win));
        MT_OK(MPI_Win_wait(win));
        CHECK(*pair == 7, "%ld", (long)*pair);
    }
    MT_OK(MPI_Group_free(&other));
    MPI_Error_class(MPI_Win_fence(0, win), &class);
    CHECK(class == MPI_ERR_OTHER, "a fence of it gave %s", mt_class_name(class));
}

int main(int argc, char **argv)
{
    MPI_Win wins[WAITS + 1];
    int64_t v = 1;
    int class = MPI_SUCCESS;

    MT_INIT(argc, argv);
    mt_timeout(20);
    allocate = argc > 1 && strcmp(argv[1], "allocate") == 0;
    if (!CHECK(mt_size == RANKS, "needs %d ranks, has %d", RANKS, mt_size)) {
        return MT_FINISH();
    }
    for (int k = 0; k < WAITS; k++) {
        int64_t *base = &memory[k];
        wins[k] = window(mt_rank == k || mt_rank == LAST, &base);
    }
    wins[WAITS] = window(mt_rank >= PAIR_A, &pair);
    if (mt_rank == LAST) { /* it has been in touch with all, and holds a lock for ever */
        for (int k = 0; k < WAITS; k++) {
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, wins[k]));
            MT_OK(MPI_Put(&v, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, wins[k]));
            if (k == WAIT_LOCK) {
                MT_OK(MPI_Win_flush(0, wins[k]));
            } else {
                MT_OK(MPI_Win_unlock(0, wins[k]));
            }
        }
        for (int k = 0; k < 2; k++) {
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, k, 0, wins[WAITS]));
            MT_OK(MPI_Put(&v, 1, MPI_INT64_T, k, 0, 1, MPI_INT64_T, wins[WAITS]));
            MT_OK(MPI_Win_unlock(k, wins[WAITS]));
        }
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    mt_section("the last rank has ended");
    if (mt_rank < WAITS) {
        MPI_Error_class(wait_for_it(wins[mt_rank]), &class);
        CHECK(class == MPI_ERR_OTHER, "waiting for it gave %s", mt_class_name(class));
    } else if (mt_rank < LAST) {
        go_on(wins[WAITS]);
    }
    MPI_Finalize();
    return mt_failures() != 0;
}
