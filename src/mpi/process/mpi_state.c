/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_state.c - the state of which a process has one (state.h). It is apart from state.c, which
 * fills it in and needs all its neighbours for that, so that a file that only reads the state needs
 * none of them.
 */
#include "mpi/process/state.h"

struct mpi_state mpi_state;
struct trace *mpi_trace;
