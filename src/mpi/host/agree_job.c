/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree_job.c - see agree_job.h.
 *
 * The processes that ask for the same find out by a barrier whether all do. A process that does not
 * come soon after MPI_Init does not come at all, and the messages of the others cannot be taken
 * back: its program could receive one of them. So the others end the job.
 *
 * No state, no locks. Neighbours: stats.c and traced.c, which need all processes; errhan.c, whose
 * errors may end the job.
 */
#include "mpi/host/agree_job.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "mpi/host/host.h"

/* exchange does one round of the barrier: a message to one process and one from another. False: at
 * the time end the message has not come. */
static bool exchange(int to, int from, int tag, uint64_t end)
{
    const struct timespec pause = {.tv_nsec = 100000};
    MPI_Request request[2];
    MPI_Status status[2];
    int here = 0;

    PMPI_Irecv(NULL, 0, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request[0]);
    PMPI_Isend(NULL, 0, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request[1]);
    while (mpi_host.Testall(2, request, &here, status) == MPI_SUCCESS && !here &&
           clock_monotonic_ns() < end)
        nanosleep(&pause, NULL);
    return here;
}

/* all_come returns whether all have come. It sends messages with the highest tag, or the one below
 * it for another use: processes without the variable would take a collective call for one of the
 * program. */
static bool all_come(enum job_use use, int rank, int nproc, uint64_t end)
{
    int *tag, flag;

    if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag, &flag) != MPI_SUCCESS || !flag)
        return false;
    for (int64_t step = 1; step < nproc; step *= 2)
        if (!exchange((int)((rank + step) % nproc), (int)((rank + nproc - step) % nproc),
                      *tag - (int)use, end))
            return false;
    return true;
}

void job_let_messages_out(void)
{
    const struct timespec moment = {.tv_nsec = 200000000};

    nanosleep(&moment, NULL);
}

void job_meet(enum job_use use, const struct log *log, MPI_Comm *job)
{
    enum { PATIENCE = 10 }; /* seconds, on an oversubscribed machine */
    int rank = 0, nproc = 0;

    *job = MPI_COMM_NULL;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &nproc);
    if (!all_come(use, rank, nproc, clock_monotonic_ns() + PATIENCE * UINT64_C(1000000000))) {
        log_msg(log, LOG_LEVEL_ERROR,
                "%s is set for this process, but %d s after MPI_Init not all of MPI_COMM_WORLD "
                "have begun %s: set it for all processes or for none, and start all with this "
                "library; the job ends here",
                use == JOB_TRACE ? "MPIRMA_TRACE" : "MPIRMA_STATS", PATIENCE,
                use == JOB_TRACE ? "a trace" : "statistics");
        job_let_messages_out();
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (PMPI_Comm_dup(MPI_COMM_WORLD, job) != MPI_SUCCESS)
        *job = MPI_COMM_NULL;
}
