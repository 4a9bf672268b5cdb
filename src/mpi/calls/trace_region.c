/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_region.c - calls by which a program describes itself in a trace: named regions, and
 * MPI_Pcontrol (MPI 4.1, 15.2.4).
 *
 * State: how many regions each thread has open, and which of the first TRACE_REGIONS_DEEP are in
 * the trace. No locks. Neighbour: traced_region.h.
 */
#include <mpi-rma.h>

#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "mpi/calls/extension.h"
#include "mpi/host/host.h"
#include "mpi/process/state.h"
#include "mpi/process/win_table.h"
#include "mpi/traced/traced_region.h"
#include "trace/record.h"

static _Thread_local struct {
    unsigned depth;
    uint64_t recorded; /* bit d: the region d + 1 */
} regions;

/* bit_of returns the bit of a depth from 1 to TRACE_REGIONS_DEEP, else 0. */
static uint64_t bit_of(unsigned depth)
{
    return depth <= TRACE_REGIONS_DEEP ? UINT64_C(1) << (depth - 1) : 0;
}

MRMA_PUBLIC int PMPIRMA_Region_begin(const char *name)
{
    if (name == NULL || *name == '\0')
        return MPI_ERR_ARG;
    regions.depth++;
    if (unlikely(mpi_trace != NULL) && traced_region_begin(mpi_trace, name, regions.depth))
        regions.recorded |= bit_of(regions.depth);
    return MPI_SUCCESS;
}
EXPORT_MPIRMA(Region_begin);

MRMA_PUBLIC int PMPIRMA_Region_end(void)
{
    if (regions.depth == 0)
        return MPI_ERR_OTHER;
    const unsigned depth = regions.depth--;
    if (unlikely(regions.recorded & bit_of(depth)) && mpi_trace != NULL)
        traced_region_end(mpi_trace, depth);
    regions.recorded &= ~bit_of(depth);
    return MPI_SUCCESS;
}
EXPORT_MPIRMA(Region_end);

/* Records are in their file at once, so level 2 has nothing to write out. Further arguments are not
 * handed on: their types are unknown, and no host looks at them. */
MRMA_PUBLIC int PMPI_Pcontrol(const int level, ...)
{
    if (mpi_trace != NULL && (level == 0 || level == 1)) {
        trace_recording(mpi_trace, level == 1);
        if (level == 1)
            win_forget_last();
    }
    return mpi_host.Pcontrol(level);
}
MRMA_EXPORT_MPI(Pcontrol);
