/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_calls.h - how the calls of MPI that are not RMA's order what processes do.
 *
 * A function is never taken for less ordered than it is: a function that is not known here is
 * taken to do anything.
 */
#ifndef MRMA_TRACE_HOST_CALLS_H
#define MRMA_TRACE_HOST_CALLS_H

enum host_kind {
    HOST_LOCAL,      /* it concerns no other process */
    HOST_SEND,       /* others may learn from it; it waits for none, */
    HOST_SYNC_SEND,  /* or for a receive, which it may begin with its request */
    HOST_RECEIVE,    /* it may learn from others, */
    HOST_IRECEIVE,   /* or begins to wait for them */
    HOST_EXCHANGE,   /* both */
    HOST_COLLECTIVE, /* processes of its communicator learn from each other: all from all, unless
                        its data go from one or to one alone, or only upwards */
    HOST_BEGIN,      /* something begins, from which any process may learn */
    HOST_COMPLETE,   /* something may be complete, and it learns from what others have begun */
    HOST_OTHER       /* it may learn from all others, and they from it */
};

/* host_kind returns what a function does, by its name: MPI_Barrier, ... */
enum host_kind host_kind(const char *name);

#endif
