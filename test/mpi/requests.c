/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests.c - request-based operations (MPI 4.1, 12.3.5).
 *
 * MPI_Rput, _Rget, _Raccumulate and _Rget_accumulate completed by every MPI_Wait
 * and MPI_Test function, among the host's own requests, null and inactive ones;
 * a thousand at a time; large ones before the unlock; in active target epochs. requests_errors.c
 * has what is wrong with them.
 */
#include "requests.h"

#define MANY 1000
#define LARGE 600001

const char *const how_names[HOWS] = {
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
