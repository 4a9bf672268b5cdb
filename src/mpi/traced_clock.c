/*
 * traced_clock.c - how much the clocks of the job's machines differ from that of rank 0's machine.
 *
 * The lowest rank of each other machine exchanges messages with rank 0 (trace/clock_offset.h), one
 * machine after the other.
 */
#include "mpi/traced_clock.h"

#include <stdlib.h>

#include "trace/clock_offset.h"

/* At rank 0. */
static void answer(struct trace *tr, MPI_Comm comm, int rank)
{
    for (int i = 0; i < TRACE_CLOCK_ROUNDS; i++) {
        uint64_t now;
        PMPI_Recv(NULL, 0, MPI_BYTE, rank, 0, comm, MPI_STATUS_IGNORE);
        now = trace_now(tr);
        PMPI_Send(&now, 1, MPI_UINT64_T, rank, 0, comm);
    }
}

static uint64_t ask(void *comm)
{
    uint64_t there = 0;

    PMPI_Send(NULL, 0, MPI_BYTE, 0, 0, *(MPI_Comm *)comm);
    PMPI_Recv(&there, 1, MPI_UINT64_T, 0, 0, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
    return there;
}

/* The lowest rank of each machine, in the order of ranks: is rank one of them? */
static int leads(const uint64_t *machine, int rank)
{
    for (int i = 0; i < rank; i++)
        if (machine[i] == machine[rank])
            return 0;
    return 1;
}

void traced_clock_measure(struct trace *tr, uint64_t mine, MPI_Comm comm)
{
    int me, n, all_have;

    PMPI_Comm_rank(comm, &me);
    PMPI_Comm_size(comm, &n);
    uint64_t *machine = calloc((size_t)n, sizeof *machine);
    int have = machine != NULL;
    PMPI_Allreduce(&have, &all_have, 1, MPI_INT, MPI_MIN, comm);
    if (!all_have) {
        free(machine);
        return;
    }
    PMPI_Allgather(&mine, 1, MPI_UINT64_T, machine, 1, MPI_UINT64_T, comm);
    for (int rank = 1; rank < n; rank++) {
        if (machine[rank] == machine[0] || !leads(machine, rank))
            continue;
        if (me == 0)
            answer(tr, comm, rank);
        else if (me == rank)
            trace_measure_clock(tr, ask, &comm);
    }
    free(machine);
}
