/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_regions_plain.c - trace_regions linked with the host alone, by the header that needs no
 * library; trace_regions.sh runs it as it is, and preloads the library under it.
 */
#include <mpi-rma-notify-fallback.h>

#define ENDS_WITHOUT_BEGIN(expected) (PMPIRMA_Region_end ? (expected) : MPI_SUCCESS)
#include "trace_regions.c"
