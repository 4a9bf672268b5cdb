/*
 * memory.c - MPI_Alloc_mem and MPI_Free_mem (MPI 4.1, 10.2).
 *
 * Memory comes from the engine's shared heap, so that windows over it are mapped
 * by the processes of the node. Info key mpi_minimum_memory_alignment (bytes, a
 * power of two). Errors, raised on MPI_COMM_WORLD: MPI_ERR_ARG for a negative
 * size, _NO_MEM, _INFO_VALUE; MPI_ERR_BASE for memory that is not the start of a
 * block from MPI_Alloc_mem. MPI_Free_mem takes a null pointer, as both hosts
 * give one for size 0. The heap has its own lock.
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/err.h"
#include "mpi/engine_get.h"
#include "mpi/errhan.h"
#include "mpi/export.h"
#include "mpi/host.h"
#include "mpi/win_info.h"
#include "shm/heap.h"

enum { DEFAULT_ALIGNMENT = 64 };

static int alignment(MPI_Info info, uint64_t *align, char *msg, size_t len)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int there = 0;

    *align = DEFAULT_ALIGNMENT;
    if (info == MPI_INFO_NULL)
        return MRMA_SUCCESS;
    PMPI_Info_get(info, "mpi_minimum_memory_alignment", MPI_MAX_INFO_VAL, text, &there);
    if (!there || win_info_alignment(text, align))
        return MRMA_SUCCESS;
    snprintf(msg, len, "info key mpi_minimum_memory_alignment=\"%.100s\" is not understood: "
                       "expected a number of bytes, a power of two", text);
    return MRMA_ERR_INFO_VALUE;
}

MRMA_PUBLIC int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    char msg[256] = "";
    uint64_t align;
    void *base;
    int err;

    if (engine_disabled())
        return mpi_host.Alloc_mem(size, info, baseptr);
    err = engine_get(msg, sizeof msg);
    if (err == MRMA_SUCCESS && size < 0) {
        snprintf(msg, sizeof msg, "size %lld is negative", (long long)size);
        err = MRMA_ERR_ARG;
    }
    if (err == MRMA_SUCCESS)
        err = alignment(info, &align, msg, sizeof msg);
    if (err == MRMA_SUCCESS) {
        snprintf(msg, sizeof msg, "%lld bytes", (long long)size);
        err = heap_alloc(mpi_state.heap, (size_t)size, (size_t)align, &base);
    }
    if (unlikely(err != MRMA_SUCCESS))
        return plain_fail("MPI_Alloc_mem", err, msg);
    memcpy(baseptr, &base, sizeof base);
    return MPI_SUCCESS;
}
MRMA_EXPORT_MPI(Alloc_mem);

MRMA_PUBLIC int PMPI_Free_mem(void *base)
{
    char msg[64];
    int err;

    if (engine_disabled())
        return mpi_host.Free_mem(base);
    if (base == NULL)
        return MPI_SUCCESS;
    err = engine_get(msg, sizeof msg);
    if (err == MRMA_SUCCESS)
        err = heap_free(mpi_state.heap, base);
    if (err == MRMA_SUCCESS)
        return MPI_SUCCESS;
    snprintf(msg, sizeof msg, "%p is not a block of MPI_Alloc_mem", base);
    return plain_fail("MPI_Free_mem", err, msg);
}
MRMA_EXPORT_MPI(Free_mem);
