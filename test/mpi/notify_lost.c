/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify_lost.c DIR FORM - the last rank dies by SIGKILL while the others await a notification of
 * it, or of any process, and the launcher leaves them alone: each gets the error that mpi-rma.h
 * promises, as soon as other calls that wait would. What comes from those that live is taken before
 * and after, and windows and requests that they make then work. Nobody has had to do with the lost
 * rank before. Run by lose_rank.sh, which says what DIR is for; they end without MPI_Finalize,
 * since the host may wait there for ever.
 *
 * FORM: by what they await it, wait, test or request; of any process with _any behind it.
 */
#include "mtest.h"

#include <mpi-rma.h>

#include <signal.h>
#include <unistd.h>

enum { BYTES = 64, AWAITED = 0, MUTUAL = 1, BEFORE_DEATH_US = 400000 };

/* Looks come twice a second, and the network may tell at the second one; the rest is for a machine
 * that has much to do. */
#define SOON 3.0

static MPI_Win make(MPI_Comm comm)
{
    MPI_Info info;
    MPI_Win win;
    void *base;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpirma_notifications", "2");
    MT_OK(MPI_Win_allocate(BYTES, 1, info, comm, &base, &win));
    MPI_Info_free(&info);
    mt_win_errors_return(win);
    MT_OK(MPI_Win_lock_all(0, win));
    return win;
}

/* How many times longer things may take here (test/lists/run-list.sh). */
static double slower(void)
{
    const char *times = getenv("MT_SLOW");

    return times != NULL && atof(times) > 1 ? atof(times) : 1;
}

/* Waits by the form for a notification that does not come. */
static void await(MPI_Win win, const char *form, int source)
{
    int flag = 0, rc = MPI_SUCCESS;
    MPI_Request request;

    if (strncmp(form, "wait", 4) == 0) {
        CHECK_ERR(MPIRMA_Notify_wait(win, source, AWAITED, 1), MPI_ERR_OTHER);
    } else if (strncmp(form, "test", 4) == 0) {
        while (rc == MPI_SUCCESS && !flag) {
            rc = MPIRMA_Notify_test(win, source, AWAITED, 1, &flag);
        }
        CHECK_ERR(rc, MPI_ERR_OTHER);
    } else {
        MT_OK(MPIRMA_Notify_init(win, source, AWAITED, 1, &request));
        MT_OK(MPI_Start(&request));
        CHECK_ERR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        if (request != MPI_REQUEST_NULL) {
            CHECK_ERR(MPI_Start(&request) ? MPI_ERR_OTHER : MPI_Wait(&request, MPI_STATUS_IGNORE),
                      MPI_ERR_TRUNCATE);
            MT_OK(MPI_Request_free(&request));
        }
    }
}

/* A notification for each other of comm, and one taken of each. A wait that takes long ends by the
 * loss, whoever is awaited: so what is taken has come. */
static void exchange(MPI_Win win, MPI_Comm comm)
{
    MPI_Count come;
    int me, n;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    for (int k = 0; k < n; k++) {
        if (k != me) {
            MT_OK(MPIRMA_Put_notify(NULL, 0, MPI_BYTE, k, 0, 0, MPI_BYTE, win, MUTUAL));
        }
    }
    MT_OK(MPI_Barrier(comm));
    for (int k = 0; k < n; k++) {
        for (come = k == me; come == 0;) {
            MT_OK(MPIRMA_Notify_read(win, k, MUTUAL, &come));
        }
        if (k != me) {
            MT_OK(MPIRMA_Notify_wait(win, k, MUTUAL, 1));
        }
    }
}

/* Requests of those that live, on a window that is new, maybe by the handle of one that failed. */
static void go_on(MPI_Comm survivors)
{
    MPI_Win win = make(survivors);
    MPI_Request request;
    int me, n;

    MPI_Comm_rank(survivors, &me);
    MPI_Comm_size(survivors, &n);
    for (int i = 0; i < 3; i++) {
        MT_OK(MPIRMA_Notify_init(win, MPI_ANY_SOURCE, AWAITED, 1, &request));
        MT_OK(MPI_Start(&request));
        MT_OK(MPIRMA_Put_notify(NULL, 0, MPI_BYTE, (me + 1) % n, 0, 0, MPI_BYTE, win, AWAITED));
        MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MT_OK(MPI_Request_free(&request));
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    MPI_Comm survivors;

    MT_INIT(argc, argv);
    if (argc != 3 || mt_size < 2) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    mt_write_to(argv[1]);
    const int victim = mt_size - 1;
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, mt_rank == victim, mt_rank, &survivors));
    MPI_Win win = make(MPI_COMM_WORLD);
    if (mt_rank == victim) {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        usleep(BEFORE_DEATH_US);
        raise(SIGKILL);
    }
    exchange(win, survivors);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    mt_section("%s: the last rank dies", argv[2]);
    const bool any = strstr(argv[2], "_any") != NULL;
    const double began = MPI_Wtime();
    await(win, argv[2], any ? MPI_ANY_SOURCE : victim);
    const double took = MPI_Wtime() - began - BEFORE_DEATH_US * 1e-6;
    CHECK(took < SOON * slower(), "the error came %.1f s after the death", took);
    mt_section("%s: those that live", argv[2]);
    exchange(win, survivors);
    (void)MPI_Win_unlock_all(win);
    CHECK_ERR(MPI_Win_free(&win), MPI_ERR_OTHER);
    go_on(survivors);
    printf("rank %d has ended with %d failed checks\n", mt_rank, mt_failures());
    fflush(stdout);
    _exit(mt_failures() != 0);
}
