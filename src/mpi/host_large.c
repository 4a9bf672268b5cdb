/*
 * host_large.c - fills the table of host_large.h when the library is loaded.
 *
 * See host.c, whose host_symbol does the work.
 */
#include "mpi/host_large.h"

#include <string.h>

#include "mpi/host.h"

struct mpi_host_large mpi_host_large;

__attribute__((constructor)) static void host_large_fill(void)
{
    void *symbol;

#define HOST_FILL(name)                  \
    symbol = host_symbol("PMPI_" #name); \
    memcpy(&mpi_host_large.name, &symbol, sizeof symbol);
    HOST_LARGE_FUNCTIONS(HOST_FILL)
#undef HOST_FILL
}
