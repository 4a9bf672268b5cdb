/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_comms.c - see traced_comms.h.
 *
 * The number of a communicator is that of its first process in MPI_COMM_WORLD with a count of that
 * process, which it broadcasts over the communicator when that is made: the call that makes a
 * communicator is collective over it, and all its processes take a trace, since its ancestors are
 * known, from MPI_COMM_WORLD on. What is known of a communicator is its attribute, which ends with
 * it and is not copied.
 *
 * No locks: the counts are atomic, and an attribute is set before anybody else knows the
 * communicator; for MPI_COMM_SELF two threads may set it at once, and then one of the two is lost.
 */
#include "mpi/traced/traced_comms.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/process/state.h"
#include "trace/record.h"

enum { COUNT_OF_SELF = UINT32_MAX };

static int keyval = MPI_KEYVAL_INVALID;
static _Atomic uint32_t numbers; /* communicators of this process, */
static _Atomic uint32_t first;   /* how many of these have this process as their first */

static int on_delete(MPI_Comm comm, int key, void *known, void *extra)
{
    (void)comm, (void)key, (void)extra;
    free(known);
    return MPI_SUCCESS;
}

static uint64_t id_of(int leader, uint32_t count)
{
    return (uint64_t)(uint32_t)leader << 32 | count;
}

/* NULL: there is no memory. */
static const struct traced_comm *know(struct trace *tr, MPI_Comm comm, uint64_t id)
{
    struct traced_comm *known = malloc(sizeof *known);

    if (known == NULL)
        return NULL;
    PMPI_Comm_rank(comm, &known->rank);
    PMPI_Comm_size(comm, &known->size);
    known->number = 1 + atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed);
    trace_add(tr, &(struct trace_record){.time = trace_now(tr),
                                         .kind = TRACE_COMM,
                                         .win = known->number,
                                         .peer = known->rank,
                                         .arg = (uint32_t)known->size,
                                         .id = id});
    PMPI_Comm_set_attr(comm, keyval, known);
    return known;
}

void traced_comms_begin(struct trace *tr)
{
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL) != MPI_SUCCESS)
        keyval = MPI_KEYVAL_INVALID;
    else
        (void)know(tr, MPI_COMM_WORLD, id_of(0, 0));
}

void traced_comms_end(void)
{
    if (keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&keyval);
}

void traced_comms_made(struct trace *tr, MPI_Comm parent, MPI_Comm made)
{
    uint64_t id = 0;
    int rank = 0;

    if (made == MPI_COMM_NULL || traced_comms_find(tr, parent) == NULL)
        return;
    PMPI_Comm_rank(made, &rank);
    if (rank == 0)
        id = id_of(world_rank(), 1 + atomic_fetch_add_explicit(&first, 1, memory_order_relaxed));
    if (PMPI_Bcast(&id, 1, MPI_UINT64_T, 0, made) == MPI_SUCCESS)
        (void)know(tr, made, id);
}

const struct traced_comm *traced_comms_find(struct trace *tr, MPI_Comm comm)
{
    void *known = NULL;
    int found = 0;

    if (comm == MPI_COMM_NULL || keyval == MPI_KEYVAL_INVALID)
        return NULL;
    PMPI_Comm_get_attr(comm, keyval, &known, &found);
    if (found)
        return known;
    return comm == MPI_COMM_SELF ? know(tr, comm, id_of(world_rank(), COUNT_OF_SELF)) : NULL;
}
