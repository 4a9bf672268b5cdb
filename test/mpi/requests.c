/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests.c - request-based operations (MPI 4.1, 12.3.5).
 *
 * MPI_Rput, _Rget, _Raccumulate and _Rget_accumulate completed by every MPI_Wait
 * and MPI_Test function, among the host's own requests, null and inactive ones;
 * a thousand at a time; large ones before the unlock. MPI_Cancel and
 * MPI_Request_free of them are erroneous: MPI_ERR_REQUEST, and they stay usable. Requests of the
 * host that come after failed ones. What a target refuses is told once, by the call that completes
 * the request, to the window's error handler.
 */
#include "mtcomm.h"

#define MANY 1000
#define LARGE 600001

enum how {
    WAIT,
    WAITALL,
    WAITANY,
    WAITSOME,
    TEST,
    TESTALL,
    TESTANY,
    TESTSOME,
    GET_STATUS,
    GET_STATUS_MANY,
    HOWS
};
static const char *const how_names[HOWS] = {
    "Wait",
    "Waitall",
    "Waitany",
    "Waitsome",
    "Test",
    "Testall",
    "Testany",
    "Testsome",
    "Request_get_status",
    "Request_get_status_any, _all and _some",
};

/* Of the statuses only MPI_ERROR has a meaning here (12.3.5); the calls look at it. */
static void finish_each(enum how how, int n, MPI_Request *req, MPI_Status *st)
{
    for (int i = n - 1; i >= 0; i--) {
        int flag = 0;
        if (how == WAIT) {
            MT_OK(MPI_Wait(&req[i], &st[i]));
        } else if (how == TEST) {
            while (!flag && MT_OK(MPI_Test(&req[i], &flag, &st[i]))) {
            }
        } else {
            while (!flag && MT_OK(MPI_Request_get_status(req[i], &flag, &st[i]))) {
            }
            flag = 0;
            MT_OK(MPI_Request_get_status(req[i], &flag, &st[i]));
            CHECK(flag, "MPI_Request_get_status is true only once");
            MT_OK(MPI_Wait(&req[i], &st[i]));
        }
    }
}

/* By the functions that pick; inactive entries (persistent) do not count. */
static void finish_picked(enum how how, int n, int active, MPI_Request *req, MPI_Status *st)
{
    int *idx = mt_alloc((size_t)n * sizeof *idx), left = active, k = 0;

    while (left > 0) {
        int flag = 1, i = MPI_UNDEFINED;
        bool ok = true;
        if (how == WAITANY) {
            ok = MT_OK(MPI_Waitany(n, req, &i, st));
            k = i != MPI_UNDEFINED;
        } else if (how == TESTANY) {
            ok = MT_OK(MPI_Testany(n, req, &i, &flag, st));
            k = flag && i != MPI_UNDEFINED;
        } else if (how == WAITSOME) {
            ok = MT_OK(MPI_Waitsome(n, req, &k, idx, st));
        } else {
            ok = MT_OK(MPI_Testsome(n, req, &k, idx, st));
        }
        if (!ok || !CHECK(k != MPI_UNDEFINED, "MPI_UNDEFINED with %d of %d left", left, active)) {
            break;
        }
        left -= k;
    }
    int flag = 0, i = 0;
    MT_OK(MPI_Testany(n, req, &i, &flag, st));
    CHECK(flag && i == MPI_UNDEFINED, "no active request is left: flag %d, index %d", flag, i);
    free(idx);
}

/* MPI 4.1, 3.7.6: asked until there is one, some, all. No request is changed by that, and what
 * completes them then is MPI_Waitall. MPICH 4.2's _some makes progress only while none is complete,
 * so it is not asked for all before they are. */
#ifdef HAVE_MPI_GET_STATUS_MANY
static void finish_watched(int n, int active, MPI_Request *req, MPI_Status *st)
{
    int *idx = mt_alloc((size_t)n * sizeof *idx), flag = 0, i = MPI_UNDEFINED, k = 0;

    while (!flag && MT_OK(MPI_Request_get_status_any(n, req, &i, &flag, st))) {
    }
    if (CHECK(i >= 0 && i < n, "MPI_Request_get_status_any: index %d of %d", i, n)) {
        MT_OK(MPI_Request_get_status(req[i], &flag, st));
        CHECK(flag, "request %d is complete for MPI_Request_get_status_any only", i);
    }
    MT_OK(MPI_Request_get_status_some(n, req, &k, idx, st));
    CHECK(k >= 1 && k <= active, "MPI_Request_get_status_some: %d of %d, one was complete before",
          k, active);
    for (flag = 0; !flag && MT_OK(MPI_Request_get_status_all(n, req, &flag, st));) {
    }
    MT_OK(MPI_Request_get_status_some(n, req, &k, idx, st));
    CHECK(k == active, "MPI_Request_get_status_some: %d, all %d are complete", k, active);
    MT_OK(MPI_Waitall(n, req, st));
    free(idx);
}
#else
static void finish_watched(int n, int active, MPI_Request *req, MPI_Status *st)
{
    (void)active;
    mt_skip("the host has no MPI_Request_get_status_any, _all and _some");
    MT_OK(MPI_Waitall(n, req, st));
}
#endif

