/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests_errors.c - what is wrong with requests of operations (MPI 4.1, 12.3.5).
 *
 * MPI_Cancel and MPI_Request_free of them are erroneous: MPI_ERR_REQUEST, and they stay usable.
 * Requests of the host come after failed ones. What a target refuses is told once, by the call that
 * completes the request, to the window's error handler.
 */
#include "requests.h"

/* Not allowed on these requests. With MPIRMA_STRICT all are recognized, also of what is complete
 * when its call returns; with MPI_ERRORS_RETURN the request survives the refusal. */
void erroneous(enum mt_kind kind)
{
    const char *strict = getenv("MPIRMA_STRICT");
    struct mt_win w;
    int64_t v = 5;
    MPI_Request req, same;
    MPI_Status st;

    mt_section("cancel and free, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
    MT_OK(MPI_Raccumulate(&v, 1, MPI_INT64_T, 0, mt_disp(&w, 0, 0), 1, MPI_INT64_T, MPI_SUM, w.win,
                          &req));
    same = req;
    if (strict != NULL && strcmp(strict, "1") == 0) {
        CHECK_ERR(MPI_Cancel(&req), MPI_ERR_REQUEST);
        CHECK_ERR(MPI_Request_free(&req), MPI_ERR_REQUEST);
    }
    CHECK(req == same && req != MPI_REQUEST_NULL, "the request changed");
    MT_OK(MPI_Wait(&req, &st));
    MT_OK(MPI_Win_unlock(0, w.win));
    req = MPI_REQUEST_NULL;
    CHECK_ERR(MPI_Rput(&v, 1, MPI_INT64_T, 0, mt_disp(&w, 0, 0), 1, MPI_INT64_T, w.win, &req),
              MPI_ERR_RMA_SYNC);
    mt_sync(&w);
    memcpy(&v, w.base, sizeof v);
    CHECK(v == (w.rank == 0 ? 5 * w.size : 0), "%ld", (long)v);
    mt_win_free(&w);
}

/* The host may give the handle of a request that has failed to one of its own, which nothing is
 * refused then. */
void after_failed(void)
{
    const int right = (mt_rank + 1) % mt_size;
    struct mt_win w;
    MPI_Request req, later[4];
    int64_t v;

    mt_section("requests of the host's after some that have failed");
    if (!mt_win_make(&w, MT_DYNAMIC, 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w.win));
    for (int i = 0; i < 4; i++) {
        int rc = MPI_Rget(&v, 1, MPI_INT64_T, right, 4096, 1, MPI_INT64_T, w.win, &req);
        if (rc == MPI_SUCCESS) {
            rc = MPI_Wait(&req, MPI_STATUS_IGNORE);
        }
        CHECK(rc != MPI_SUCCESS, "a get of memory that is not attached");
        MT_OK(MPI_Recv_init(&v, 1, MPI_INT64_T, 0, 9, MPI_COMM_WORLD, &later[i]));
    }
    MT_OK(MPI_Win_unlock(right, w.win));
    for (int i = 0; i < 4; i++) {
        MT_OK(MPI_Start(&later[i]));
        MT_OK(MPI_Cancel(&later[i]));
        MT_OK(MPI_Wait(&later[i], MPI_STATUS_IGNORE));
        MT_OK(MPI_Request_free(&later[i]));
    }
    mt_win_free(&w);
}

static int handled;

static void on_win_error(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
    handled++;
}

/* Completes n requests, of which that at bad fails, by each function but those that only look.
 * Returns the error of that request. st: one for each request. */
static int finish_bad(enum how how, int n, int bad, MPI_Request *req, MPI_Status *st)
{
    int flag = 0, k = 0, i = -1, idx[4], rc = MPI_SUCCESS;

    if (how == WAIT)
        return MPI_Wait(&req[bad], &st[bad]);
    while (how == TEST && !flag && rc == MPI_SUCCESS)
        rc = MPI_Test(&req[bad], &flag, &st[bad]);
    while ((how == WAITANY || how == TESTANY) && i != bad && rc == MPI_SUCCESS) {
        rc = how == WAITANY ? MPI_Waitany(n, req, &i, &st[0])
                            : MPI_Testany(n, req, &i, &flag, &st[0]);
    }
    if (how == TEST || how == WAITANY || how == TESTANY)
        return rc;
    if (how == WAITALL)
        rc = MPI_Waitall(n, req, st);
    while (how == TESTALL && !flag && rc == MPI_SUCCESS)
        rc = MPI_Testall(n, req, &flag, st);
    while ((how == WAITSOME || how == TESTSOME) && rc == MPI_SUCCESS &&
           req[bad] != MPI_REQUEST_NULL)
        rc =
            how == WAITSOME ? MPI_Waitsome(n, req, &k, idx, st) : MPI_Testsome(n, req, &k, idx, st);
    CHECK_ERR(rc, MPI_ERR_IN_STATUS);
    for (i = 0; i < k; i++)
        if (idx[i] != bad)
            CHECK_ERR(st[i].MPI_ERROR, MPI_SUCCESS);
    for (i = 0; i < k; i++)
        if (idx[i] == bad)
            return st[i].MPI_ERROR;
    for (i = 0; i < n && k == 0; i++)
        if (i != bad)
            CHECK_ERR(st[i].MPI_ERROR, MPI_SUCCESS);
    return st[bad].MPI_ERROR;
}

/* An operation that its target refuses, between a good one and a message to this process: the call
 * that completes its request tells the error, to the window's handler, and no later call does. */
static void refused_by(enum how how, struct mt_win *w)
{
    enum { FAR = 1 << 20 };
    const int right = (w->rank + 1) % w->size;
    int64_t got = -1, none = -1;
    int in = -1, out = 7, err;
    MPI_Request req[3];
    MPI_Status st[3];

    mt_section("%s, a request that its target refuses", how_names[how]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MT_OK(MPI_Win_lock_all(0, w->win));
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &req[2]));
    MT_OK(MPI_Rget(&got, 1, MPI_INT64_T, right, mt_disp(w, right, 0), 1, MPI_INT64_T, w->win,
                   &req[0]));
    handled = 0;
    err = MPI_Rget(&none, 1, MPI_INT64_T, right, mt_disp(w, right, FAR), 1, MPI_INT64_T, w->win,
                   &req[1]);
    MT_OK(MPI_Send(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
    if (err == MPI_SUCCESS) {
        CHECK(handled == 0, "the handler was called before the wait");
        err = finish_bad(how, 3, 1, req, st);
    } else {
        req[1] = MPI_REQUEST_NULL;
    }
    CHECK_ERR(err, MPI_ERR_RMA_RANGE);
    CHECK(req[1] == MPI_REQUEST_NULL, "the request is still there");
    CHECK(handled == 1, "the window's handler was called %d times", handled);
    MT_OK(MPI_Waitall(3, req, st));
    MT_OK(MPI_Win_flush(right, w->win));
    MT_OK(MPI_Win_unlock_all(w->win));
    CHECK(handled == 1, "synchronization has told the error again");
    CHECK(got == 0 && in == 7, "the other requests: %ld and %d", (long)got, in);
    mt_errors_return(MPI_COMM_WORLD);
    mt_errors_return(MPI_COMM_SELF);
}

/* Several in one call: each status has its error, and the call, which returns one error, calls the
 * handler once (3.7.5). */
static void refused_together(enum how how, struct mt_win *w)
{
    enum { FAR = 1 << 20, N = 3 };
    const int right = (w->rank + 1) % w->size;
    int64_t got[N];
    int flag = 0, k = 0, idx[N], rc = MPI_SUCCESS, err;
    MPI_Request req[N];
    MPI_Status st[N];

    mt_section("%s, several requests that their target refuses", how_names[how]);
    MT_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < N; i++) {
        st[i].MPI_ERROR = -1;
        err = MPI_Rget(&got[i], 1, MPI_INT64_T, right, mt_disp(w, right, i == 1 ? 0 : FAR), 1,
                       MPI_INT64_T, w->win, &req[i]);
        if (err != MPI_SUCCESS) { /* told by the call itself, where the target's memory is seen */
            CHECK_ERR(err, MPI_ERR_RMA_RANGE);
            req[i] = MPI_REQUEST_NULL;
        }
    }
    handled = 0;
    if (req[0] != MPI_REQUEST_NULL && how == WAITALL) {
        CHECK_ERR(MPI_Waitall(N, req, st), MPI_ERR_IN_STATUS);
    } else if (req[0] != MPI_REQUEST_NULL) {
        while (!flag && rc == MPI_SUCCESS)
            rc = MPI_Testall(N, req, &flag, st);
        CHECK_ERR(rc, MPI_ERR_IN_STATUS);
    } else {
        MT_OK(MPI_Waitsome(N, req, &k, idx, st));
    }
    if (k == 0) {
        CHECK_ERR(st[0].MPI_ERROR, MPI_ERR_RMA_RANGE);
        CHECK_ERR(st[1].MPI_ERROR, MPI_SUCCESS);
        CHECK_ERR(st[2].MPI_ERROR, MPI_ERR_RMA_RANGE);
        CHECK(handled == 1, "the window's handler was called %d times", handled);
    }
    const int before = handled;
    MT_OK(MPI_Win_unlock_all(w->win));
    CHECK(handled == before, "synchronization has told the errors again");
}

/* What nobody awaits an answer of is complete when it has left, so that its refusal comes behind
 * the
 * wait: a flush tells it, as of a put without a request, and nothing tells it again. */
static void refused_puts(struct mt_win *w)
{
    enum { FAR = 1 << 20, LONG = 100000 };
    static char from[LONG];
    const int right = (w->rank + 1) % w->size;
    MPI_Request req = MPI_REQUEST_NULL;

    mt_section("puts with requests that their target refuses");
    for (int len = 8; len <= LONG; len += LONG - 8) {
        MT_OK(MPI_Win_lock_all(0, w->win));
        handled = 0;
        (void)MPI_Rput(from, len, MPI_BYTE, right, mt_disp(w, right, FAR), len, MPI_BYTE, w->win,
                       &req);
        (void)MPI_Wait(&req, MPI_STATUS_IGNORE);
        (void)MPI_Win_flush(right, w->win);
        CHECK(handled == 1, "%d bytes: the window's handler was called %d times", len, handled);
        MT_OK(MPI_Win_unlock_all(w->win));
        CHECK(handled == 1, "%d bytes: the unlock has told the error again", len);
        req = MPI_REQUEST_NULL;
    }
}

void refused(void)
{
    struct mt_win w;
    MPI_Errhandler own;

    mt_section("requests that targets refuse");
    if (!mt_win_make(&w, MT_DYNAMIC, 64, 1, MPI_COMM_WORLD))
        return;
    MT_OK(MPI_Win_create_errhandler(on_win_error, &own));
    MT_OK(MPI_Win_set_errhandler(w.win, own));
    MT_OK(MPI_Errhandler_free(&own));
    mt_sync(&w);
    for (enum how how = 0; how < HOWS; how++) {
        if (how != GET_STATUS && how != GET_STATUS_MANY)
            refused_by(how, &w);
    }
    refused_puts(&w);
    refused_together(WAITALL, &w);
    refused_together(TESTALL, &w);
    mt_sync(&w);
    mt_win_free(&w);
}
