/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_get.h - the engine of this process is made at its first use and ended with MPI.
 */
#ifndef MRMA_MPI_CALLS_ENGINE_GET_H
#define MRMA_MPI_CALLS_ENGINE_GET_H

#include <stddef.h>

/* engine_get creates the engine if there is none. It returns 0; MRMA_ERR_ARG for an environment
 * variable that is not understood; or what engine_create or the datatype cache say, with one line
 * of text in msg. Any thread may call. */
int engine_get(char *msg, size_t len);

/* engine_end destroys the engine; nothing happens if there is none. No other thread uses it. */
void engine_end(void);

#endif
