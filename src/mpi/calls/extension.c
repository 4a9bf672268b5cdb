/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * extension.c - the functions of mpi-rma.h that describe the library and its windows; those of
 * notified access are in notified.c.
 *
 * They raise no MPI error, since a program often calls them before it knows whether the library is
 * in use at all. No state, no locks.
 *
 * Neighbour: win_table.h, which finds the window.
 */
#include <mpi-rma.h>

#include <assert.h>
#include <string.h>

#include "mpi/calls/argcheck.h"
#include "mpi/calls/extension.h"
#include "mpi/host/export.h"
#include "mpi/process/win_table.h"
#include "rma/rma.h"

static_assert(sizeof MPIRMA_VERSION == sizeof PACKAGE_VERSION, "mpi-rma.h and configure.ac agree");

MRMA_PUBLIC int PMPIRMA_Get_version(int *major, int *minor, int *patch)
{
    if (major != NULL)
        *major = MPIRMA_VERSION_MAJOR;
    if (minor != NULL)
        *minor = MPIRMA_VERSION_MINOR;
    if (patch != NULL)
        *patch = MPIRMA_VERSION_PATCH;
    return MPI_SUCCESS;
}
EXPORT_MPIRMA(Get_version);

MRMA_PUBLIC int PMPIRMA_Win_path(MPI_Win win, int target, char *buf, int len)
{
    struct win_rec *rec = win_lookup(win);
    const char *name = "host";

    if (rec == NULL && (win == MPI_WIN_NULL || !engine_disabled()))
        return MPI_ERR_WIN;
    if (rec != NULL && !args_rank_ok(rec, target))
        return MPI_ERR_RANK;
    if (rec != NULL)
        name = win_path_name(rec->win, target);
    if (buf == NULL || len <= 0 || (size_t)len <= strlen(name))
        return MPI_ERR_ARG;
    memcpy(buf, name, strlen(name) + 1);
    return MPI_SUCCESS;
}
EXPORT_MPIRMA(Win_path);
