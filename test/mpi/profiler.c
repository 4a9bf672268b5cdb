/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profiler.c - a profiling tool on top of the library (MPI 4.1, 15.2): the program defines MPI_X
 * for some calls and hands them on to PMPI_X. It sees every call of the program once, and none that
 * the library makes by itself.
 */
#include "mtest.h"

enum { ROUNDS = 25 };

enum call {
    PUT,
    GET,
    ACCUMULATE,
    FETCH,
    LOCK,
    UNLOCK,
    FLUSH,
    FENCE,
    ALLOCATE,
    FREE,
    WAIT,
    BARRIER,
    ALLGATHER,
    ALLREDUCE,
    CALLS
};
static const char *const names[CALLS] = {
    "MPI_Put",        "MPI_Get",       "MPI_Accumulate", "MPI_Fetch_and_op", "MPI_Win_lock",
    "MPI_Win_unlock", "MPI_Win_flush", "MPI_Win_fence",  "MPI_Win_allocate", "MPI_Win_free",
    "MPI_Wait",       "MPI_Barrier",   "MPI_Allgather",  "MPI_Allreduce"};
static long seen[CALLS];

#define TOOL __attribute__((visibility("default")))

TOOL int MPI_Put(const void *from, int n, MPI_Datatype type, int rank, MPI_Aint disp, int tn,
                 MPI_Datatype ttype, MPI_Win win)
{
    seen[PUT]++;
    return PMPI_Put(from, n, type, rank, disp, tn, ttype, win);
}

TOOL int MPI_Get(void *to, int n, MPI_Datatype type, int rank, MPI_Aint disp, int tn,
                 MPI_Datatype ttype, MPI_Win win)
{
    seen[GET]++;
    return PMPI_Get(to, n, type, rank, disp, tn, ttype, win);
}

TOOL int MPI_Accumulate(const void *from, int n, MPI_Datatype type, int rank, MPI_Aint disp, int tn,
                        MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    seen[ACCUMULATE]++;
    return PMPI_Accumulate(from, n, type, rank, disp, tn, ttype, op, win);
}

TOOL int MPI_Fetch_and_op(const void *from, void *to, MPI_Datatype type, int rank, MPI_Aint disp,
                          MPI_Op op, MPI_Win win)
{
    seen[FETCH]++;
    return PMPI_Fetch_and_op(from, to, type, rank, disp, op, win);
}

TOOL int MPI_Win_lock(int type, int rank, int asserts, MPI_Win win)
{
    seen[LOCK]++;
    return PMPI_Win_lock(type, rank, asserts, win);
}

TOOL int MPI_Win_unlock(int rank, MPI_Win win)
{
    seen[UNLOCK]++;
    return PMPI_Win_unlock(rank, win);
}

TOOL int MPI_Win_flush(int rank, MPI_Win win)
{
    seen[FLUSH]++;
    return PMPI_Win_flush(rank, win);
}

TOOL int MPI_Win_fence(int asserts, MPI_Win win)
{
    seen[FENCE]++;
    return PMPI_Win_fence(asserts, win);
}

TOOL int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                          MPI_Win *win)
{
    seen[ALLOCATE]++;
    return PMPI_Win_allocate(size, unit, info, comm, base, win);
}

TOOL int MPI_Win_free(MPI_Win *win)
{
    seen[FREE]++;
    return PMPI_Win_free(win);
}

TOOL int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    seen[WAIT]++;
    return PMPI_Wait(request, status);
}

TOOL int MPI_Barrier(MPI_Comm comm)
{
    seen[BARRIER]++;
    return PMPI_Barrier(comm);
}

TOOL int MPI_Allgather(const void *from, int n, MPI_Datatype type, void *to, int rn,
                       MPI_Datatype rtype, MPI_Comm comm)
{
    seen[ALLGATHER]++;
    return PMPI_Allgather(from, n, type, to, rn, rtype, comm);
}

TOOL int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm)
{
    seen[ALLREDUCE]++;
    return PMPI_Allreduce(from, to, n, type, op, comm);
}

static void check_seen(const long *expected)
{
    for (int i = 0; i < CALLS; i++)
        CHECK(seen[i] == expected[i], "%s: the tool saw %ld calls, the program made %ld", names[i],
              seen[i], expected[i]);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const int right = (mt_rank + 1) % mt_size;
    int64_t *base, value = 5, got = 0, old;
    MPI_Win win;
    MPI_Request request;

    mt_section("calls that a tool sees");
    memset(seen, 0, sizeof seen);
    MT_OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    for (int i = 0; i < ROUNDS; i++) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
        MT_OK(MPI_Put(&value, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, win));
        MT_OK(MPI_Win_flush(right, win));
        MT_OK(MPI_Get(&got, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, win));
        MT_OK(MPI_Accumulate(&value, 1, MPI_INT64_T, right, 1, 1, MPI_INT64_T, MPI_SUM, win));
        MT_OK(MPI_Fetch_and_op(&value, &old, MPI_INT64_T, right, 2, MPI_SUM, win));
        MT_OK(MPI_Rget(&got, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, win, &request));
        MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MT_OK(MPI_Win_unlock(right, win));
        CHECK(got == 5, "%lld", (long long)got);
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put(&value, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, win));
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    MT_OK(MPI_Win_free(&win));
    check_seen((const long[CALLS]){[PUT] = ROUNDS + 1,
                                   [GET] = ROUNDS,
                                   [ACCUMULATE] = ROUNDS,
                                   [FETCH] = ROUNDS,
                                   [LOCK] = ROUNDS,
                                   [UNLOCK] = ROUNDS,
                                   [FLUSH] = ROUNDS,
                                   [FENCE] = 2,
                                   [ALLOCATE] = 1,
                                   [FREE] = 1,
                                   [WAIT] = ROUNDS,
                                   [BARRIER] = 1});
    return MT_FINISH();
}
