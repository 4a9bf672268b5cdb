/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kill_victim.c - creates windows and does RMA until it is killed; run by kill_ranks.sh,
 * kill_remote.sh and link_down.sh.
 *
 * Every round makes windows of all flavours, uses them under lock and fence, and
 * frees half of them in the next round, so that a kill may hit creation, an epoch
 * or MPI_Win_free. Each rank writes its process id to a file pid.RANK in the directory given as
 * argument before the first window, and to used.RANK after the first round. With a second argument,
 * "epochs", the windows are made once, before that, and stay: who survives is in a call of the
 * library's, not in the host's collectives. Ends by itself after 20 s (exit 3), which the script
 * takes as a failure to kill.
 */
#include "mtest.h"

#include <unistd.h>

enum { KEEP = 4, BYTES = 1 << 20 };

/* Tells the script, by a file WHAT.RANK with the process id. */
static void tell(const char *dir, const char *what)
{
    char name[512];
    FILE *f;

    snprintf(name, sizeof name, "%s/%s.%d", dir, what, mt_rank);
    f = fopen(name, "w");
    if (f == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    fprintf(f, "%d\n", (int)getpid());
    fclose(f);
}

static void use(struct mt_win *w)
{
    const int next = (mt_rank + 1) % mt_size;

    for (int n = 0; n < 50; n++) {
        CHECK_PUT_WORKS(w->win, next, mt_disp(w, next, 4096 * (n % 200)), n);
    }
    MPI_Win_fence(0, w->win);
    MPI_Accumulate(w->base, 1000, MPI_INT, next, mt_disp(w, next, 0), 1000, MPI_INT, MPI_SUM,
                   w->win);
    MPI_Win_fence(0, w->win);
}

/* Window number i, of the kind that is its turn. */
static bool make(struct mt_win *w, int i)
{
    return mt_win_make(w, (enum mt_kind)(i % MT_KINDS), BYTES, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static struct mt_win w[KEEP];
    bool made[KEEP] = {false};

    MT_INIT(argc, argv);
    const bool stay = argc == 3 && strcmp(argv[2], "epochs") == 0;
    if (argc != 2 && !stay) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int k = 0; stay && k < KEEP; k++) {
        made[k] = make(&w[k], k);
    }
    tell(argv[1], "pid");
    double end = MPI_Wtime() + 20;
    for (int i = 0; MPI_Wtime() < end; i++) {
        int k = i % KEEP;
        mt_section("round %d", i);
        if (made[k] && !stay) {
            mt_win_free(&w[k]);
        }
        if (!stay) {
            made[k] = make(&w[k], i);
        }
        if (made[k]) {
            use(&w[k]);
        }
        if (i == 0) {
            tell(argv[1], "used");
        }
    }
    sleep(1); /* a launcher that is told of the end may drop what was written just before */
    MPI_Abort(MPI_COMM_WORLD, 3);
    return 3;
}
