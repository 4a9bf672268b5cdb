/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host.c - fills the table of host.h before anything can call it.
 *
 * A constructor does it, so that no entry point has to ask whether it was done.
 * If the host's library is not found behind this one, the link order was wrong
 * or another MPI library is in use; going on would call null pointers, therefore
 * the process ends with a line that says what to do.
 *
 * No locks: the table is constant once it is filled. Neighbours: host_check.c; all entry points,
 * which pass calls on.
 */
#include "mpi/host/host.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/log.h"
#include "mpi/host/host_check.h"

struct mpi_host mpi_host;

void *host_symbol(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    struct log log;

    if (symbol == NULL) {
        host_check(); /* the better message where it is another host that lacks the function */
        log_init(&log, LOG_LEVEL_ERROR, 2, "libmpi-rma");
        log_msg(
            &log, LOG_LEVEL_ERROR,
            "%s of %s was not found behind this library: link -lmpi-rma ahead of the MPI library, "
            "or start the program with mpi-rma-run",
            name, MPIRMA_HOST);
        _Exit(127);
    }
    return symbol;
}

__attribute__((constructor)) static void host_fill(void)
{
#define FILL(name) HOST_FILL(mpi_host, name);
    HOST_FUNCTIONS(FILL)
#undef FILL
}
