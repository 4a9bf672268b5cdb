/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.h - the same bytes by MPI_Isend and MPI_Irecv, which one-sided operations are held
 * against.
 */
#ifndef BENCH_RMA_MESSAGES_H
#define BENCH_RMA_MESSAGES_H

#include <mpi.h>

#include "bench/rma/bench.h"

#define MESSAGES_MAX 64

/* count messages of size bytes, one behind the other in buf, to or from peer. */
struct messages {
    MPI_Comm comm;
    char *buf;
    int peer, count, size;
    bool sends;
    MPI_Request request[MESSAGES_MAX];
};

/* Start all of them; wait for all of them. An MPI error code. */
int messages_start(struct messages *m);
int messages_wait(struct messages *m);

/* What the driver measures: all messages, and an empty one back, which says that they have come.
 * Collective over the two ranks. */
struct work messages_work(struct messages *m);

#endif