static void finish(enum how how, int n, int active, MPI_Request *req)
{
    MPI_Status *st = mt_alloc((size_t)n * sizeof *st);
    int flag = 0;

    if (how == WAITALL) {
        MT_OK(MPI_Waitall(n, req, st));
    } else if (how == TESTALL) {
        while (!flag && MT_OK(MPI_Testall(n, req, &flag, st))) {
        }
    } else if (how == GET_STATUS_MANY) {
        finish_watched(n, active, req, st);
    } else if (how == WAIT || how == TEST || how == GET_STATUS) {
        finish_each(how, n, req, st);
    } else {
        finish_picked(how, n, active, req, st);
    }
    free(st);
}

/* Four kinds of operations on four parts of the target, each with its own completion. */
static void each_way(const struct mt_win *w, enum how how, int shift)
{
    enum { PER = 5, N = 4 * PER };
    int target = (w->rank + shift) % w->size;
    int64_t put[PER], got[PER], one = 1, was[PER], back[N];
    MPI_Request req[N];
    MPI_Aint base = (MPI_Aint)w->rank * N * 8;

    for (int i = 0; i < N; i++) {
        back[i] = i * 3;
    }
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
    MT_OK(MPI_Put(back, N, MPI_INT64_T, target, mt_disp(w, target, base), N, MPI_INT64_T, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
    for (int i = 0; i < PER; i++) {
        put[i] = 1000 + i;
        got[i] = was[i] = -1;
        MT_OK(MPI_Rput(&put[i], 1, MPI_INT64_T, target, mt_disp(w, target, base + i * 8), 1,
                       MPI_INT64_T, w->win, &req[i]));
        MT_OK(MPI_Rget(&got[i], 1, MPI_INT64_T, target, mt_disp(w, target, base + (PER + i) * 8), 1,
                       MPI_INT64_T, w->win, &req[PER + i]));
        MT_OK(MPI_Raccumulate(&one, 1, MPI_INT64_T, target,
                              mt_disp(w, target, base + (2 * PER + i) * 8), 1, MPI_INT64_T, MPI_SUM,
                              w->win, &req[2 * PER + i]));
        MT_OK(MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &was[i], 1, MPI_INT64_T, target,
                                  mt_disp(w, target, base + (3 * PER + i) * 8), 1, MPI_INT64_T,
                                  MPI_SUM, w->win, &req[3 * PER + i]));
    }
    finish(how, N, N, req);
    for (int i = 0; i < N; i++) {
        CHECK(req[i] == MPI_REQUEST_NULL, "request %d is not null after %s", i, how_names[how]);
    }
    for (int i = 0; i < PER; i++) {
        CHECK(got[i] == (PER + i) * 3, "rget %d: %ld", i, (long)got[i]);
        CHECK(was[i] == (3 * PER + i) * 3, "rget_accumulate %d: %ld", i, (long)was[i]);
        put[i] = -7; /* the origin buffer is ours again */
    }
    MT_OK(MPI_Win_flush(target, w->win));
    MT_OK(MPI_Get(back, N, MPI_INT64_T, target, mt_disp(w, target, base), N, MPI_INT64_T, w->win));
    MT_OK(MPI_Win_unlock(target, w->win));
    for (int i = 0; i < N; i++) {
        int64_t want = i < PER ? 1000 + i : i * 3 + (i >= 2 * PER);
        CHECK(back[i] == want, "%d: %ld, expected %ld", i, (long)back[i], (long)want);
    }
}

/* Among host requests to a neighbour, null and inactive persistent ones. */
static void mixed(const struct mt_win *w, enum how how)
{
    int right = (w->rank + 1) % w->size, left = (w->rank - 1 + w->size) % w->size;
    int out = w->rank + 50, in = -1, never = 0;
    int64_t v = w->rank, got = -1;
    MPI_Request req[6];
    MPI_Request idle;

    MT_OK(MPI_Recv_init(&never, 1, MPI_INT, left, 99, MPI_COMM_WORLD, &idle));
    MT_OK(MPI_Win_lock_all(0, w->win));
    req[0] = MPI_REQUEST_NULL;
    MT_OK(MPI_Rput(&v, 1, MPI_INT64_T, right, mt_disp(w, right, (MPI_Aint)w->rank * 160), 1,
                   MPI_INT64_T, w->win, &req[1]));
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &req[2]));
    req[3] = idle;
    MT_OK(MPI_Rget(&got, 1, MPI_INT64_T, w->rank, mt_disp(w, w->rank, 8), 1, MPI_INT64_T, w->win,
                   &req[4]));
    MT_OK(MPI_Isend(&out, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &req[5]));
    finish(how, 6, 4, req);
    CHECK(in == left + 50, "received %d", in);
    CHECK(req[3] == idle, "an inactive persistent request must stay");
    CHECK(req[1] == MPI_REQUEST_NULL && req[2] == MPI_REQUEST_NULL && req[4] == MPI_REQUEST_NULL &&
              req[5] == MPI_REQUEST_NULL,
          "%s left requests", how_names[how]);
    MT_OK(MPI_Win_unlock_all(w->win));
    MT_OK(MPI_Request_free(&idle));
}

