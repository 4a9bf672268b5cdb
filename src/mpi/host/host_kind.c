/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_kind.c - see host_kind.h.
 *
 * The symbol is looked up among those of the whole process. What is found does not change any more,
 * and threads that look at the same time find the same. No locks. Neighbours: carrier.c and
 * host_poll.c, which ask; win.c, which hands on who yields; mpi-rma-info, which prints all.
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

static bool has(const char *symbol)
{
    return dlsym(RTLD_DEFAULT, symbol) != NULL;
}

/* Has the process that library, whose function gives way to the one of that name of libmpi-rma, or
 * would if libmpi-rma were there (as in mpi-rma-info)? */
static bool calls_ours(const char *symbol, const char *library)
{
    void *first = dlsym(RTLD_DEFAULT, symbol), *here = dlsym(RTLD_DEFAULT, "PMPIRMA_Notify_read");
    void *loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    Dl_info of_first, of_here;

    if (loaded)
        (void)dlclose(loaded);
    return loaded && first &&
           (!here || (dladdr(first, &of_first) && dladdr(here, &of_here) &&
                      of_first.dli_fbase == of_here.dli_fbase));
}

enum host_join host_joins(void)
{
    if (has("opal_progress_register") && has("opal_progress_unregister"))
        return HOST_JOIN_ALL;
    if (has("PMPIX_Async_start"))
        return HOST_JOIN_NETWORK;
    return calls_ours("ucp_worker_progress", "libucp.so.0") ? HOST_JOIN_NETWORK_BY_UCX
                                                            : HOST_JOIN_NOTHING;
}

bool host_yields(void)
{
    return host_is_openmpi();
}
