/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_host.c - what R-operations ask of the host (MPI 4.1, 12.3.5).
 *
 * This program has a PMPI_Grequest_start of its own in front of the host's, which counts, and
 * refuses when it is told to. An operation that is complete when its call returns costs no
 * generalized request, but with MPIRMA_STRICT; one that the host refuses a request for is complete
 * when its call returns, and so is its request. "long": such an operation takes more than a second,
 * of which request_refused.sh asks what is said.
 */
#include "mtcomm.h"

#include <dlfcn.h>
#include <unistd.h>

enum { SOME = 50, MUCH = 300000 };

static int started;
static bool refuse;

__attribute__((visibility("default"))) int PMPI_Grequest_start(MPI_Grequest_query_function *query,
                                                               MPI_Grequest_free_function *end,
                                                               MPI_Grequest_cancel_function *cancel,
                                                               void *extra, MPI_Request *request)
{
    static int (*host)(MPI_Grequest_query_function *, MPI_Grequest_free_function *,
                       MPI_Grequest_cancel_function *, void *, MPI_Request *);

    if (refuse)
        return MPI_ERR_NO_MEM;
    if (host == NULL)
        *(void **)&host = dlsym(RTLD_NEXT, "PMPI_Grequest_start");
    started++;
    return host(query, end, cancel, extra, request);
}

/* What was copied when the call returns, and an operation on no target. */
static void complete_at_once(struct mt_win *w, int target)
{
    const char *strict = getenv("MPIRMA_STRICT");
    MPI_Request req[SOME];
    MPI_Status st[SOME];
    int64_t v[SOME];
    const int before = started;
    int yes, n;

    for (int i = 0; i < SOME; i++) {
        v[i] = 100 * w->rank + i;
        MT_OK(MPI_Rput(&v[i], 1, MPI_INT64_T, i ? target : MPI_PROC_NULL, mt_disp(w, target, 8 * i),
                       1, MPI_INT64_T, w->win, &req[i]));
    }
    CHECK(started == before || (strict != NULL && strcmp(strict, "1") == 0),
          "%d short puts have taken %d generalized requests", SOME, started - before);
    MT_OK(MPI_Waitall(SOME, req, st));
    for (int i = 0; i < SOME; i++) {
        CHECK(req[i] == MPI_REQUEST_NULL, "request %d is still there", i);
        MT_OK(MPI_Test_cancelled(&st[i], &yes));
        MT_OK(MPI_Get_elements(&st[i], MPI_BYTE, &n));
        CHECK(!yes && n == 0, "status %d: cancelled %d, %d elements", i, yes, n);
    }
}

/* Much is not complete at once over packets; the call waits for that, or for a get. */
static void refused(struct mt_win *w, int target, char *much)
{
    MPI_Request req[2];
    MPI_Status st[2];
    int64_t got = -1;
    int flag = 0;

    refuse = true;
    memset(much, 1 + w->rank, MUCH);
    MT_OK(MPI_Rput(much, MUCH, MPI_BYTE, target, mt_disp(w, target, 8 * SOME), MUCH, MPI_BYTE,
                   w->win, &req[0]));
    memset(much, 99, MUCH); /* it is complete */
    MT_OK(MPI_Rget(&got, 1, MPI_INT64_T, target, mt_disp(w, target, 8), 1, MPI_INT64_T, w->win,
                   &req[1]));
    CHECK(got == 100 * w->rank + 1, "got %ld", (long)got);
    refuse = false;
    MT_OK(MPI_Testall(2, req, &flag, st));
    CHECK(flag, "the requests are not complete");
}

static void requests_of(enum mt_kind kind, char *much)
{
    struct mt_win w;

    mt_section("requests of the host, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 8 * SOME + MUCH, 1, MPI_COMM_WORLD))
        return;
    const int right = (w.rank + 1) % w.size, left = (w.rank - 1 + w.size) % w.size;
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    complete_at_once(&w, right);
    MT_OK(MPI_Win_flush(right, w.win));
    refused(&w, right, much);
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_sync(&w);
    CHECK(w.base[8 * SOME] == 1 + left && w.base[8 * SOME + MUCH - 1] == 1 + left,
          "the large put has brought %d and %d", w.base[8 * SOME], w.base[8 * SOME + MUCH - 1]);
    mt_win_free(&w);
}

/* The target's own lock keeps the get for a while. */
static void refused_for_long(void)
{
    struct mt_win w;
    MPI_Request req;
    int64_t got = -1;

    mt_section("a request that is refused, of an operation that takes long");
    if (!mt_win_make(&w, MT_CREATE_MALLOC, sizeof got, 1, MPI_COMM_WORLD))
        return;
    mt_sync(&w);
    if (w.rank == 1)
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (w.rank == 1) {
        usleep(1500000);
        MT_OK(MPI_Win_unlock(1, w.win));
    }
    for (int i = 0; w.rank == 0 && i < 2; i++) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w.win));
        refuse = true;
        MT_OK(MPI_Rget(&got, 1, MPI_INT64_T, 1, mt_disp(&w, 1, 0), 1, MPI_INT64_T, w.win, &req));
        refuse = false;
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        MT_OK(MPI_Win_unlock(1, w.win));
        CHECK(got == 0, "got %ld", (long)got);
    }
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    char *much;

    MT_INIT(argc, argv);
    if (argc > 1 && strcmp(argv[1], "long") == 0) {
        refused_for_long();
        return MT_FINISH();
    }
    much = mt_alloc(MUCH);
    MT_FOR_KINDS(kind)
    {
        requests_of(kind, much);
    }
    free(much);
    return MT_FINISH();
}
