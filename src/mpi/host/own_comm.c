/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_comm.c - see own_comm.h (MPI 4.1, 11.2 and 11.3).
 *
 * The library's own session lives as long as the communicator that comes from it, and is not
 * counted among the program's.
 *
 * No locks: only one thread at a time makes the communicators. Neighbours: process_model.h, which
 * knows whether there are sessions; calls/engine_get.c, which needs the communicators;
 * calls/init.c; carrier_stock.c.
 */
#include "mpi/host/own_comm.h"

#include "base/err.h"
#include "mpi/host/carrier_stock.h"
#include "mpi/host/host.h"
#include "mpi/host/host_kind.h"
#include "mpi/host/process_model.h"

static HOST_SESSION own;
static bool has_own;

static struct self ahead; /* what self_make returns next */
static bool has_ahead;

/* first_from_world uses a split, since a dup would run copy call-backs of the user. */
static int first_from_world(MPI_Comm *first)
{
    return PMPI_Comm_split(MPI_COMM_SELF, 0, 0, first) == MPI_SUCCESS ? MRMA_SUCCESS
                                                                      : MRMA_ERR_OTHER;
}

static int first_from_session(MPI_Comm *first)
{
    MPI_Group group;
    int rc;

    if (mpi_host.Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    rc = mpi_host.Group_from_session_pset(own, "mpi://SELF", &group);
    if (rc == MPI_SUCCESS) {
        rc = mpi_host.Comm_create_from_group(group, "libmpi-rma", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                             first);
        mpi_host.Group_free(&group);
    }
    has_own = rc == MPI_SUCCESS;
    if (!has_own)
        mpi_host.Session_finalize(&own);
    return has_own ? MRMA_SUCCESS : MRMA_ERR_OTHER;
}

static void drop(MPI_Comm *first)
{
    PMPI_Comm_free(first);
    if (has_own)
        mpi_host.Session_finalize(&own);
    has_own = false;
}

static int make(struct self *self)
{
    const int err = world_in_use() && !sessions_open() ? first_from_world(&self->carriers)
                                                       : first_from_session(&self->carriers);

    if (err != MRMA_SUCCESS)
        return err;
    PMPI_Comm_set_errhandler(self->carriers, MPI_ERRORS_RETURN);
    if (PMPI_Comm_split(self->carriers, 0, 0, &self->types) != MPI_SUCCESS) {
        drop(&self->carriers);
        return MRMA_ERR_OTHER;
    }
    carrier_stock_open(self->carriers);
    return MRMA_SUCCESS;
}

void self_make_ahead(void)
{
    int level = MPI_THREAD_SINGLE;

    PMPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE || !host_ids_wait())
        return;
    has_ahead = make(&ahead) == MRMA_SUCCESS;
    if (has_ahead)
        carrier_stock_fill();
}

/* A communicator that was made from MPI_COMM_SELF ends with it, while windows of a session may live
 * longer. */
int self_make(struct self *self)
{
    if (has_ahead && sessions_open() && !has_own)
        self_end();
    if (!has_ahead)
        return make(self);
    *self = ahead;
    has_ahead = false;
    return MRMA_SUCCESS;
}

void self_free(struct self *self)
{
    carrier_stock_close();
    PMPI_Comm_free(&self->types);
    drop(&self->carriers);
}

void self_end(void)
{
    if (has_ahead)
        self_free(&ahead);
    has_ahead = false;
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
        mpi_host.Group_free(&all);
    }
    return rank;
}

bool self_outlives_world(void)
{
    return has_own;
}
