/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_calls.h - the interface between this library and libmpi-rma-calls (calls.awk), which is
 * loaded in front of it where a trace is to have every MPI function.
 *
 * That library wraps the host's functions that this one does not replace. It exports one object,
 * TRACED_CALLS_SYMBOL; while a trace is taken, traced_calls.c puts its functions there.
 */
#ifndef MRMA_MPI_TRACED_TRACED_CALLS_H
#define MRMA_MPI_TRACED_TRACED_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/spool.h"

#define TRACED_CALLS_SYMBOL "mpirma_traced_calls"

/* A collective call, with those of the counts that it has. The arrays are of ints. */
struct traced_collective {
    enum trace_collective op;
    int root;
    MPI_Comm comm;
    const void *sends, *receives; /* buffers */
    MPI_Count send_count, receive_count;
    const int *send_counts, *receive_counts;
    MPI_Datatype send_type, receive_type;
};

struct traced_waits; /* requests that a call waits for */

/* Functions that a wrapper of a function that sends, receives or makes a communicator calls while
 * its call is recorded. */
struct traced_messages {
    /* A message is going to be sent. */
    void (*send)(const void *buffer, MPI_Count count, MPI_Datatype type, int peer, int tag,
                 MPI_Comm comm);
    /* A message was received, as status says. */
    void (*received)(const void *buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                     const MPI_Status *status);
    /* A send or receive is going to begin that has a request; returns its number, 0: it is not
     * recorded. */
    uint64_t (*posted)(bool sends, const void *buffer, MPI_Count count, MPI_Datatype type, int peer,
                       int tag, MPI_Comm comm);
    /* It has begun (rc is MPI_SUCCESS) and has this request. */
    void (*pending)(uint64_t number, bool sends, MPI_Comm comm, int rc, const MPI_Request *request);
    /* A persistent request was made. */
    void (*persistent)(bool sends, MPI_Count count, MPI_Datatype type, int peer, int tag,
                       MPI_Comm comm, int rc, const MPI_Request *request);
    /* Such requests are going to be started; this request is going to be freed. These three
     * functions, and those for waits, are called also while the recording is stopped. */
    void (*start)(int n, const MPI_Request *requests);
    void (*freed)(const MPI_Request *request);
    /* wait: a call waits for or tests n requests; NULL: none of them is known here. statuses
     * returns where the call has to store their statuses: given, unless that is to be ignored. The
     * third function tells that k of them are complete: those of these indices, or if indices is
     * NULL the first k; k < 0: the call has failed, or none is complete.
     */
    struct traced_waits *(*wait)(int n, const MPI_Request *requests);
    MPI_Status *(*statuses)(struct traced_waits *waits, MPI_Status *given);
    void (*waited)(struct traced_waits *waits, int k, const int *indices,
                   const MPI_Status *statuses);
    /* A collective operation is going to begin. */
    void (*collective)(const struct traced_collective *operation);
    /* A communicator was made from another one, by all its processes. Called also while the
     * recording is stopped. */
    void (*communicator)(MPI_Comm parent, int rc, const MPI_Comm *made);
};

struct traced_calls {
    unsigned n;
    const char *const *name; /* names of the functions, by their number */
    /* Where the instructions of libmpi-rma lie, and how many bytes they have, set before enter:
     * calls from there are not recorded. */
    uintptr_t text;
    size_t text_size;
    /* enter is called when a function begins that returns to caller, and leave when it returns if
     * enter has returned true. comm is its communicator, or NULL. peer is the rank there of the
     * process to which a message goes or from which one comes, or MPI_PROC_NULL. The pointers are
     * NULL if no trace is taken. */
    _Atomic(bool (*)(unsigned number, const void *caller, const MPI_Comm *comm, int peer)) enter;
    _Atomic(void (*)(unsigned number)) leave;
    const struct traced_messages *messages; /* set before enter, and stays */
};

struct trace;

/* traced_calls_are_there returns whether the other library is in this process. */
bool traced_calls_are_there(void);

/* traced_calls_begin gives the names of the other library's functions to the trace, and to that
 * library the functions that record, if it is there. */
void traced_calls_begin(struct trace *tr);

/* traced_calls_end makes the other library stop recording. */
void traced_calls_end(void);

#endif
