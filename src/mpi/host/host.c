/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host.c - fills the table of host.h before anything can call it.
 *
 * A constructor does it, so that no entry point has to ask whether it was done. A program that
 * loads MPI when it runs has no host then, and a host may be older than a function; such a member
 * is one of the functions below. These have another type than the function for which they stand,
 * which does no harm: they look at no argument, and the caller removes what it has passed.
 *
 * No locks: the table is filled before there are other threads, or by the thread that initialises
 * MPI. Neighbours: host_check.c, which finds a host that is loaded later; own_comm.h; all entry
 * points, which pass calls on.
 */
#include "mpi/host/host.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/log.h"
#include "mpi/host/process_model.h"

struct mpi_host mpi_host;

static bool missing; /* written with the table */

void *host_symbol(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

bool host_is_missing(void)
{
    return missing;
}

bool handler_returns(MPI_Errhandler handler)
{
    const bool it_does = handler == MPI_ERRORS_RETURN;

    PMPI_Errhandler_free(&handler);
    return it_does;
}

static void world_raise(int class)
{
    MPI_Errhandler handler;

    if (PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) != MPI_SUCCESS ||
        !handler_returns(handler))
        PMPI_Comm_call_errhandler(MPI_COMM_WORLD, class);
}

/* absent is called for a function that the host does not have. Where there is no MPI_COMM_WORLD it
 * cannot raise an error. */
static int absent(const char *name)
{
    const int class = MPI_ERR_OTHER;
    struct log log;

    log_init(&log, LOG_LEVEL_ERROR, 2, "libmpi-rma");
    log_msg(
        &log, LOG_LEVEL_ERROR, "%s: %s", name,
        missing
            ? "there is no MPI library behind this one: link -lmpi-rma ahead of the MPI library, "
              "or start the program with mpi-rma-run"
            : "the MPI library of this process does not have it");
    if (!missing && world_in_use())
        world_raise(class);
    return class;
}

#define ABSENT(name)                 \
    static int absent_##name(void)   \
    {                                \
        return absent("MPI_" #name); \
    }
HOST_FUNCTIONS(ABSENT)
#undef ABSENT

/* C has no conversion from an object to a function pointer. */
static void *function_of(void *object, const char *name, int (*instead)(void))
{
    void *found = dlsym(object, name);

    return found != NULL ? found : *(void **)&instead;
}

static void host_fill(void *object)
{
    missing = dlsym(object, "PMPI_Init") == NULL;
#define FILL(name) (*(void **)&mpi_host.name = function_of(object, "PMPI_" #name, absent_##name));
    HOST_FUNCTIONS(FILL)
#undef FILL
}

void host_use(void *object)
{
    host_fill(object);
}

__attribute__((constructor)) static void host_fill_first(void)
{
    host_fill(RTLD_NEXT);
}
