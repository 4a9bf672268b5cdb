/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_kind.c - see host_kind.h.
 *
 * The symbol is looked up among those of the whole process. What is found does not change any more,
 * and threads that look at the same time find the same. No locks. Neighbours: carrier.c and
 * host_poll.c, which ask; carrier_stock.c; win.c, which hands on whether the host yields;
 * mpi-rma-info, which prints all.
 */
#define _GNU_SOURCE 1
#include "mpi/host/host_kind.h"

#include <dlfcn.h>
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

bool host_frees_failed(void)
{
    return host_is_openmpi();
}

static bool has(const char *symbol)
{
    return dlsym(RTLD_DEFAULT, symbol) != NULL;
}

/* has_ucx asks for the next function of that name, since this library has one itself. */
static bool has_ucx(void)
{
    return dlsym(RTLD_NEXT, "ucp_worker_progress") != NULL;
}

static enum host_join find_joins(void)
{
    if (has("opal_progress_register") && has("opal_progress_unregister"))
        return HOST_JOIN_BY_OPAL;
    if (has("PMPIX_Async_start"))
        return HOST_JOIN_BY_ASYNC;
    return has_ucx() ? HOST_JOIN_BY_UCX : HOST_JOIN_NOT;
}

/* host_joins keeps its answer: each creation of a window asks, and looking up a name in all
 * libraries takes microseconds. */
enum host_join host_joins(void)
{
    static _Atomic int known; /* enum host_join + 1; 0: not looked up yet */
    int now = atomic_load_explicit(&known, memory_order_relaxed);

    if (now == 0) {
        now = (int)find_joins() + 1;
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return (enum host_join)(now - 1);
}

bool host_yields(void)
{
    return host_is_openmpi();
}

bool host_ids_wait(void)
{
    return host_is_openmpi();
}
