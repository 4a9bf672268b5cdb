/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_attr.h - the five predefined attributes of a window (MPI 4.1, 12.2.6).
 *
 * They describe our window, not its carrier, so they are answered here; all other
 * attributes are the carrier's, answered by the host. The Fortran bindings of
 * both hosts do not come through PMPI_Win_get_attr: fortran_attr_*.c.
 */
#ifndef MRMA_MPI_CALLS_WIN_ATTR_H
#define MRMA_MPI_CALLS_WIN_ATTR_H

#include <mpi.h>

#include <stdbool.h>

#include "mpi/process/win_table.h"

/* What C gets (the base, or a pointer to the value) and what Fortran gets (the
 * value itself). False: keyval is not one of the five. */
bool win_attr_get(struct win_rec *rec, int keyval, void **pointer, MPI_Aint *value);

#endif
