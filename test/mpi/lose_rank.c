/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lose_rank.c DIR HOW - the last rank dies by SIGKILL in the middle of epochs, with a launcher that
 * leaves the others alone: each of them gets an error in bounded time. Run by lose_rank.sh. What a
 * rank writes goes to DIR/out.RANK, since a launcher that has lost a rank may drop it; they end
 * without MPI_Finalize, since the host may wait there for ever.
 *
 * HOW: what the rank leaves behind. "plain": nothing; "fork": a child of fork that lives on;
 * "system": a program that system has started.
 */
#include "mtest.h"

#include <signal.h>
#include <unistd.h>

enum { WINDOWS = 2, BYTES = 4096, PATIENCE = 8 };

static const enum mt_kind kinds[WINDOWS] = {MT_ALLOCATE, MT_CREATE_MALLOC};

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

static void write_to(const char *dir)
{
    char name[512];

    snprintf(name, sizeof name, "%s/out.%d", dir, mt_rank);
    if (freopen(name, "w", stdout) == NULL || dup2(1, 2) < 0) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

int main(int argc, char **argv)
{
    struct mt_win w[WINDOWS];
    bool made[WINDOWS];

    MT_INIT(argc, argv);
    if (argc != 3 || mt_size < 2) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    write_to(argv[1]);
    const int victim = mt_size - 1;
    for (int i = 0; i < WINDOWS; i++) {
        made[i] = mt_win_make(&w[i], kinds[i], BYTES, 1, MPI_COMM_WORLD);
        for (int k = 0; made[i] && k < mt_size; k++) { /* all have had to do with each other */
            CHECK_PUT_WORKS(w[i].win, k, mt_disp(&w[i], k, 64 * mt_rank), mt_rank);
        }
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt_rank == victim) {
        die(argv[2]);
    }
    for (int i = 0; i < WINDOWS; i++) {
        if (made[i]) {
            mt_section("a fence of window %d, whose last rank has died", i);
            const double began = MPI_Wtime();
            CHECK_ERR(MPI_Win_fence(0, w[i].win), MPI_ERR_OTHER);
            const double took = MPI_Wtime() - began;
            CHECK(took < PATIENCE, "the error came after %.1f s", took);
        }
    }
    printf("rank %d has ended with %d failed checks\n", mt_rank, mt_failures());
    fflush(stdout);
    _exit(mt_failures() != 0);
}
