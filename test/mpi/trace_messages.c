/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_messages.c - messages and collective operations for trace_messages.sh, which finds their
 * lines by their comments: trace_messages MS [count].
 *
 * MS: ROUNDS times for each kind of waiting one process computes so many milliseconds before its
 * call; the ranks from 2 on take part in collective operations alone. Count: messages of all kinds
 * over many communicators instead, nobody is late; each process prints how many it has sent and
 * received. This program is linked with the host alone.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 2, COMMS = 12 };

static int rank, size;
static double ms;

/* A compiler that sees it warns that it is no array. */
static __attribute__((noipa)) MPI_Status *ignored(void)
{
    return MPI_STATUSES_IGNORE;
}

/* Busy: a process that sleeps is woken late on a loaded machine. */
static void late(int who)
{
    const double end = MPI_Wtime() + ms / 1000;

    while (rank == who && ms > 0 && MPI_Wtime() < end)
        ;
}

static void late_sender(void)
{
    int value = 0;

    late(1);
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD); /* the late send */
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, /* the receive */
                 MPI_STATUS_IGNORE);
}

static void late_isend(void)
{
    int value[2];
    MPI_Request request[2];

    if (rank == 0)
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&value[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &request[i]);
    late(1);
    if (rank == 1)
        for (int i = 0; i < 2; i++)
            MPI_Isend(&rank, 1, MPI_INT, 0, i, MPI_COMM_WORLD, &request[i]);
    if (rank < 2)
        MPI_Waitall(2, request, ignored()); /* the wait for both */
}

static void late_receiver(void)
{
    int value = 0;

    late(0);
    if (rank == 1)
        MPI_Ssend(&rank, 1, MPI_INT, 0, 8, MPI_COMM_WORLD); /* the send that waits */
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void operations(void)
{
    int value = 1, sum;

    late(0);
    MPI_Barrier(MPI_COMM_WORLD); /* the barrier */
    late(1);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* of all with all */
    late(1);
    MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD); /* the broadcast */
    MPI_Barrier(MPI_COMM_WORLD);
    late(1);
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); /* the reduction */
    MPI_Barrier(MPI_COMM_WORLD);
}

static void waits(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        late_sender();
        MPI_Barrier(MPI_COMM_WORLD);
        late_isend();
        MPI_Barrier(MPI_COMM_WORLD);
        late_receiver();
        MPI_Barrier(MPI_COMM_WORLD);
        operations();
    }
}

/* ---- to be counted ---- */

static int sent, received;

/* A message to the right in a ring, by each kind of call. */
static void ring(MPI_Comm comm)
{
    int me, n, value[8], index, flag = 0, some, indices[2];
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    const int right = (me + 1) % n, left = (me + n - 1) % n;

    MPI_Sendrecv(&me, 1, MPI_INT, right, 1, value, 1, MPI_INT, left, 1, comm, &status);
    MPI_Sendrecv_replace(value, 8, MPI_INT, right, 2, left, 2, comm, MPI_STATUS_IGNORE);
    for (int how = 0; how < 4; how++) {
        MPI_Irecv(value, 8, MPI_INT, how ? left : MPI_ANY_SOURCE, 3, comm, &request[0]);
        MPI_Isend(&me, 1, MPI_INT, right, 3, comm, &request[1]);
        switch (how) {
        case 0:
            MPI_Wait(&request[0], &status);
            while (!flag)
                MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
            MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
            break;
        case 2:
            for (int done = 0; done < 2; done += some)
                MPI_Waitsome(2, request, &some, indices, ignored());
            break;
        default:
            for (flag = 0; !flag;)
                MPI_Testall(2, request, &flag, ignored());
        }
    }
    MPI_Recv_init(value, 8, MPI_INT, left, 4, comm, &request[0]);
    MPI_Send_init(&me, 1, MPI_INT, right, 4, comm, &request[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, ignored());
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    MPI_Send(&me, 1, MPI_INT, MPI_PROC_NULL, 5, comm); /* is no message */
    MPI_Recv(value, 1, MPI_INT, MPI_PROC_NULL, 5, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(value, 1, MPI_INT, left, 6, comm, &request[0]); /* and this one does not come */
    MPI_Cancel(&request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    sent += 9;
    received += 9;
}

static void count(void)
{
    int all = size, one = 1, *list = malloc(sizeof *list * (size_t)size);
    MPI_Comm comm[COMMS];

    ring(MPI_COMM_WORLD);
    for (int i = 0; i < COMMS; i++) {
        if (i % 3 == 0)
            MPI_Comm_dup(i ? comm[i - 1] : MPI_COMM_WORLD, &comm[i]);
        else if (i % 3 == 1)
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm[i]);
        else
            MPI_Cart_create(MPI_COMM_WORLD, 1, &all, &one, 0, &comm[i]);
        ring(comm[i]);
        if (i % 2 == 1) { /* its handle may be another one's soon */
            MPI_Comm_free(&comm[i]);
            comm[i] = MPI_COMM_WORLD;
        }
    }
    MPI_Gather(&rank, 1, MPI_INT, list, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(list, 1, MPI_INT, &one, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, list, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < COMMS; i++)
        if (comm[i] != MPI_COMM_WORLD)
            MPI_Comm_free(&comm[i]);
    ring(MPI_COMM_SELF);
    printf("counted %d: sent %d received %d\n", rank, sent, received);
    free(list);
}

int main(int argc, char **argv)
{
    int *memory;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 || size < 2) {
        fprintf(stderr, "usage: trace_messages MS [count], on 2 processes or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    ms = atof(argv[1]);
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    if (argc > 2)
        count();
    else
        waits();
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
