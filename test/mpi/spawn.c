/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spawn.c - a program that starts itself as children, merges, uses windows with them and
 * disconnects, once by MPI_Comm_spawn and once by MPI_Comm_spawn_multiple (MPI 4.1, 11.8). Linked
 * with the host alone: what it has of the library was preloaded. "spawn start" only starts one and
 * merges with it, without windows: can the host do that at all? With "spawn without" the children
 * do not have the library: MPI_Win_allocate, by its default error handler, ends the program.
 *
 * Children see their arguments as they were given, and MPIRMA_ variables of their parents. The
 * parents say when they ask the host for children and when it has given them.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int errors;

static void check(int ok, const char *what)
{
    if (ok)
        return;
    errors++;
    fprintf(stderr, "spawn: FAILED: %s\n", what);
}

static void say(const char *what)
{
    printf("spawn: %s\n", what);
    fflush(stdout);
}

/* All at once put to all, each beginning with another. */
static void use_windows(MPI_Comm all)
{
    int rank, n;

    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &n);
    for (int round = 0; round < 2; round++) {
        const int mine = 100 * round + rank;
        MPI_Win win;
        int *base;

        MPI_Win_allocate(n * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, all, &base, &win);
        for (int i = 0; i < n; i++)
            base[i] = -1;
        MPI_Win_fence(0, win);
        for (int i = 0; i < n; i++)
            MPI_Put(&mine, 1, MPI_INT, (rank + i) % n, rank, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < n; i++)
            check(base[i] == 100 * round + i, "what a process has put is in the window");
        MPI_Win_free(&win);
    }
}

static void child(MPI_Comm parent, int argc, char **argv)
{
    const char *variable = getenv("MPIRMA_STATS"), *preload = getenv("LD_PRELOAD");
    const int only_start = argc > 2 && strcmp(argv[2], "start") == 0;
    MPI_Comm all;

    check(argc >= 2 && strcmp(argv[1], "a b=c") == 0, "the first argument is as it was given");
    if (argc == 2) {
        check(variable && strstr(variable, "/stats.csv"), "MPIRMA_STATS is the parent's");
        check(preload && strstr(preload, "libmpi-rma"), "the library is preloaded");
    }
    MPI_Intercomm_merge(parent, 1, &all);
    if (only_start)
        MPI_Barrier(all);
    else
        use_windows(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
}

static MPI_Comm start(char *self)
{
    char first[] = "a b=c", second[] = "start", *argv[] = {first, second, NULL};
    MPI_Comm children;

    say("asks");
    MPI_Comm_spawn(self, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    say("has");
    return children;
}

static MPI_Comm start_without(char *self)
{
    char unset[] = "-u", variable[] = "LD_PRELOAD", first[] = "a b=c", second[] = "without",
         *argv[] = {unset, variable, self, first, second, NULL};
    MPI_Comm children;

    say("asks");
    MPI_Comm_spawn("env", argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
    say("has");
    return children;
}

static MPI_Comm start_two(char *self, int how)
{
    char first[] = "a b=c", *argv[] = {first, NULL}, **both[] = {argv, argv},
         *commands[] = {self, self};
    const int counts[] = {1, 1};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children;

    say("asks");
    if (how == 0)
        MPI_Comm_spawn(self, argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
    else
        MPI_Comm_spawn_multiple(2, commands, both, counts, infos, 0, MPI_COMM_WORLD, &children,
                                MPI_ERRCODES_IGNORE);
    say("has");
    return children;
}

static void join(MPI_Comm children, int only_start)
{
    MPI_Comm all;

    MPI_Intercomm_merge(children, 0, &all);
    if (only_start)
        MPI_Barrier(all);
    else
        use_windows(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
}

static void parents(char *self, const char *how)
{
    if (strcmp(how, "start") == 0) {
        join(start(self), 1);
    } else if (strcmp(how, "without") == 0) {
        join(start_without(self), 0);
    } else {
        join(start_two(self, 0), 0);
        join(start_two(self, 1), 0);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        child(parent, argc, argv);
    else
        parents(argv[0], argc == 2 ? argv[1] : "");
    if (rank == 0 && parent == MPI_COMM_NULL)
        printf("spawn: ok\n");
    MPI_Finalize();
    return errors != 0;
}
