/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_text.c - MPI_Error_string and MPI_Error_class (MPI 4.1, 9.4): for this library's codes they
 * tell what was wrong with the call that returned them; for all others they return what the host
 * says. No state, no locks.
 *
 * Neighbour: error_code.h, which has the texts.
 */
#include <mpi.h>

#include <string.h>

#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/process/error_code.h"

MRMA_PUBLIC int PMPI_Error_string(int code, char *string, int *len)
{
    if (string == NULL || len == NULL || !error_code_text(code, string, MPI_MAX_ERROR_STRING))
        return mpi_host.Error_string(code, string, len);
    *len = (int)strlen(string);
    return MPI_SUCCESS;
}
MRMA_EXPORT_MPI(Error_string);

MRMA_PUBLIC int PMPI_Error_class(int code, int *class)
{
    if (class != NULL && error_code_class(code, class))
        return MPI_SUCCESS;
    return mpi_host.Error_class(code, class);
}
MRMA_EXPORT_MPI(Error_class);
