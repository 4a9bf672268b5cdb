/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_check.h - checks that the MPI library of this process is the one for which this library was
 * built.
 *
 * Handles are integers on one host and pointers on the other, so a call that is passed on to the
 * wrong host fails somewhere inside it.
 */
#ifndef MRMA_MPI_HOST_HOST_CHECK_H
#define MRMA_MPI_HOST_HOST_CHECK_H

#include <stdbool.h>

/* host_check ends the process with exit code 127, and a message that names both, if any MPI
 * library with another interface is loaded in it. If there was none when this library was loaded,
 * it takes the one that is there now as the host. Called before the first call that is passed on
 * to the host. Any thread, any number of times; it looks once. */
void host_check(void);

/* host_was_checked returns whether host_check has looked: it has looked if any call that
 * initialises MPI, or that makes the first window, came through this library. Any thread. */
bool host_was_checked(void);

#endif