static void completions(enum mt_kind kind)
{
    struct mt_win w;

    mt_section("completions, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, mt_size * 160, 1, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    for (enum how how = 0; how < HOWS; how++) {
        mt_section("MPI_%s, %s", how_names[how], mt_kind_name(kind));
        for (int shift = 0; shift < 2; shift++) {
            each_way(&w, how, shift);
        }
    }
    mt_sync(&w);
    for (enum how how = 0; how < HOWS; how++) {
        mt_section("MPI_%s with host requests, %s", how_names[how], mt_kind_name(kind));
        mixed(&w, how);
    }
    mt_sync(&w);
    mt_win_free(&w);
}

/* A thousand at a time, completed in another order than issued. */
static void many(enum mt_kind kind)
{
    struct mt_win w;
    static int64_t src[MANY], dst[MANY];
    static MPI_Request req[MANY];
    static MPI_Status st[MANY];

    mt_section("%d outstanding, %s", MANY, mt_kind_name(kind));
    if (!mt_win_make(&w, kind, MANY * 8, 1, MPI_COMM_WORLD)) {
        return;
    }
    int right = (w.rank + 1) % w.size, left = (w.rank - 1 + w.size) % w.size;
    mt_sync(&w);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w.win));
    for (int i = 0; i < MANY; i++) {
        src[i] = w.rank * 100000 + i;
        MT_OK(MPI_Rput(&src[i], 1, MPI_INT64_T, right, mt_disp(&w, right, i * 8), 1, MPI_INT64_T,
                       w.win, &req[i]));
    }
    for (int i = MANY - 1; i >= MANY / 2; i--) {
        MT_OK(MPI_Wait(&req[i], &st[i]));
    }
    MT_OK(MPI_Waitall(MANY, req, st));
    MT_OK(MPI_Win_flush(right, w.win));
    for (int i = 0; i < MANY; i++) {
        dst[i] = 0;
        MT_OK(MPI_Rget(&dst[i], 1, MPI_INT64_T, right, mt_disp(&w, right, i * 8), 1, MPI_INT64_T,
                       w.win, &req[i]));
    }
    finish(WAITSOME, MANY, MANY, req);
    MT_OK(MPI_Win_unlock(right, w.win));
    CHECK_EQUAL(dst, src, sizeof src);
    mt_sync(&w);
    for (int i = 0; i < MANY; i++) {
        src[i] = left * 100000 + i;
    }
    CHECK_EQUAL(w.base, src, sizeof src);
    mt_win_free(&w);
}

