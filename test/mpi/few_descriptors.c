/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * few_descriptors.c WHEN [RANK] - the program has used up all file descriptors that its processes
 * may have, or that of RANK. A call of the library then does its work, or ends with MPI_ERR_OTHER
 * within PATIENCE; it never hangs. Once the files are closed, what was not lost works.
 *
 * WHEN: "create": before the first window is made, which all processes fail to do. "use": after the
 * window was made, before anything goes through it, by all processes. "serve": likewise, but RANK
 * computes in a call of the host, and all others have to do with it. "finalize": before
 * MPI_Finalize; all windows are freed.
 */
#include "mtcomm.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 256, SPARE = 8, BYTES = 4096, PATIENCE = 10 };

static int taken[MOST], ntaken;

/* So few are allowed that they are soon used up; the host has some open. */
static void use_up(void)
{
    struct rlimit limit;
    int fd = open("/dev/null", O_RDONLY);

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "%s", strerror(errno));
    limit.rlim_cur = (rlim_t)fd + SPARE;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "%s", strerror(errno));
    while (fd >= 0 && ntaken < MOST) {
        taken[ntaken++] = fd;
        fd = open("/dev/null", O_RDONLY);
    }
    CHECK(fd < 0 && errno == EMFILE, "%d descriptors are not all", ntaken);
}

static void give_back(void)
{
    struct rlimit limit;

    while (ntaken) {
        close(taken[--ntaken]);
    }
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "%s", strerror(errno));
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "%s", strerror(errno));
}

/* The call has ended with rc, which began then. */
static bool works(const char *call, int rc, double began)
{
    const double took = MPI_Wtime() - began;
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    CHECK(class == MPI_SUCCESS || class == MPI_ERR_OTHER, "%s gave %s", call, mt_class_name(class));
    CHECK(took < PATIENCE, "%s took %.1f s", call, took);
    return class == MPI_SUCCESS;
}

/* An int to the target and back. */
static bool put_and_get(MPI_Win win, int target)
{
    const int sent = 1000 + mt_rank;
    int seen = 0;
    const MPI_Aint disp = (MPI_Aint)sizeof(int) * mt_rank;
    const double began = MPI_Wtime();
    int rc = MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);

    if (rc == MPI_SUCCESS) {
        rc = MPI_Put(&sent, 1, MPI_INT, target, disp, 1, MPI_INT, win);
        rc = rc == MPI_SUCCESS ? MPI_Win_flush(target, win) : rc;
        rc = rc == MPI_SUCCESS ? MPI_Get(&seen, 1, MPI_INT, target, disp, 1, MPI_INT, win) : rc;
        const int unlock = MPI_Win_unlock(target, win);
        rc = rc == MPI_SUCCESS ? unlock : rc;
    }
    const bool worked = works("an epoch", rc, began);
    CHECK(!worked || seen == sent, "rank %d: sent %d, saw %d", target, sent, seen);
    return worked;
}

static MPI_Win window(bool *made)
{
    MPI_Win win = MPI_WIN_NULL;
    void *base;
    const double began = MPI_Wtime();

    *made = works("MPI_Win_allocate",
                  MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), began);
    if (*made) {
        MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    }
    return win;
}

static void create(bool is_short)
{
    bool made;
    MPI_Win win;

    if (is_short) {
        use_up();
    }
    win = window(&made);
    give_back();
    CHECK(!made, "a window was made without descriptors");
    win = window(&made);
    CHECK(made, "no window, though there are descriptors again");
    for (int k = 0; made && k < mt_size; k++) {
        CHECK(put_and_get(win, k), "no epoch, though there are descriptors again");
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_free(&win));
}

/* Each with each, or the others with the one. */
static void use(bool is_short, int served)
{
    const bool node = mt_path_is("auto") && !getenv("MPIRMA_RANKS_PER_NODE");
    bool made, worked = true;
    MPI_Win win = window(&made);

    if (!CHECK(made, "no window")) {
        return;
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (is_short) {
        use_up();
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int k = 0; k < mt_size; k++) {
        if (served < 0 || (k == served && mt_rank != served)) {
            worked = put_and_get(win, k) && worked;
        }
    }
    CHECK(worked || !node, "loads and stores need no descriptors");
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    give_back();
    const double began = MPI_Wtime();
    (void)works("MPI_Win_free", MPI_Win_free(&win), began);
}

/* The agent has fallen asleep by then. */
static void finalize(bool is_short)
{
    bool made;
    MPI_Win win = window(&made);

    for (int k = 0; made && k < mt_size; k++) {
        CHECK(put_and_get(win, k), "no epoch");
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_free(&win));
    if (is_short) {
        use_up();
    }
    usleep(200000);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    const char *when = argc > 1 ? argv[1] : "";
    const int one = argc > 2 ? atoi(argv[2]) : -1;
    const bool is_short = one < 0 || one == mt_rank;

    MT_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the host has connected */
    mt_section("%s", when);
    if (strcmp(when, "create") == 0) {
        create(is_short);
    } else if (strcmp(when, "use") == 0) {
        use(is_short, -1);
    } else if (strcmp(when, "serve") == 0) {
        use(is_short, one);
    } else if (strcmp(when, "finalize") == 0) {
        finalize(is_short);
    } else {
        CHECK(when == NULL, "when: '%s'", when);
    }
    return MT_FINISH();
}
