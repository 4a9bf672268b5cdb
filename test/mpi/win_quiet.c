/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_quiet.c - errors that the program handles, and hints that make no sense; run by win_quiet.sh,
 * which looks at what is written meanwhile.
 *
 * Argument "errors": ten thousand errors of all kinds of calls under MPI_ERRORS_RETURN and under a
 * handler of the program's own. "few": one of each. "fatal": one under the default handler, whose
 * cause a lower layer finds. "remote": ten thousand operations that only their target can refuse,
 * if they go there by packet; "remote-fatal": one, under the default handler. "hints": windows
 * whose hints are not understood, differ, or are not kept. "nodes": a shared window over nodes.
 * "taken": what is wrong and done all the same, twice each.
 */
#include "mtest.h"

static const MPI_Aint TOO_MUCH = (MPI_Aint)1 << 55;

static int handled;

static void on_error(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
    handled++;
}

/* One error of each: of an operation, of synchronization, of creation, of memory. */
static void each_error(MPI_Win win)
{
    MPI_Win none = MPI_WIN_NULL;
    void *p;
    int x = 0;

    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_ERR(MPI_Put(&x, 1, MPI_INT, 0, 64, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_ERR(MPI_Accumulate(&x, 1, MPI_INT, mt_size, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RANK);
    MT_OK(MPI_Win_unlock(0, win));
    CHECK_ERR(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK_ERR(MPI_Win_attach(win, &x, 4), MPI_ERR_RMA_FLAVOR);
    CHECK_ERR(MPI_Alloc_mem(TOO_MUCH, MPI_INFO_NULL, &p), MPI_ERR_NO_MEM);
    CHECK_ERR(MPI_Free_mem(&x), MPI_ERR_BASE);
    CHECK_ERR(MPI_Win_allocate(TOO_MUCH, 1, MPI_INFO_NULL, MPI_COMM_SELF, &p, &none),
              MPI_ERR_NO_MEM);
}

static void errors(int rounds)
{
    struct mt_win w;
    MPI_Errhandler own;

    mt_section("%d rounds", rounds);
    if (!mt_win_make(&w, MT_ALLOCATE, 64, 1, MPI_COMM_WORLD))
        return;
    for (int i = 0; i < rounds; i++)
        each_error(w.win);
    MPI_Win_create_errhandler(on_error, &own);
    MPI_Win_set_errhandler(w.win, own);
    MPI_Errhandler_free(&own);
    CHECK_ERR(MPI_Win_unlock(0, w.win), MPI_ERR_RMA_SYNC);
    CHECK(handled == 1, "the program's handler was called %d times", handled);
    mt_win_free(&w);
}

/* Accesses of rank 0 to memory that rank 1 has not attached, ten at a time. */
static void remote_errors(int rounds, bool fatal)
{
    static int mine;
    MPI_Aint at;
    MPI_Win win;

    mt_section("%d rounds at another process", rounds);
    MPI_Get_address(&mine, &at);
    MPI_Bcast(&at, 1, MPI_AINT, 1, MPI_COMM_WORLD);
    MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    if (!fatal)
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; mt_rank == 0 && i < rounds; i++) {
        int err = MPI_SUCCESS;
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
        for (int k = 0; k < 10; k++) {
            const int called = MPI_Put(&mine, 1, MPI_INT, 1, at, 1, MPI_INT, win);
            err = err != MPI_SUCCESS ? err : called;
        }
        const int unlocked = MPI_Win_unlock(1, win);
        CHECK_ERR(err != MPI_SUCCESS ? err : unlocked, MPI_ERR_RMA_RANGE);
    }
    if (fatal && mt_rank == 0)
        printf("the call returned\n");
    MPI_Barrier(MPI_COMM_WORLD);
    MT_OK(MPI_Win_free(&win));
}

static void window_with(const char *key, const char *value)
{
    MPI_Win win;
    MPI_Info info;
    void *base;

    mt_section("%s=%s", key, value);
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    if (MT_OK(MPI_Win_allocate(64 + 8 * mt_rank, 1, info, MPI_COMM_WORLD, &base, &win)))
        MT_OK(MPI_Win_free(&win));
    MPI_Info_free(&info);
}

/* Locks despite no_locks, and operations with requests in a fence epoch. */
static void taken(void)
{
    int x = 1, *base;
    MPI_Win win;
    MPI_Info info;
    MPI_Request req;

    mt_section("what is wrong and taken");
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    for (int i = 0; i < 2; i++) {
        MT_OK(MPI_Win_allocate(64, 4, info, MPI_COMM_WORLD, &base, &win));
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        MT_OK(MPI_Win_lock_all(0, win));
        MT_OK(MPI_Win_unlock_all(win));
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        MT_OK(MPI_Win_unlock(0, win));
        MT_OK(MPI_Win_fence(0, win));
        if (MT_OK(MPI_Rput(&x, 1, MPI_INT, mt_rank, 0, 1, MPI_INT, win, &req)))
            MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        MT_OK(MPI_Win_free(&win));
    }
    MPI_Info_free(&info);
}

static void over_nodes(void)
{
    MPI_Win win = MPI_WIN_NULL;
    void *base;

    mt_section("MPI_Win_allocate_shared over nodes");
    CHECK_ERR(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
              MPI_ERR_RMA_SHARED);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    void *p;

    MT_INIT(argc, argv);
    if (strcmp(what, "errors") == 0) {
        errors(1430);
    } else if (strcmp(what, "few") == 0) {
        errors(1);
    } else if (strcmp(what, "remote") == 0 || strcmp(what, "remote-few") == 0) {
        remote_errors(what[6] ? 1 : 1000, false);
    } else if (strcmp(what, "remote-fatal") == 0) {
        remote_errors(1, true);
    } else if (strcmp(what, "taken") == 0) {
        taken();
    } else if (strcmp(what, "nodes") == 0) {
        over_nodes();
    } else if (strcmp(what, "fatal") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Alloc_mem(TOO_MUCH, MPI_INFO_NULL, &p);
        printf("the call returned\n");
    } else {
        window_with("no_locks", mt_rank == 0 ? "yes" : "false");
        window_with("mpi_accumulate_granularity", mt_rank == 0 ? "8" : "16");
        window_with("same_size", "true");
    }
    return MT_FINISH();
}
