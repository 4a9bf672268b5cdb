/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_attr.h - the five predefined attributes of a window (MPI 4.1, 12.2.6).
 *
 * They describe this library's window, not its carrier, so this library answers them; all other
 * attributes are the carrier's, and the host answers them. The Fortran bindings of both hosts do
 * not come through PMPI_Win_get_attr: fortran_attr_*.c.
 */
#ifndef MRMA_MPI_CALLS_WIN_ATTR_H
#define MRMA_MPI_CALLS_WIN_ATTR_H

#include <mpi.h>

#include <stdbool.h>

#include "mpi/process/win_table.h"

/* win_attr_get sets *pointer to what C gets of a predefined attribute (the base, or a pointer to
 * the value) and *value to what Fortran gets (the value itself). Returns false if keyval is not one
 * of the five, and sets nothing. */
bool win_attr_get(struct win_rec *rec, int keyval, void **pointer, MPI_Aint *value);

#endif
