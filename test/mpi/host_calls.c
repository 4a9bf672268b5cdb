/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_calls.c - operations on the memory of a process that waits in a call of the host:
 * MPI_Barrier, MPI_Recv, MPI_Wait, MPI_Allreduce, a loop of MPI_Test; or has just left it and
 * computes. All operations land, and none waits for a call of the target into the library
 * (MPI 4.1, 12.7.3).
 *
 * host_calls.sh looks at the statistics of one such wait.
 *
 *   host_calls             all sections
 *   host_calls served N    rank 0 does N accumulates, each with a flush, on the last rank, which is
 *                          in MPI_Recv, and says whether the host lets others into its
 *                          progress
 */
#define _GNU_SOURCE 1
#include "mtest.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

enum call { BARRIER, RECV, WAIT, TEST, ALLREDUCE, CALLS };
enum { ROUNDS = 12, OPS = 20, CELLS = 2048 };

static struct mt_win w;
static int last;

static MPI_Aint cell(int i)
{
    return mt_disp(&w, last, (MPI_Aint)sizeof(int64_t) * i);
}

/* The last rank waits until rank 0 comes. */
static void await(enum call call)
{
    int64_t in = 1, out = 0;
    int flag = 0;
    MPI_Request req;

    if (call == BARRIER)
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (call == ALLREDUCE)
        MT_OK(MPI_Allreduce(&in, &out, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    if (call == RECV)
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (call == WAIT || call == TEST)
        MT_OK(MPI_Irecv(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &req));
    if (call == WAIT)
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    while (call == TEST && !flag)
        MT_OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
}

/* Rank 0 comes; the others only take part in collective calls. */
static void come(enum call call)
{
    if (call == BARRIER || call == ALLREDUCE)
        await(call);
    else if (mt_rank == 0)
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, last, 5, MPI_COMM_WORLD));
}

/* Short and long, with and without results. */
static void operate(int round)
{
    static int64_t out[CELLS], in[CELLS];
    const int64_t one = 1;
    int64_t old;

    MT_OK(MPI_Win_lock(round % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, last, 0, w.win));
    for (int i = 0; i < OPS; i++) {
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, last, cell(0), 1, MPI_INT64_T, MPI_SUM, w.win));
        MT_OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, last, cell(1), MPI_SUM, w.win));
        MT_OK(MPI_Win_flush(last, w.win));
        CHECK(old == (int64_t)round * OPS + i, "round %d, operation %d: fetched %lld", round, i,
              (long long)old);
    }
    for (int i = 0; i < CELLS; i++)
        out[i] = round * CELLS + i;
    MT_OK(MPI_Put(out, CELLS - 2, MPI_INT64_T, last, cell(2), CELLS - 2, MPI_INT64_T, w.win));
    MT_OK(MPI_Win_flush(last, w.win));
    MT_OK(MPI_Get(in, CELLS - 2, MPI_INT64_T, last, cell(2), CELLS - 2, MPI_INT64_T, w.win));
    MT_OK(MPI_Win_unlock(last, w.win));
    CHECK(memcmp(in, out, (CELLS - 2) * sizeof *in) == 0,
          "round %d: what was put is not what was got", round);
}

static void during(enum mt_kind kind, enum call call)
{
    static const char *const names[] = {"MPI_Barrier", "MPI_Recv", "MPI_Wait", "MPI_Test",
                                        "MPI_Allreduce"};

    mt_section("in %s, %s", names[call], mt_kind_name(kind));
    if (!mt_win_make(&w, kind, CELLS * sizeof(int64_t), 1, MPI_COMM_WORLD))
        return;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < ROUNDS; round++) {
        if (mt_rank == last) {
            await(call);
            continue;
        }
        if (mt_rank == 0 && round % 3)
            usleep(200); /* the last rank is in the call by now, or just behind it */
        if (mt_rank == 0)
            operate(round);
        come(call);
    }
    mt_win_free(&w);
}

/* What comes when the target has just left the host's call, and computes, is served by its agent.
 */
static void taken_over(enum mt_kind kind)
{
    const int64_t one = 1;

    mt_section("out of MPI_Barrier, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, sizeof(int64_t), 1, MPI_COMM_WORLD))
        return;
    MT_OK(MPI_Win_lock_all(0, w.win));
    for (int64_t i = 1; i <= 40; i++) {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mt_rank == 0) {
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, last, cell(0), 1, MPI_INT64_T, MPI_SUM,
                                 w.win));
            MT_OK(MPI_Win_flush(last, w.win));
        }
        if (mt_rank == last) /* without a call; the watchdog ends what hangs */
            while (__atomic_load_n((int64_t *)(void *)w.base, __ATOMIC_ACQUIRE) != i)
                sched_yield();
    }
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_win_free(&w);
}

/* Is the host linked with UCX? The library under test has a function of the same name. */
static bool has_ucx(void)
{
    Dl_info host;
    void *library = dladdr((void *)(intptr_t)PMPI_Send, &host)
                        ? dlopen(host.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    return library && dlsym(library, "ucp_worker_progress");
}

static bool lets_in(void)
{
    return dlsym(RTLD_DEFAULT, "opal_progress_register") ||
           dlsym(RTLD_DEFAULT, "MPIX_Async_start") || has_ucx();
}

static void served(int flushes)
{
    const int64_t one = 1;
    int64_t sum = 0;

    mt_section("served in MPI_Recv");
    if (mt_rank == 0)
        printf("lets in: %s\n", lets_in() ? "yes" : "no");
    if (!mt_win_make(&w, MT_CREATE_MALLOC, sizeof(int64_t), 1, MPI_COMM_WORLD))
        return;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt_rank == last)
        await(RECV);
    if (mt_rank == 0) {
        usleep(50000); /* the last rank is there by now */
        MT_OK(MPI_Win_lock_all(0, w.win));
        for (int i = 0; i < flushes; i++) {
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT64_T, last, cell(0), 1, MPI_INT64_T, MPI_SUM,
                                 w.win));
            MT_OK(MPI_Win_flush(last, w.win));
        }
        MT_OK(MPI_Fetch_and_op(NULL, &sum, MPI_INT64_T, last, cell(0), MPI_NO_OP, w.win));
        MT_OK(MPI_Win_unlock_all(w.win));
        CHECK(sum == flushes, "%ld of %d", (long)sum, flushes);
    }
    come(RECV);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    mt_win_free(&w);
}

int main(int argc, char **argv)
{
    MT_INIT_THREAD(argc, argv, MPI_THREAD_SINGLE);
    last = mt_size - 1;
    if (argc > 2 && strcmp(argv[1], "served") == 0) {
        served(atoi(argv[2]));
        return MT_FINISH();
    }
    for (enum call call = 0; call < CALLS && mt_size > 1; call++)
        MT_FOR_KINDS(kind)
    during(kind, call);
    MT_FOR_KINDS(kind)
    taken_over(kind);
    return MT_FINISH();
}
