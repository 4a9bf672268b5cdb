/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host.c - see host.h. The library is found by its symbol, so the same program
 * serves for runs with and without it.
 */
#define _GNU_SOURCE 1
#include "bench/common/host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void short_name(struct host *host, const char *version)
{
    const char *at;

    if ((at = strstr(version, "MPICH Version:"))) {
        char number[32] = "";

        sscanf(at + strlen("MPICH Version:"), " %31s", number);
        snprintf(host->name, sizeof(host->name), "MPICH %s", number);
        strcpy(host->tag, "mpich");
    } else if (!strncmp(version, "Open MPI", 8)) {
        snprintf(host->name, sizeof(host->name), "%.*s", (int)strcspn(version, ",\n"), version);
        strcpy(host->tag, "openmpi");
    } else {
        snprintf(host->name, sizeof(host->name), "%.*s", (int)strcspn(version, ",\n"), version);
        strcpy(host->tag, "other");
    }
}

void host_init(struct host *host)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;
    const char *off = getenv("MPIRMA_DISABLE");
    int (*get_version)(int *major, int *minor, int *patch) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "MPIRMA_Get_version");
    bool disabled = off && !strcmp(off, "1");
    char number[32] = "";
    int v[3];

    MPI_Get_library_version(version, &len);
    short_name(host, version);
    memcpy(&get_version, &symbol, sizeof(symbol));
    if (get_version && get_version(&v[0], &v[1], &v[2]) == MPI_SUCCESS)
        snprintf(number, sizeof(number), " %d.%d.%d", v[0], v[1], v[2]);
    host->library = symbol && !disabled;
    if (host->library)
        snprintf(host->rma, sizeof(host->rma), "one-sided calls by libmpi-rma%s", number);
    else
        snprintf(host->rma, sizeof(host->rma), "one-sided calls by the host%s",
                 symbol ? " (libmpi-rma disabled)" : "");
}

void host_function(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    memcpy(function, &symbol, sizeof(symbol));
}

bool host_any_failed(MPI_Comm comm, bool failed, char *reason, size_t len)
{
    int rank, size, mine, first;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mine = failed ? rank : size;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == size)
        return false;
    MPI_Bcast(reason, (int)len, MPI_CHAR, first, comm);
    reason[len - 1] = '\0';
    return true;
}

void host_error_text(const char *function, int rc, char *buf, size_t len)
{
    char text[MPI_MAX_ERROR_STRING];
    int n, class;

    MPI_Error_class(rc, &class);
    MPI_Error_string(class, text, &n);
    snprintf(buf, len, "%s: %.*s", function, (int)strcspn(text, "\n"), text);
}
