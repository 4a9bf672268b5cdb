/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_kind.c - see host_kind.h.
 *
 * The symbol is looked up among those of the whole process. What is found does not change any more,
 * and threads that look at the same time find the same. No locks. Neighbours: carrier.c and
 * host_poll.c, which ask; win.c, which hands on who yields; mpi-rma-info, which prints all.
 */
#include "mpi/host/host_kind.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

#include "base/atomic.h"

bool host_is_openmpi(void)
{
    enum { UNKNOWN, YES, NO };
    static _Atomic int known;
    int now = atomic_load_explicit(&known, memory_order_relaxed);

    if (now == UNKNOWN) {
        now = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != NULL ? YES : NO;
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return now == YES;
}

const char *host_way_in_name(enum host_way_in way)
{
    switch (way) {
    case HOST_PROGRESS_LIST:
        return "opal_progress_register";
    case HOST_ASYNC_START:
        return "PMPIX_Async_start";
    case HOST_NO_WAY_IN:
        break;
    }
    return NULL;
}

/* MPICH's function takes a stream, whose null handle has a known value only where handles are
 * numbers, in MPICH's own interface. Its library for the standard ABI does not have the function. */
enum host_way_in host_way_in(void)
{
    const bool numbers = sizeof(MPI_Comm) == sizeof(int);

    if (dlsym(RTLD_DEFAULT, host_way_in_name(HOST_PROGRESS_LIST)) != NULL &&
        dlsym(RTLD_DEFAULT, "opal_progress_unregister") != NULL)
        return HOST_PROGRESS_LIST;
    if (numbers && dlsym(RTLD_DEFAULT, host_way_in_name(HOST_ASYNC_START)) != NULL)
        return HOST_ASYNC_START;
    return HOST_NO_WAY_IN;
}

bool host_yields(void)
{
    return host_is_openmpi();
}
