/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_comms.h - communicators in a trace: each has a number that is the same at all its
 * processes, on which they agree when the communicator is made.
 */
#ifndef MRMA_MPI_TRACED_TRACED_COMMS_H
#define MRMA_MPI_TRACED_TRACED_COMMS_H

#include <mpi.h>

#include <stdint.h>

struct trace;

struct traced_comm {
    uint32_t number; /* at this process, in records; from 1 on */
    int rank, size;
};

/* traced_comms_begin makes MPI_COMM_WORLD known. Called once, by one thread. */
void traced_comms_begin(struct trace *tr);

/* traced_comms_end frees what is not an attribute of a communicator. Called once, by one thread.
 */
void traced_comms_end(void);

/* traced_comms_made is called by all processes of a communicator that was made from parent: if they
 * know the parent they communicate over the new communicator, which is known then. MPI_COMM_NULL is
 * allowed. */
void traced_comms_made(struct trace *tr, MPI_Comm parent, MPI_Comm made);

/* traced_comms_find returns what is known of a communicator, valid until it is freed; NULL: nothing
 * is known, for example since it is an intercommunicator, or has processes that are not traced. Any
 * thread. */
const struct traced_comm *traced_comms_find(struct trace *tr, MPI_Comm comm);

#endif
