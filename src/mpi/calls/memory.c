/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - MPI_Alloc_mem and MPI_Free_mem (MPI 4.1, 10.2).
 *
 * Memory comes from a heap of the engine that is only for it, so that the processes of the node map
 * windows over it; otherwise it behaves as the hosts' memory does: children of fork have copies,
 * and what is not freed stays after MPI_Finalize. With MPIRMA_ALLOC_MEM=host it is the host's
 * memory. Info keys: mpi_minimum_memory_alignment (bytes, a power of two), mpirma_populate (true:
 * pages at once). Errors, raised on MPI_COMM_WORLD: MPI_ERR_ARG for a negative size, _NO_MEM,
 * _INFO_VALUE; MPI_ERR_BASE for memory that is not the start of a block from MPI_Alloc_mem.
 * MPI_Free_mem takes a null pointer, as both hosts give one for size 0. The heap has its own lock.
 *
 * Neighbours: heap.h, which allocates; win_info.c, which reports values that are not understood.
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/fault.h"
#include "base/text.h"
#include "engine/engine.h"
#include "mpi/calls/argcheck.h"
#include "mpi/calls/engine_get.h"
#include "mpi/calls/win_info.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/process/errhan.h"
#include "mpi/process/state.h"
#include "rma/rma.h"
#include "shm/heap.h"
#include "sys/populate.h"

enum { DEFAULT_ALIGNMENT = 64 };

struct wishes {
    uint64_t align;
    bool populate;
};

static bool read_alignment(const char *text, struct wishes *w)
{
    return text_alignment(text, &w->align);
}

static bool read_populate(const char *text, struct wishes *w)
{
    return text_bool(text, &w->populate);
}

static const struct key {
    const char *name;
    const char *expected;
    bool (*read)(const char *text, struct wishes *w); /* false: not understood */
} keys[] = {
    {"mpi_minimum_memory_alignment", "a number of bytes, a power of two", read_alignment},
    {"mpirma_populate", "true or false", read_populate},
};

static int read_info(MPI_Info info, struct wishes *w, char *msg, size_t len)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int there = 0;

    *w = (struct wishes){.align = DEFAULT_ALIGNMENT};
    if (info == MPI_INFO_NULL)
        return MRMA_SUCCESS;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        PMPI_Info_get(info, keys[i].name, MPI_MAX_INFO_VAL, text, &there);
        if (there && !keys[i].read(text, w)) {
            const int err = win_info_odd(keys[i].name, text, keys[i].expected, msg, len);
            if (err != MRMA_SUCCESS)
                return err;
        }
    }
    return MRMA_SUCCESS;
}

static bool is_hosts(void)
{
    return engine_conf(mpi_state.engine)->alloc_mem == CONF_ALLOC_HOST;
}

static int allocate(MPI_Aint size, MPI_Info info, void **base, char *msg, size_t len)
{
    struct wishes w;
    int err = read_info(info, &w, msg, len);

    if (err == MRMA_SUCCESS && size < 0)
        err = FAULT(engine_messages(), ALLOC_NEGATIVE, (long long)size);
    if (err != MRMA_SUCCESS)
        return err;
    err = heap_alloc(mpi_state.heap, (size_t)size, (size_t)w.align, base);
    if (err == MRMA_SUCCESS && w.populate) {
        err = populate_pages(*base, (size_t)size);
        if (err != MRMA_SUCCESS)
            (void)heap_free(mpi_state.heap, *base);
    }
    if (unlikely(err != MRMA_SUCCESS))
        snprintf(msg, len, "%lld bytes", (long long)size);
    return err;
}

MRMA_PUBLIC int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    char msg[256];
    void *base;
    int err, rc = MPI_SUCCESS;

    if (engine_disabled())
        return mpi_host.Alloc_mem(size, info, baseptr);
    err = engine_get(msg, sizeof msg);
    if (unlikely(err != MRMA_SUCCESS))
        return plain_fail("MPI_Alloc_mem", err, msg);
    err = args_place(baseptr, "baseptr");
    if (unlikely(err != MRMA_SUCCESS))
        return plain_fail("MPI_Alloc_mem", err, "");
    const uint64_t began = engine_alloc_begin(mpi_state.engine);
    if (is_hosts()) {
        rc = mpi_host.Alloc_mem(size, info, baseptr);
    } else {
        err = allocate(size, info, &base, msg, sizeof msg);
        if (unlikely(err != MRMA_SUCCESS))
            return plain_fail("MPI_Alloc_mem", err, msg);
        memcpy(baseptr, &base, sizeof base);
    }
    engine_alloc_end(mpi_state.engine, began, 1, (uint64_t)size);
    return rc;
}
MRMA_EXPORT_MPI(Alloc_mem);

static int release(void *base)
{
    int err = heap_free(mpi_state.heap, base);

    if (likely(err == MRMA_SUCCESS))
        return MPI_SUCCESS;
    if (err == MRMA_ERR_BASE)
        err = FAULT(engine_messages(), FREE_UNKNOWN, base);
    return plain_fail("MPI_Free_mem", err, "");
}

MRMA_PUBLIC int PMPI_Free_mem(void *base)
{
    char msg[256];
    int err, rc;

    if (engine_disabled())
        return mpi_host.Free_mem(base);
    if (base == NULL)
        return MPI_SUCCESS;
    err = engine_get(msg, sizeof msg);
    if (unlikely(err != MRMA_SUCCESS))
        return plain_fail("MPI_Free_mem", err, msg);
    const uint64_t began = engine_alloc_begin(mpi_state.engine);
    rc = is_hosts() ? mpi_host.Free_mem(base) : release(base);
    engine_alloc_end(mpi_state.engine, began, 0, 0);
    return rc;
}
MRMA_EXPORT_MPI(Free_mem);
