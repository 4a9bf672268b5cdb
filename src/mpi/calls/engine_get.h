/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_get.h - the engine of this process is made at its first use and ended with MPI.
 */
#ifndef MRMA_MPI_CALLS_ENGINE_GET_H
#define MRMA_MPI_CALLS_ENGINE_GET_H

#include <stddef.h>

/* engine_get creates the engine if there is none: mpi_state is filled when it returns MRMA_SUCCESS,
 * unless engine_disabled. With an error msg (len bytes) has one line about it: MRMA_ERR_ARG for an
 * environment variable that is not understood (environment.h tells more), else what engine_create,
 * the host or the datatype cache say. Any thread may call; one creates, the others wait. */
int engine_get(char *msg, size_t len);

/* engine_end destroys the engine, with all windows that were not freed; if there is no engine it
 * does nothing. No other thread is in a call. */
void engine_end(void);

#endif
