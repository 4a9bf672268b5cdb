/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self.c - see self.h (MPI 4.1, 11.2 and 11.3).
 *
 * The library's own session lives as long as the communicator that comes from it, and is not
 * counted among the program's. Sessions of the program are counted by an atomic, so that a program
 * without any never asks a host for them, which may have none. MPI_Initialized of Intel MPI 2021.19
 * says yes in a program that has sessions alone, so it is not asked there.
 *
 * Locks: those of the callers. Neighbours: calls/session.c, which counts; calls/engine_get.c, which
 * makes the communicator; calls/init.c.
 */
#include "mpi/host/self.h"

#include "base/atomic.h"
#include "base/err.h"
#include "mpi/host/host.h"

static _Atomic int sessions;
static _Atomic bool has_world;   /* MPI_Init was called, also before this library was loaded */
static _Atomic bool had_session; /* so a host's MPI_Initialized may mean a session */

static HOST_SESSION own;
static bool has_own;

bool world_in_use(void)
{
    int up = 0, down = 0;

    if (atomic_load_explicit(&had_session, memory_order_acquire) &&
        !atomic_load_explicit(&has_world, memory_order_acquire))
        return false;
    PMPI_Initialized(&up);
    PMPI_Finalized(&down);
    return up && !down;
}

void world_begins(void)
{
    atomic_store_explicit(&has_world, true, memory_order_release);
}

void session_begins(void)
{
    int up = 0;

    if (atomic_exchange_explicit(&had_session, true, memory_order_acq_rel))
        return;
    PMPI_Initialized(&up);
    if (up)
        world_begins();
}

void session_begun(void)
{
    atomic_fetch_add_explicit(&sessions, 1, memory_order_relaxed);
}

bool session_ended(void)
{
    return atomic_fetch_sub_explicit(&sessions, 1, memory_order_acq_rel) == 1;
}

bool sessions_open(void)
{
    return atomic_load_explicit(&sessions, memory_order_acquire) > 0;
}

/* A split, since a dup would run copy call-backs of the user. */
static int self_from_world(MPI_Comm *self)
{
    if (PMPI_Comm_split(MPI_COMM_SELF, 0, 0, self) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    PMPI_Comm_set_errhandler(*self, MPI_ERRORS_RETURN);
    return MRMA_SUCCESS;
}

static int self_from_session(MPI_Comm *self)
{
    MPI_Group group;
    int rc;

    if (mpi_host.Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    rc = mpi_host.Group_from_session_pset(own, "mpi://SELF", &group);
    if (rc == MPI_SUCCESS) {
        rc = mpi_host.Comm_create_from_group(group, "libmpi-rma", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                             self);
        PMPI_Group_free(&group);
    }
    has_own = rc == MPI_SUCCESS;
    if (!has_own)
        mpi_host.Session_finalize(&own);
    return has_own ? MRMA_SUCCESS : MRMA_ERR_OTHER;
}

int self_make(MPI_Comm *self)
{
    return world_in_use() && !sessions_open() ? self_from_world(self) : self_from_session(self);
}

void self_free(MPI_Comm *self)
{
    PMPI_Comm_free(self);
    if (has_own)
        mpi_host.Session_finalize(&own);
    has_own = false;
}

int self_rank(void)
{
    MPI_Group all;
    int rank = 0;

    if (world_in_use()) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    } else if (has_own &&
               mpi_host.Group_from_session_pset(own, "mpi://WORLD", &all) == MPI_SUCCESS) {
        PMPI_Group_rank(all, &rank);
        PMPI_Group_free(&all);
    }
    return rank;
}

bool self_outlives_world(void)
{
    return has_own;
}
