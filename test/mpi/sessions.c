/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sessions.c - windows of a program that never calls MPI_Init (MPI 4.1, 11.3): a session is opened,
 * windows over its processes are made, used and freed, also when a second session has come and
 * gone, and it is closed. With the argument "world" MPI_Init and MPI_Finalize are called while the
 * session is open, and windows are used behind them, too. With "threads" two threads begin the
 * first sessions at once, each makes windows and closes its session.
 *
 * By itself MPICH 4.0.2 crashes in a program with sessions that is one process, when that makes a
 * window, and in MPI_Session_init when an earlier session was the last one; so neither is done
 * here. mtest.h is not used, since it calls MPI_Init.
 */
#include <mpi.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef HAVE_MPI_SESSIONS
int main(void)
{
    printf("SKIP: this host does not declare sessions\n");
    return 77;
}
#else

static _Atomic int failed;

static void check(int ok, const char *what)
{
    if (!ok) {
        failed++;
        fprintf(stderr, "sessions.c: %s\n", what);
    }
}

/* What the left neighbour puts comes, and so does what all add. */
static void use(MPI_Win win, const int64_t *mem, int rank, int size)
{
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    const int64_t mine = 100 + rank, one = 1;

    check(MPI_Win_fence(0, win) == MPI_SUCCESS, "MPI_Win_fence");
    check(MPI_Put(&mine, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, win) == MPI_SUCCESS, "MPI_Put");
    check(MPI_Win_fence(MPI_MODE_NOSUCCEED, win) == MPI_SUCCESS, "MPI_Win_fence");
    check(mem[0] == 100 + left, "what the left neighbour has put");
    check(MPI_Win_lock_all(0, win) == MPI_SUCCESS, "MPI_Win_lock_all");
    for (int target = 0; target < size; target++)
        check(MPI_Accumulate(&one, 1, MPI_INT64_T, target, 1, 1, MPI_INT64_T, MPI_SUM, win) ==
                  MPI_SUCCESS,
              "MPI_Accumulate");
    check(MPI_Win_unlock_all(win) == MPI_SUCCESS, "MPI_Win_unlock_all");
    check(MPI_Win_fence(0, win) == MPI_SUCCESS, "MPI_Win_fence");
    check(mem[1] == size, "what all have added");
    check(MPI_Win_fence(MPI_MODE_NOSUCCEED, win) == MPI_SUCCESS, "MPI_Win_fence");
}

static void windows(MPI_Comm comm)
{
    int64_t own[2] = {0, 0}, *mem;
    MPI_Win allocated, created;
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    check(MPI_Win_allocate(sizeof own, 8, MPI_INFO_NULL, comm, &mem, &allocated) == MPI_SUCCESS,
          "MPI_Win_allocate");
    check(MPI_Win_create(own, sizeof own, 8, MPI_INFO_NULL, comm, &created) == MPI_SUCCESS,
          "MPI_Win_create");
    memset(mem, 0, sizeof own);
    use(allocated, mem, rank, size);
    use(created, own, rank, size);
    check(MPI_Win_free(&created) == MPI_SUCCESS, "MPI_Win_free");
    check(MPI_Win_free(&allocated) == MPI_SUCCESS, "MPI_Win_free");
}

static void session(void)
{
    MPI_Session first, second;
    MPI_Group group;
    MPI_Comm comm;

    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first) == MPI_SUCCESS,
          "MPI_Session_init");
    MPI_Group_from_session_pset(first, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "sessions.c", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second) == MPI_SUCCESS,
          "MPI_Session_init");
    windows(comm);
    check(MPI_Session_finalize(&second) == MPI_SUCCESS,
          "MPI_Session_finalize"); /* not the last one */
    windows(comm);
    MPI_Comm_free(&comm);
    check(MPI_Session_finalize(&first) == MPI_SUCCESS, "MPI_Session_finalize");
}

/* The world model begins and ends while the session is open; windows are made before and after. */
static void beside_world(void)
{
    MPI_Session open;
    MPI_Group group;
    MPI_Comm comm;

    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &open) == MPI_SUCCESS,
          "MPI_Session_init");
    MPI_Init(NULL, NULL);
    MPI_Group_from_session_pset(open, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "beside the world", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                               &comm);
    MPI_Group_free(&group);
    windows(MPI_COMM_WORLD);
    windows(comm);
    MPI_Finalize();
    windows(comm);
    MPI_Comm_free(&comm);
    check(MPI_Session_finalize(&open) == MPI_SUCCESS, "MPI_Session_finalize");
}

struct thread {
    pthread_t id;
    const char *tag; /* of its communicator */
};

static pthread_barrier_t start;

static void *own_session(void *arg)
{
    const struct thread *self = arg;
    MPI_Session open;
    MPI_Info info;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    pthread_barrier_wait(&start);
    check(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &open) == MPI_SUCCESS, "MPI_Session_init");
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(open, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, self->tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    windows(comm);
    MPI_Comm_free(&comm);
    check(MPI_Session_finalize(&open) == MPI_SUCCESS, "MPI_Session_finalize");
    return NULL;
}

static void beside_each_other(void)
{
    struct thread threads[2] = {{.tag = "first"}, {.tag = "second"}};

    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++)
        check(pthread_create(&threads[i].id, NULL, own_session, &threads[i]) == 0, "no thread");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i].id, NULL);
}

/* Intel MPI 2021.19 ends the job at MPI_Init behind MPI_Session_init: "more than once". */
static int takes_both(void)
{
    static char version[8192 + MPI_MAX_LIBRARY_VERSION_STRING];
    int len;

    MPI_Get_library_version(version, &len);
    return strncmp(version, "Intel(R) MPI", 12) != 0;
}

int main(int argc, char **argv)
{
    const int world = argc > 1 && strcmp(argv[1], "world") == 0;

    if (world && !takes_both()) {
        printf("SKIP: this host takes no MPI_Init while a session is open\n");
        return 77;
    }
    if (world)
        beside_world();
    else if (argc > 1 && strcmp(argv[1], "threads") == 0)
        beside_each_other();
    else
        session();
    if (failed == 0)
        printf("sessions: ok\n");
    return failed != 0;
}
#endif
