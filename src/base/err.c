/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * err.c - names of the internal error codes.
 *
 * The table is indexed by code; a static assert holds its length to the enum and
 * test_log.c checks that no entry is empty. Neighbours: log.c prints the names,
 * src/mpi/process/errhan.c maps the codes to MPI error classes.
 *
 * No state, no locks.
 */
#include "base/err.h"

#include <assert.h>
#include <stddef.h>

static const char *const err_names[] = {
    [MRMA_SUCCESS] = "SUCCESS",
    [MRMA_AGAIN] = "AGAIN",
    [MRMA_ERR_ARG] = "ARG",
    [MRMA_ERR_BASE] = "BASE",
    [MRMA_ERR_SIZE] = "SIZE",
    [MRMA_ERR_DISP] = "DISP",
    [MRMA_ERR_LOCKTYPE] = "LOCKTYPE",
    [MRMA_ERR_ASSERT] = "ASSERT",
    [MRMA_ERR_RANK] = "RANK",
    [MRMA_ERR_COUNT] = "COUNT",
    [MRMA_ERR_TYPE] = "TYPE",
    [MRMA_ERR_OP] = "OP",
    [MRMA_ERR_INFO_VALUE] = "INFO_VALUE",
    [MRMA_ERR_COMM] = "COMM",
    [MRMA_ERR_GROUP] = "GROUP",
    [MRMA_ERR_WIN] = "WIN",
    [MRMA_ERR_REQUEST] = "REQUEST",
    [MRMA_ERR_BUFFER] = "BUFFER",
    [MRMA_ERR_RMA_CONFLICT] = "RMA_CONFLICT",
    [MRMA_ERR_RMA_SYNC] = "RMA_SYNC",
    [MRMA_ERR_RMA_RANGE] = "RMA_RANGE",
    [MRMA_ERR_RMA_ATTACH] = "RMA_ATTACH",
    [MRMA_ERR_RMA_SHARED] = "RMA_SHARED",
    [MRMA_ERR_RMA_FLAVOR] = "RMA_FLAVOR",
    [MRMA_ERR_NO_MEM] = "NO_MEM",
    [MRMA_ERR_PROC_FAILED] = "PROC_FAILED",
    [MRMA_ERR_OTHER] = "OTHER",
    [MRMA_ERR_INTERN] = "INTERN",
};
static_assert(sizeof err_names / sizeof err_names[0] == MRMA_ERR_LAST, "one name per error code");

const char *mrma_err_name(int err)
{
    if (err < 0 || err >= MRMA_ERR_LAST || err_names[err] == NULL)
        return "unknown error";
    return err_names[err];
}
