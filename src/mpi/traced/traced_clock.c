/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_clock.c - how much the clocks of the job's machines differ from that of rank 0's machine.
 *
 * The lowest rank of each other machine, its leader, exchanges messages with rank 0
 * (trace/clock_offset.h), one machine after the other. Rank 0 says when it is time to measure
 * again. Clocks that drift apart at a constant rate would need this only at the begin and the end
 * of the job, but the rate changes with the temperature, and when a clock is being set.
 *
 * Locks: one for the messages. Threads that create windows at the same time do so in the same
 * number in all processes, so it does not matter whose messages meet.
 *
 * Neighbours: traced.c, which calls this; clock_offset.c, which measures.
 */
#include "mpi/traced/traced_clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "mpi/host/host.h"
#include "trace/clock_offset.h"

/* Rank 0 is busy for about a millisecond with each machine: for less than a hundredth of the time.
 */
#define PAUSE_NS UINT64_C(1000000000)
#define PAUSE_OF_EACH_NS UINT64_C(100000000)

static struct {
    MPI_Comm comm;
    bool first, leads; /* whether this process is rank 0, and whether it is a leader */
    int *leader;       /* at rank 0: the leader of each machine but its own */
    int n;             /* how many leaders; 0: all processes share a clock, or nothing can be
                          measured */
    uint64_t last;     /* at rank 0: when it was measured last */
    pthread_mutex_t lock;
} clocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void answer(struct trace *tr, int rank)
{
    for (int i = 0; i < TRACE_CLOCK_ROUNDS; i++) {
        uint64_t now;
        PMPI_Recv(NULL, 0, MPI_BYTE, rank, 0, clocks.comm, MPI_STATUS_IGNORE);
        now = trace_now(tr);
        PMPI_Send(&now, 1, MPI_UINT64_T, rank, 0, clocks.comm);
    }
}

static uint64_t ask(void *ctx)
{
    uint64_t there = 0;

    (void)ctx;
    PMPI_Send(NULL, 0, MPI_BYTE, 0, 0, clocks.comm);
    PMPI_Recv(&there, 1, MPI_UINT64_T, 0, 0, clocks.comm, MPI_STATUS_IGNORE);
    return there;
}

static void measure(struct trace *tr)
{
    for (int i = 0; i < clocks.n && clocks.first; i++)
        answer(tr, clocks.leader[i]);
    if (clocks.leads)
        trace_measure_clock(tr, ask, NULL);
    clocks.last = clock_monotonic_ns();
}

/* find_leaders finds the leaders, in the order of ranks; machine has the machine of each rank. */
static void find_leaders(const uint64_t *machine, int n)
{
    for (int rank = 1; rank < n; rank++) {
        bool leads = machine[rank] != machine[rank - 1];
        for (int i = 0; i < rank && leads; i++)
            leads = machine[i] != machine[rank];
        if (leads)
            clocks.leader[clocks.n++] = rank;
    }
}

void traced_clock_begin(struct trace *tr, uint64_t mine, MPI_Comm comm)
{
    int me, n, all_have;

    PMPI_Comm_rank(comm, &me);
    PMPI_Comm_size(comm, &n);
    uint64_t *machine = calloc((size_t)n, sizeof *machine);
    clocks.comm = comm;
    clocks.n = 0;
    clocks.leader = calloc((size_t)n, sizeof *clocks.leader);
    int have = machine != NULL && clocks.leader != NULL;
    PMPI_Allreduce(&have, &all_have, 1, MPI_INT, MPI_MIN, comm);
    if (all_have) {
        PMPI_Allgather(&mine, 1, MPI_UINT64_T, machine, 1, MPI_UINT64_T, comm);
        find_leaders(machine, n);
    }
    free(machine);
    clocks.first = me == 0;
    clocks.leads = false;
    for (int i = 0; i < clocks.n; i++)
        clocks.leads = clocks.leads || clocks.leader[i] == me;
    measure(tr);
}

static bool is_world(MPI_Group group)
{
    MPI_Group world;
    int result = MPI_UNEQUAL;

    if (PMPI_Comm_group(clocks.comm, &world) != MPI_SUCCESS)
        return false;
    PMPI_Group_compare(group, world, &result);
    mpi_host.Group_free(&world);
    return result != MPI_UNEQUAL;
}

static bool is_time(void)
{
    const uint64_t pause = PAUSE_NS + (uint64_t)clocks.n * PAUSE_OF_EACH_NS;
    int due = clocks.first && clock_monotonic_ns() - clocks.last >= pause;

    for (int i = 0; i < clocks.n && clocks.first; i++)
        PMPI_Send(&due, 1, MPI_INT, clocks.leader[i], 0, clocks.comm);
    if (clocks.leads)
        PMPI_Recv(&due, 1, MPI_INT, 0, 0, clocks.comm, MPI_STATUS_IGNORE);
    return due;
}

void traced_clock_between(struct trace *tr, MPI_Group group)
{
    if (clocks.n == 0 || !(clocks.first || clocks.leads) || !is_world(group))
        return;
    pthread_mutex_lock(&clocks.lock);
    if (is_time())
        measure(tr);
    pthread_mutex_unlock(&clocks.lock);
}

void traced_clock_end(struct trace *tr)
{
    measure(tr);
    free(clocks.leader);
    clocks.leader = NULL;
    clocks.n = 0;
    clocks.leads = false;
}
