/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_comm.h - private communicators of this process alone.
 *
 * Carriers of windows are made on one of them; the other serves to check datatypes. In the world
 * model they come from MPI_COMM_SELF. A program with sessions may have no MPI_COMM_SELF, or lose it
 * when it calls MPI_Finalize before its last session ends, and gets them from a session of the
 * library's own.
 */
#ifndef MRMA_MPI_HOST_OWN_COMM_H
#define MRMA_MPI_HOST_OWN_COMM_H

#include <mpi.h>

#include <stdbool.h>

/* There are two, since errors of carriers return, while an error handler of this library looks at
 * errors of types. */
struct self {
    MPI_Comm carriers; /* errors return */
    MPI_Comm types;    /* for dtype_cache_create */
};

/* self_make_ahead makes, at the start of the world model, what self_make returns later, and a stock
 * of carriers, where a thread that made them later could wait for other threads. The thread that
 * has initialised the host calls it after that. If the host refuses something, self_make tries
 * again later. */
void self_make_ahead(void);

/* self_make makes the communicators: from MPI_COMM_SELF, or from a session of the library's own
 * where the program has sessions. Returns MRMA_SUCCESS and *self, which self_free frees, or
 * MRMA_ERR_OTHER if the host refuses it. One thread at a time calls it, and no other is in
 * self_free. */
int self_make(struct self *self);

/* self_free frees what self_make has made, the stock of carriers, and the session that was made for
 * it. Called when nobody uses them. */
void self_free(struct self *self);

/* self_end frees what self_make_ahead has made and nobody has used. */
void self_end(void);

/* self_rank returns the rank of this process in MPI_COMM_WORLD or, where that is not in use, in the
 * process set mpi://WORLD; 0 where the host does not say. Between self_make and self_free. */
int self_rank(void);

/* self_outlives_world returns whether there is a communicator that may be used after MPI_Finalize:
 * one that self_make has made from a session. Not during self_make or self_free. */
bool self_outlives_world(void);

#endif