/* Large ones are complete at MPI_Wait, not at the unlock. */
static void large(enum mt_kind kind)
{
    struct mt_win w;
    char *src = mt_alloc(LARGE), *dst = mt_alloc(LARGE);
    MPI_Request req[2];
    MPI_Status st[2];

    mt_section("large, %s", mt_kind_name(kind));
    if (mt_win_make(&w, kind, 2 * LARGE, 1, MPI_COMM_WORLD)) {
        int right = (w.rank + 1) % w.size, left = (w.rank - 1 + w.size) % w.size;
        mt_fill(w.base, LARGE, (uint32_t)w.rank);
        mt_sync(&w);
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w.win));
        mt_fill(src, LARGE, 100 + (uint32_t)w.rank);
        memset(dst, 0, LARGE);
        MT_OK(MPI_Rput(src, LARGE, MPI_BYTE, right, mt_disp(&w, right, LARGE), LARGE, MPI_BYTE,
                       w.win, &req[0]));
        MT_OK(MPI_Rget(dst, LARGE, MPI_BYTE, right, mt_disp(&w, right, 0), LARGE, MPI_BYTE, w.win,
                       &req[1]));
        MT_OK(MPI_Wait(&req[1], &st[1]));
        CHECK_FILL(dst, LARGE, (uint32_t)right);
        MT_OK(MPI_Wait(&req[0], &st[0]));
        memset(src, 0, LARGE);
        MT_OK(MPI_Win_unlock(right, w.win));
        mt_sync(&w);
        CHECK_FILL(w.base + LARGE, LARGE, 100 + (uint32_t)left);
        mt_win_free(&w);
    }
    free(src);
    free(dst);
}

/* Not allowed on these requests. With MPIRMA_STRICT all are recognized, also of what is complete
 * when
 * its call returns; with MPI_ERRORS_RETURN the request survives the refusal. */
static void erroneous(enum mt_kind kind)
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
static void after_failed(void)
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

/* In active target epochs these operations are wrong (12.3.5), and done as on the hosts; with
 * MPIRMA_STRICT they are MPI_ERR_RMA_SYNC. Each rank puts, adds and gets at the next one. */
static void in_epoch(struct mt_win *w, int target, MPI_Aint at)
{
    const char *strict = getenv("MPIRMA_STRICT");
    static int64_t put, one = 1, got[2000];
    MPI_Request req[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status st[3];
    const MPI_Aint base = mt_disp(w, target, at);

    put = 40 + w->rank;
    if (strict != NULL && strcmp(strict, "1") == 0) {
        CHECK_ERR(MPI_Rput(&put, 1, MPI_INT64_T, target, base, 1, MPI_INT64_T, w->win, &req[0]),
                  MPI_ERR_RMA_SYNC);
        CHECK_ERR(MPI_Rget(got, 1, MPI_INT64_T, target, base, 1, MPI_INT64_T, w->win, &req[0]),
                  MPI_ERR_RMA_SYNC);
        MT_OK(MPI_Put(&put, 1, MPI_INT64_T, target, base, 1, MPI_INT64_T, w->win));
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, target, base + 8, 1, MPI_INT64_T, MPI_SUM,
                             w->win));
        return;
    }
    memset(got, -1, sizeof got);
    MT_OK(MPI_Rput(&put, 1, MPI_INT64_T, target, base, 1, MPI_INT64_T, w->win, &req[0]));
    MT_OK(MPI_Raccumulate(&one, 1, MPI_INT64_T, target, base + 8, 1, MPI_INT64_T, MPI_SUM, w->win,
                          &req[1]));
    MT_OK(MPI_Rget(got, 2000, MPI_INT64_T, target, base + 64, 2000, MPI_INT64_T, w->win, &req[2]));
    MT_OK(MPI_Waitall(3, req, st));
    put = -1;
    CHECK(got[0] == 0 && got[1999] == 0, "got %ld and %ld", (long)got[0], (long)got[1999]);
}

static void active(enum mt_kind kind)
{
    struct mt_win w;
    int64_t v[2];

    mt_section("in active target epochs, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 20000, 1, MPI_COMM_WORLD))
        return;
    const int right = (w.rank + 1) % w.size, left = (w.rank - 1 + w.size) % w.size;
    for (int round = 1; round <= 3; round++) {
        MT_OK(MPI_Win_fence(0, w.win));
        in_epoch(&w, right, 0);
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
        memcpy(v, w.base, sizeof v);
        CHECK(v[0] == 40 + left && v[1] == 2 * round - 1, "fence: %ld and %ld", (long)v[0],
              (long)v[1]);
        mt_epoch_begin(&w, MT_EP_PSCW, right, left);
        in_epoch(&w, right, 0);
        mt_epoch_end(&w, MT_EP_PSCW, right);
        memcpy(v, w.base, sizeof v);
        CHECK(v[0] == 40 + left && v[1] == 2 * round, "PSCW: %ld and %ld", (long)v[0], (long)v[1]);
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

static void refused(void)
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

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    MT_FOR_KINDS(kind)
    {
        completions(kind);
        many(kind);
        large(kind);
        erroneous(kind);
        active(kind);
    }
    after_failed();
    refused();
    return MT_FINISH();
}
