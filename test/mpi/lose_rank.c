/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lose_rank.c DIR HOW - the last rank dies by SIGKILL in the middle of epochs, with a launcher that
 * leaves the others alone: each of them gets an error in bounded time, from then on at once from
 * each call that is about the lost rank, can go on with the others, and frees the window, which is
 * told as an error once. Windows that they make then work, on memory that they get then. Run by
 * lose_rank.sh. What a
 * rank writes goes to DIR/out.RANK, since a launcher that has lost a rank may drop it; they end
 * without MPI_Finalize, since the host may wait there for ever.
 *
 * HOW: what the rank leaves behind. "plain": nothing; "fork": a child of fork that lives on;
 * "system": a program that system has started.
 */
#include "mtest.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 4096, PATIENCE = 8 };

/* What ended may have been done by a process that was alive. */
static double bounded(double began)
{
    const double took = MPI_Wtime() - began;

    CHECK(took < PATIENCE, "the error came after %.1f s", took);
    return MPI_Wtime();
}

/* The child lives on for longer than any wait here, but not for ever. */
static void die(const char *how)
{
    if (strcmp(how, "fork") == 0 && fork() == 0) {
        sleep(4 * PATIENCE);
        _exit(0);
    }
    if (strcmp(how, "system") == 0 && system("sleep 32 >/dev/null 2>&1 </dev/null &") != 0) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    raise(SIGKILL);
}

/* Who waits for a word to change, and asks only for that, is told too. */
static void poll_the_lost(const struct mt_win *w, int victim)
{
    const int64_t none = 0;
    const MPI_Aint at = mt_disp(w, victim, 0);
    const double began = MPI_Wtime();
    int64_t word;
    int rc = MPI_Win_lock_all(0, w->win);

    while (rc == MPI_SUCCESS && MPI_Wtime() - began < PATIENCE) {
        rc = MPI_Fetch_and_op(&none, &word, MPI_INT64_T, victim, at, MPI_NO_OP, w->win);
        if (rc == MPI_SUCCESS) {
            rc = MPI_Win_flush(victim, w->win);
        }
    }
    CHECK_ERR(rc, MPI_ERR_OTHER);
    CHECK_ERR(MPI_Win_unlock_all(w->win), MPI_ERR_OTHER);
    bounded(began);
}

/* By packets an operation may be refused where it is synchronized. */
static void ask_the_lost(const struct mt_win *w, int victim)
{
    int64_t v = 1, old = 0;
    const MPI_Aint at = mt_disp(w, victim, 0);
    double began = MPI_Wtime();
    int lost = MPI_Win_lock(MPI_LOCK_SHARED, victim, 0, w->win);

    if (lost == MPI_SUCCESS) { /* nothing was sent */
        (void)MPI_Put(&v, 1, MPI_INT64_T, victim, at, 1, MPI_INT64_T, w->win);
        (void)MPI_Fetch_and_op(&v, &old, MPI_INT64_T, victim, at, MPI_SUM, w->win);
        CHECK_ERR(MPI_Win_unlock(victim, w->win), MPI_ERR_OTHER);
    } else {
        CHECK_ERR(lost, MPI_ERR_OTHER);
    }
    began = bounded(began);
    CHECK_ERR(MPI_Win_lock_all(0, w->win), MPI_ERR_OTHER);
    bounded(began);
}

static void free_it(struct mt_win *w)
{
    const double began = MPI_Wtime();

    CHECK_ERR(MPI_Win_free(&w->win), MPI_ERR_OTHER);
    CHECK(w->win == MPI_WIN_NULL, "the handle stays");
    bounded(began);
    free(w->addr);
    if (w->kind == MT_CREATE_ALLOC_MEM) { /* others may not have freed theirs yet */
        MT_OK(MPI_Free_mem(w->mem));
    }
}

/* After all windows are lost: of those that live, with memory that is new. */
static void start_again(MPI_Comm survivors)
{
    struct mt_win w;
    int n;

    MPI_Comm_size(survivors, &n);
    for (int i = 0; i < 3; i++) {
        if (!CHECK(mt_win_make(&w, MT_ALLOCATE, BYTES, 1, survivors), "a new window")) {
            return;
        }
        for (int k = 0; k < n; k++) {
            CHECK_PUT_WORKS(w.win, k, mt_disp(&w, k, 64 * mt_rank), mt_rank);
        }
        mt_win_free(&w);
    }
}

int main(int argc, char **argv)
{
    struct mt_win w[MT_KINDS];
    bool made[MT_KINDS];
    MPI_Comm survivors;

    MT_INIT(argc, argv);
    if (argc != 3 || mt_size < 2) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    mt_write_to(argv[1]);
    const int victim = mt_size - 1;
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, mt_rank == victim, mt_rank, &survivors));
    MT_FOR_KINDS(i)
    {
        made[i] = mt_win_make(&w[i], i, BYTES, 1, MPI_COMM_WORLD);
        for (int k = 0; made[i] && k < mt_size; k++) { /* all have had to do with each other */
            CHECK_PUT_WORKS(w[i].win, k, mt_disp(&w[i], k, 64 * mt_rank), mt_rank);
        }
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt_rank == victim) {
        die(argv[2]);
    }
    mt_section("a loop of operations on the rank that has died");
    poll_the_lost(&w[MT_ALLOCATE], victim);
    MT_FOR_KINDS(i)
    {
        if (made[i]) {
            mt_section("window %s, whose last rank has died", mt_kind_name(i));
            const double began = MPI_Wtime();
            CHECK_ERR(MPI_Win_fence(0, w[i].win), MPI_ERR_OTHER);
            bounded(began);
            ask_the_lost(&w[i], victim);
        }
    }
    MT_FOR_KINDS(i)
    {
        if (made[i]) {
            free_it(&w[i]);
        }
    }
    mt_section("windows of those that live");
    start_again(survivors);
    printf("rank %d has ended with %d failed checks\n", mt_rank, mt_failures());
    fflush(stdout);
    _exit(mt_failures() != 0);
}
