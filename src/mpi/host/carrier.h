/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carrier.h - the host's window behind every window of this library.
 *
 * The handle that the application gets is a window of the host without memory, on a private
 * communicator of this process alone: MPI_Win_allocate_shared of 0 bytes. It carries user
 * attributes, name, error handler and Fortran handle. carrier.c knows what hosts need to
 * make one.
 */
#ifndef MRMA_MPI_HOST_CARRIER_H
#define MRMA_MPI_HOST_CARRIER_H

#include <mpi.h>

#include <stddef.h>

/* carrier_before_init is called before every call that initialises the host, at any thread level
 * and for sessions: it sets what the host reads only then, so that carriers can be made. Calls may
 * nest and overlap. Any thread. */
void carrier_before_init(void);

/* carrier_after_init is called behind the host's initialisation, once for each carrier_before_init;
 * the last one puts back what was set. Any thread. */
void carrier_after_init(void);

/* carrier_make makes a carrier on self, a communicator of this process alone whose errors return.
 * The caller makes sure that only one is made at a time. Returns MRMA_SUCCESS and *carrier, a
 * window of the host, which the host's Win_free frees; or MRMA_ERR_OTHER with one line in msg (len
 * bytes) that says what the host refused and what to do. */
int carrier_make(MPI_Comm self, MPI_Win *carrier, char *msg, size_t len);

#endif
