/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_serves.c - a target that waits in a call of the host serves, without an agent.
 *
 * Started with MPIRMA_PROGRESS=poll on a path of packets, and only of use on hosts that let others
 * into their progress. Rank 0 is the target and waits in one call of the host after the other for
 * the last rank, which makes that call return once its operations on rank 0 are done. Nobody calls
 * the library at rank 0 meanwhile. Two windows one after the other, so that what is registered with
 * the host lasts.
 */
#include "mtcomm.h"

#include <dlfcn.h>

#define PATIENCE 20.0 /* seconds */
#define SUMS 10       /* at a target in each call */

static void by_recv(bool target)
{
    if (target)
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, mt_size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    else
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
}

static void by_probe(bool target)
{
    if (target)
        MT_OK(MPI_Probe(mt_size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    by_recv(target);
}

static void by_ssend(bool target)
{
    if (target)
        MT_OK(MPI_Ssend(NULL, 0, MPI_BYTE, mt_size - 1, 0, MPI_COMM_WORLD));
    else
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static const struct {
    const char *name;
    void (*meet)(bool target);
    bool all; /* a call of all ranks */
} calls[] = {
    {"MPI_Recv", by_recv, false},
    {"MPI_Probe", by_probe, false},
    {"MPI_Ssend", by_ssend, false},
    {"MPI_Barrier", NULL, true},
};

/* As the library finds out, from outside. */
static bool host_lets_in(void)
{
    return dlsym(RTLD_DEFAULT, "opal_progress_register") != NULL ||
           (sizeof(MPI_Comm) == sizeof(int) && dlsym(RTLD_DEFAULT, "PMPIX_Async_start") != NULL);
}

/* Within the time, since rank 0 would never come out of its call otherwise. */
static void await(MPI_Request *req, const char *what, const char *call)
{
    const double start = mt_now();
    int done = 0;

    while (!done && mt_now() - start < PATIENCE) {
        MT_OK(MPI_Test(req, &done, MPI_STATUS_IGNORE));
    }
    if (!CHECK(done, "%s at a target in %s was not served in %.0f s", what, call, PATIENCE)) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void reach(const struct mt_win *w, int i)
{
    const int64_t one = 1;
    int64_t sum = -1, word = -1;
    MPI_Request req;

    MT_OK(MPI_Win_lock_all(0, w->win));
    for (int k = 0; k < SUMS; k++) {
        MT_OK(MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &sum, 1, MPI_INT64_T, 0, mt_disp(w, 0, 0),
                                  1, MPI_INT64_T, MPI_SUM, w->win, &req));
        await(&req, "a sum", calls[i].name);
        CHECK(sum == SUMS * i + k, "the sum was %lld before", (long long)sum);
    }
    MT_OK(MPI_Rget(&word, 1, MPI_INT64_T, 0, mt_disp(w, 0, 0), 1, MPI_INT64_T, w->win, &req));
    await(&req, "a get", calls[i].name);
    CHECK(word == SUMS * (i + 1), "the sum is %lld", (long long)word);
}

static void meet(int i)
{
    if (calls[i].all)
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    else if (mt_rank == 0 || mt_rank == mt_size - 1)
        calls[i].meet(mt_rank == 0);
}

static void one_window(void)
{
    struct mt_win w;

    if (!mt_win_make(&w, MT_ALLOCATE, 64, 8, MPI_COMM_WORLD))
        return;
    for (int i = 0; i < (int)(sizeof calls / sizeof calls[0]); i++) {
        mt_section("%s", calls[i].name);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mt_rank == mt_size - 1)
            reach(&w, i);
        meet(i);
        if (mt_rank == mt_size - 1)
            MT_OK(MPI_Win_unlock_all(w.win));
    }
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    if (!host_lets_in()) {
        if (mt_rank == 0)
            mt_skip("this host lets nobody into its progress");
        MPI_Finalize();
        return 77;
    }
    one_window();
    one_window();
    return MT_FINISH();
}
