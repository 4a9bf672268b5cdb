/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_host.c - what R-operations ask of the host (MPI 4.1, 12.3.5).
 *
 * This program has a PMPI_Recv_init of its own in front of the host's, which counts, and refuses
 * when it is told to. Operations that are complete when their calls return share one handle, but
 * with MPIRMA_STRICT; others take one each, which serves later operations again. An operation for
 * which the host refuses a handle is not issued.
 */
#include "mtcomm.h"

#include <dlfcn.h>

enum { SOME = 50, ROUNDS = 20 };

static int made;
static bool refuse;

__attribute__((visibility("default"))) int PMPI_Recv_init(void *buf, int count, MPI_Datatype type,
                                                          int source, int tag, MPI_Comm comm,
                                                          MPI_Request *request)
{
    static int (*host)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

    if (refuse)
        return MPI_ERR_NO_MEM;
    if (host == NULL)
        *(void **)&host = dlsym(RTLD_NEXT, "PMPI_Recv_init");
    made++;
    return host(buf, count, type, source, tag, comm, request);
}

/* The first operation of this program with a request. */
static void refused(struct mt_win *w, int target)
{
    const int64_t v = -1;
    int64_t got = 0;
    MPI_Request req = MPI_REQUEST_NULL;

    refuse = true;
    CHECK_ERR(
        MPI_Rput(&v, 1, MPI_INT64_T, target, mt_disp(w, target, 0), 1, MPI_INT64_T, w->win, &req),
        MPI_ERR_NO_MEM);
    CHECK_ERR(
        MPI_Rget(&got, 1, MPI_INT64_T, target, mt_disp(w, target, 0), 1, MPI_INT64_T, w->win, &req),
        MPI_ERR_NO_MEM);
    refuse = false;
    CHECK(req == MPI_REQUEST_NULL, "a call that failed has given a request");
    MT_OK(MPI_Get(&got, 1, MPI_INT64_T, target, mt_disp(w, target, 0), 1, MPI_INT64_T, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
    CHECK(got == 0, "a put that was refused has put %ld", (long)got);
}

/* What was copied when the call returns, and an operation on no target. */
static void complete_at_once(struct mt_win *w, int target)
{
    const char *strict = getenv("MPIRMA_STRICT");
    MPI_Request req[SOME];
    MPI_Status st[SOME];
    int64_t v[SOME];
    const int before = made;
    int yes, n;

    for (int i = 0; i < SOME; i++) {
        v[i] = 100 * w->rank + i;
        MT_OK(MPI_Rput(&v[i], 1, MPI_INT64_T, i ? target : MPI_PROC_NULL, mt_disp(w, target, 8 * i),
                       1, MPI_INT64_T, w->win, &req[i]));
    }
    CHECK(made <= before + 2 || (strict != NULL && strcmp(strict, "1") == 0),
          "%d short puts have taken %d requests", SOME, made - before);
    MT_OK(MPI_Waitall(SOME, req, st));
    for (int i = 0; i < SOME; i++) {
        CHECK(req[i] == MPI_REQUEST_NULL, "request %d is still there", i);
        MT_OK(MPI_Test_cancelled(&st[i], &yes));
        MT_OK(MPI_Get_elements(&st[i], MPI_BYTE, &n));
        CHECK(!yes && n == 0, "status %d: cancelled %d, %d elements", i, yes, n);
    }
}

/* As many as there are at once, at most. */
static void serve_again(struct mt_win *w, int target)
{
    MPI_Request req[SOME];
    int64_t got[SOME];
    const int before = made;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SOME; i++) {
            got[i] = -1;
            MT_OK(MPI_Rget(&got[i], 1, MPI_INT64_T, target, mt_disp(w, target, 8 * i), 1,
                           MPI_INT64_T, w->win, &req[i]));
        }
        MT_OK(MPI_Waitall(SOME, req, mt_statuses_ignore()));
        for (int i = 1; i < SOME; i++)
            CHECK(got[i] == 100 * w->rank + i && req[i] == MPI_REQUEST_NULL, "got %ld of %d",
                  (long)got[i], i);
    }
    CHECK(made <= before + SOME, "%d gets, %d at a time, have taken %d requests", ROUNDS * SOME,
          SOME, made - before);
}

static void requests_of(enum mt_kind kind)
{
    static bool tried;
    struct mt_win w;

    mt_section("requests of the host, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 8 * SOME, 1, MPI_COMM_WORLD))
        return;
    const int right = (w.rank + 1) % w.size;
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    if (!tried)
        refused(&w, right);
    tried = true;
    complete_at_once(&w, right);
    MT_OK(MPI_Win_flush(right, w.win));
    serve_again(&w, right);
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_sync(&w);
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    MT_FOR_KINDS(kind)
    {
        requests_of(kind);
    }
    return MT_FINISH();
}
