/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_pending.c - the Test family and MPI_Request_get_status while an R-operation cannot be
 * complete, beside a request of the host that is (MPI 4.1, 3.7.3, 3.7.5, 3.7.6, 12.3.5).
 *
 * Rank 1 holds its own lock until rank 0, which gets from it, says by a message that it has tested
 * enough. Only where a lock is asked for by packets: elsewhere rank 0 would wait in MPI_Win_lock.
 * No test may end the get, nor take the other request where it completes all or none; and what is
 * erroneous for the request of an R-operation is refused while it is pending.
 */
#include "mtcomm.h"

enum { GET, RECV, BOTH, TESTS = 50 };

static void never_complete(MPI_Request req[BOTH])
{
    const MPI_Request same[BOTH] = {req[GET], req[RECV]};
    MPI_Status st[BOTH];
    int flag, index, n, indices[BOTH];

    for (int i = 0; i < TESTS; i++) {
        flag = 1;
        MT_OK(MPI_Test(&req[GET], &flag, &st[GET]));
        CHECK(!flag, "MPI_Test");
        flag = 1;
        MT_OK(MPI_Request_get_status(req[GET], &flag, &st[GET]));
        CHECK(!flag, "MPI_Request_get_status");
        flag = 1;
        MT_OK(MPI_Testall(BOTH, req, &flag, st));
        CHECK(!flag, "MPI_Testall");
        flag = 1;
        MT_OK(MPI_Testany(1, req, &index, &flag, &st[GET]));
        CHECK(!flag, "MPI_Testany: index %d", index);
        n = -1;
        MT_OK(MPI_Testsome(1, req, &n, indices, st));
        CHECK(n == 0, "MPI_Testsome: %d", n);
    }
    CHECK(req[GET] == same[GET] && req[RECV] == same[RECV], "a test has taken a request");
    CHECK_ERR(MPI_Start(&req[GET]), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Startall(1, &req[GET]), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Cancel(&req[GET]), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Request_free(&req[GET]), MPI_ERR_REQUEST);
    CHECK(req[GET] == same[GET], "a call that was refused has changed the request");
}

enum how { WAIT, WAITANY, WAITSOME, WAITALL, HOWS };

static void finish(enum how how, MPI_Request req[BOTH])
{
    MPI_Status st[BOTH];
    int index = -1, n = -1, indices[BOTH];

    if (how == WAIT) {
        MT_OK(MPI_Wait(&req[GET], &st[GET]));
    } else if (how == WAITANY) {
        MT_OK(MPI_Waitany(BOTH, req, &index, &st[GET]));
        CHECK(index == GET, "index %d", index);
    } else if (how == WAITSOME) {
        MT_OK(MPI_Waitsome(BOTH, req, &n, indices, st));
        CHECK(n == 1 && indices[0] == GET, "%d, the first at %d", n, indices[0]);
    } else {
        MT_OK(MPI_Waitall(BOTH, req, st));
    }
    CHECK(req[GET] == MPI_REQUEST_NULL, "the request is still there");
}

static void get_beside(const struct mt_win *w, enum how how)
{
    int64_t got = -1;
    int index = -1, flag = 0, in = 0;
    const int out = 7;
    MPI_Request req[BOTH];

    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w->win));
    MT_OK(MPI_Rget(&got, 1, MPI_INT64_T, 1, mt_disp(w, 1, 0), 1, MPI_INT64_T, w->win, &req[GET]));
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &req[RECV]));
    MT_OK(MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    never_complete(req);
    while (!flag && MT_OK(MPI_Testany(BOTH, req, &index, &flag, MPI_STATUS_IGNORE)))
        ;
    CHECK(index == RECV && in == out && req[RECV] == MPI_REQUEST_NULL, "index %d, received %d",
          index, in);
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
    finish(how, req);
    CHECK(got == 42, "got %ld", (long)got);
    MT_OK(MPI_Win_unlock(1, w->win));
}

int main(int argc, char **argv)
{
    const int64_t value = 42;
    struct mt_win w;

    MT_INIT(argc, argv);
    mt_section("tests of a request that is pending");
    if (!mt_win_make(&w, MT_CREATE_MALLOC, sizeof value, 1, MPI_COMM_WORLD))
        return MT_FINISH();
    memcpy(w.base, &value, sizeof value);
    mt_sync(&w);
    for (enum how how = 0; how < HOWS; how++) {
        if (w.rank == 1)
            MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (w.rank == 0)
            get_beside(&w, how);
        if (w.rank == 1) {
            MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MT_OK(MPI_Win_unlock(1, w.win));
        }
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    mt_win_free(&w);
    return MT_FINISH();
}
