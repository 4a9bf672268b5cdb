/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alloc_fork.c - memory of MPI_Alloc_mem belongs to the process, as it does with both hosts: a
 * child of fork has a copy, what starts other programs is not slowed by it, and what is not freed
 * stays after MPI_Finalize.
 *
 * Argument: "plain", or "windows" for a program with windows over that memory.
 */
#include "mtest.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 1000, LARGE = (5 << 20) + 3 };

static unsigned char *small, *large;

static bool all(const unsigned char *p, size_t from, size_t to, int value)
{
    for (size_t i = from; i < to; i++)
        if (p[i] != value)
            return false;
    return true;
}

static int status_of(pid_t pid)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

/* The child: it sees what was stored before the fork, and stores itself. */
static int child(int told)
{
    char byte;
    if (read(told, &byte, 1) != 0) /* the parent has stored, and closed its end */
        return 1;
    if (!all(small, 0, SMALL, 1))
        return 2;
    if (!all(large, 0, LARGE, 2))
        return 3;
    memset(small, 11, SMALL);
    memset(large, 12, LARGE);
    if (fork() == 0)
        _exit(all(small, 0, SMALL, 11) && all(large, 0, LARGE, 12) ? 0 : 4);
    int status;
    wait(&status);
    return WEXITSTATUS(status);
}

/* 0, or what was wrong; the contents are as before then. */
static int fork_once(void)
{
    int told[2];
    memset(small, 1, SMALL);
    memset(large, 2, LARGE);
    if (pipe(told) != 0)
        return -1;
    const pid_t pid = fork();
    if (pid == 0) {
        close(told[1]);
        _exit(child(told[0]));
    }
    memset(small, 21, SMALL);
    memset(large + 4096, 22, LARGE - 4096);
    close(told[1]);
    const int status = status_of(pid);
    close(told[0]);
    if (status != 0)
        return status;
    return all(small, 0, SMALL, 21) && all(large, 0, 4096, 2) && all(large, 4096, LARGE, 22) ? 0
                                                                                             : 10;
}

static MPI_Win window(void *base, MPI_Aint size)
{
    MPI_Win win = MPI_WIN_NULL;
    if (MT_OK(MPI_Win_create(base, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win)))
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

/* Children come and go while the window is used, and change nothing in it. */
static void with_windows(void)
{
    const int next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;
    unsigned char mark = (unsigned char)(100 + mt_rank);

    mt_section("fork with windows");
    MPI_Win win[2] = {window(small, SMALL), window(large, LARGE)};
    for (int round = 0; round < 2; round++) {
        const int wrong = fork_once();
        CHECK(wrong == 0, "round %d ended with %d", round, wrong);
        for (int i = 0; i < 2; i++) {
            MT_OK(MPI_Win_fence(0, win[i]));
            MT_OK(MPI_Put(&mark, 1, MPI_BYTE, next, 100, 1, MPI_BYTE, win[i]));
            MT_OK(MPI_Win_fence(0, win[i]));
        }
        CHECK(small[100] == 100 + prev && large[100] == 100 + prev, "saw %d and %d", small[100],
              large[100]);
        MT_OK(MPI_Win_fence(0, win[0])); /* all have looked */
    }
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Win_free(&win[i]));
}

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Seconds for a program that does nothing: the best of some. */
static double start_programs(void)
{
    double best = 1e9;
    for (int i = 0; i < 10; i++) {
        const double t = now();
        CHECK(system("true") == 0, "system");
        FILE *f = popen("true", "r");
        CHECK(f != NULL && pclose(f) == 0, "popen");
        if (now() - t < best)
            best = now() - t;
    }
    return best;
}

static void other_programs(void)
{
    const size_t much = (size_t)128 << 20;
    void *p;

    mt_section("system and popen");
    const double before = start_programs();
    if (!MT_OK(MPI_Alloc_mem((MPI_Aint)much, MPI_INFO_NULL, &p)))
        return;
    memset(p, 1, much);
    const double after = start_programs();
    CHECK(after < 3 * before + 0.005, "%.2f ms, and %.2f ms with %zu bytes of MPI_Alloc_mem",
          before * 1e3, after * 1e3, much);
    MT_OK(MPI_Free_mem(p));
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    mt_section("fork");
    if (!MT_OK(MPI_Alloc_mem(SMALL, MPI_INFO_NULL, &small)) ||
        !MT_OK(MPI_Alloc_mem(LARGE, MPI_INFO_NULL, &large)))
        return MT_FINISH();
    const int wrong = fork_once();
    CHECK(wrong == 0, "it ended with %d", wrong);
    if (argc > 1 && strcmp(argv[1], "windows") == 0)
        with_windows();
    other_programs();
    memset(large, 31, LARGE);
    memset(small, 32, SMALL);
    int code = MT_FINISH();
    if (!all(large, 0, LARGE, 31) || !all(small, 0, SMALL, 32)) {
        fprintf(stderr, "alloc_fork: rank %d: the contents changed in MPI_Finalize\n", mt_rank);
        code = 1;
    }
    const int after = fork_once();
    if (after != 0) {
        fprintf(stderr, "alloc_fork: rank %d: fork after MPI_Finalize ended with %d\n", mt_rank,
                after);
        code = 1;
    }
    return code;
}
