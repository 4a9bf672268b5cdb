/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meet.c - see meet.h.
 *
 * A process that comes late must not be taken for one without the library. Both hosts begin the
 * creation of any window by duplicating its communicator, so a duplicate made here first is made
 * together with the hosts' in processes without the library: when it is there, all have come. From
 * then on those with the library do nothing else but enter a barrier of the duplicate; who does not
 * is without it.
 */
#include "mpi/meet.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"

#define MEET_NS UINT64_C(10000000000) /* for who has come already, on an oversubscribed machine */

static bool in_world(MPI_Group group, MPI_Group world)
{
    enum { SOME = 64 };
    int size, ranks[SOME], theirs[SOME];

    if (PMPI_Group_size(group, &size) != MPI_SUCCESS)
        return true;
    for (int first = 0; first < size; first += SOME) {
        const int n = size - first < SOME ? size - first : SOME;

        for (int i = 0; i < n; i++)
            ranks[i] = first + i;
        if (PMPI_Group_translate_ranks(group, n, ranks, world, theirs) != MPI_SUCCESS)
            return true;
        for (int i = 0; i < n; i++)
            if (theirs[i] == MPI_UNDEFINED)
                return false;
    }
    return true;
}

/* The same answer at all processes of the communicator. */
static bool has_others(MPI_Comm comm)
{
    MPI_Group group, world;
    int up = 0, flag = comm == MPI_COMM_WORLD;

    if (flag || PMPI_Initialized(&up) != MPI_SUCCESS || !up ||
        PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return false;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        flag = !in_world(group, world);
        PMPI_Group_free(&world);
    }
    PMPI_Group_free(&group);
    return flag;
}

int meet_all(MPI_Comm comm, char *msg, size_t len)
{
    MPI_Comm own;
    MPI_Request barrier;
    int done = 0, size = 0;

    if (!has_others(comm))
        return MRMA_SUCCESS;
    snprintf(msg, len, "the host refused a copy of the communicator");
    if (PMPI_Comm_dup(comm, &own) != MPI_SUCCESS || PMPI_Ibarrier(own, &barrier) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    const uint64_t end = clock_monotonic_ns() + MEET_NS;
    while (PMPI_Test(&barrier, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done &&
           clock_monotonic_ns() < end)
        sched_yield();
    if (done) {
        PMPI_Comm_free(&own);
        msg[0] = '\0';
        return MRMA_SUCCESS;
    }
    PMPI_Comm_size(comm, &size); /* the barrier and its communicator stay: nobody can end them */
    snprintf(msg, len,
             "of the %d processes of the communicator, which are not all of one MPI_COMM_WORLD, "
             "some do not "
             "have this library: start them with mpi-rma-run, or link them with it",
             size);
    return MRMA_ERR_OTHER;
}
