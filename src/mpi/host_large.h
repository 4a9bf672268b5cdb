/*
 * host_large.h - the host's own large-count functions, where it declares them.
 *
 * As host.h; used only by the sources that define the _c entry points.
 */
#ifndef MRMA_MPI_HOST_LARGE_H
#define MRMA_MPI_HOST_LARGE_H

#include <mpi.h>

#include "mpi/export.h"

#define HOST_LARGE_FUNCTIONS(X) \
    X(Win_create_c) X(Win_allocate_c) X(Win_allocate_shared_c) X(Win_shared_query_c) \
    X(Put_c) X(Get_c) X(Accumulate_c) X(Get_accumulate_c) \
    X(Rput_c) X(Rget_c) X(Raccumulate_c) X(Rget_accumulate_c)

struct mpi_host_large {
#define HOST_MEMBER(name) __typeof__(PMPI_##name) *name;
    HOST_LARGE_FUNCTIONS(HOST_MEMBER)
#undef HOST_MEMBER
};

extern MRMA_HIDDEN struct mpi_host_large mpi_host_large;

#endif
