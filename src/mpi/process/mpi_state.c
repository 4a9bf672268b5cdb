/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_state.c - what is one for the process (state.h). state.c makes it, when its neighbours are
 * known: whoever only reads it needs nothing of that.
 */
#include "mpi/process/state.h"

struct mpi_state mpi_state;
struct trace *mpi_trace;
