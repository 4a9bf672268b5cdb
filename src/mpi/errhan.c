/*
 * errhan.c - the one table of error classes, and how an error is told.
 *
 * The layer that detects an error may have said what it saw; here the call is
 * named: function, window, rank, target, displacement, length, and the epoch
 * state (MPI 4.1, 12.7). The line is written before the handler is called since
 * the default handler does not return. Handlers are the host's: those of the
 * carrier window and of the user's communicator. No state, no locks.
 */
#include "mpi/errhan.h"

#include <assert.h>
#include <stdio.h>

#include "base/err.h"
#include "base/log.h"
#include "mpi/engine_get.h"
#include "rma/rma.h"

static const int classes[] = {
    [MRMA_SUCCESS] = MPI_SUCCESS,
    [MRMA_AGAIN] = MPI_ERR_INTERN,
    [MRMA_ERR_ARG] = MPI_ERR_ARG,
    [MRMA_ERR_BASE] = MPI_ERR_BASE,
    [MRMA_ERR_SIZE] = MPI_ERR_SIZE,
    [MRMA_ERR_DISP] = MPI_ERR_DISP,
    [MRMA_ERR_LOCKTYPE] = MPI_ERR_LOCKTYPE,
    [MRMA_ERR_ASSERT] = MPI_ERR_ASSERT,
    [MRMA_ERR_RANK] = MPI_ERR_RANK,
    [MRMA_ERR_COUNT] = MPI_ERR_COUNT,
    [MRMA_ERR_TYPE] = MPI_ERR_TYPE,
    [MRMA_ERR_OP] = MPI_ERR_OP,
    [MRMA_ERR_INFO_VALUE] = MPI_ERR_INFO_VALUE,
    [MRMA_ERR_COMM] = MPI_ERR_COMM,
    [MRMA_ERR_GROUP] = MPI_ERR_GROUP,
    [MRMA_ERR_WIN] = MPI_ERR_WIN,
    [MRMA_ERR_REQUEST] = MPI_ERR_REQUEST,
    [MRMA_ERR_BUFFER] = MPI_ERR_BUFFER,
    [MRMA_ERR_RMA_CONFLICT] = MPI_ERR_RMA_CONFLICT,
    [MRMA_ERR_RMA_SYNC] = MPI_ERR_RMA_SYNC,
    [MRMA_ERR_RMA_RANGE] = MPI_ERR_RMA_RANGE,
    [MRMA_ERR_RMA_ATTACH] = MPI_ERR_RMA_ATTACH,
    [MRMA_ERR_RMA_SHARED] = MPI_ERR_RMA_SHARED,
    [MRMA_ERR_RMA_FLAVOR] = MPI_ERR_RMA_FLAVOR,
    [MRMA_ERR_NO_MEM] = MPI_ERR_NO_MEM,
    [MRMA_ERR_PROC_FAILED] = MPI_ERR_OTHER, /* the hosts' class for it is an extension */
    [MRMA_ERR_OTHER] = MPI_ERR_OTHER,
    [MRMA_ERR_INTERN] = MPI_ERR_INTERN,
};
static_assert(sizeof classes / sizeof classes[0] == MRMA_ERR_LAST, "one class per error");

int err_class(int err)
{
    return err >= 0 && err < MRMA_ERR_LAST ? classes[err] : MPI_ERR_INTERN;
}

/* target -1: none. where: ", displacement ..." or "". */
static int win_report(const struct win_rec *rec, const char *func, int err, int target, const char *where)
{
    MPI_Win handle = atomic_load_explicit(&rec->handle, memory_order_relaxed);
    char name[MPI_MAX_OBJECT_NAME + 1] = "", state[256] = "", to[32] = "";
    int len;

    PMPI_Win_get_name(handle, name, &len);
    win_describe(rec->win, target, state, sizeof state);
    if (target >= 0)
        snprintf(to, sizeof to, ", target %d", target);
    log_msg(engine_messages(), LOG_LEVEL_ERROR, "%s: %s on window %u \"%s\", rank %d of %d%s%s: %s", func,
            mrma_err_name(err), (unsigned)win_id(rec->win), name, rec->rank, rec->nproc, to, where, state);
    PMPI_Win_call_errhandler(handle, err_class(err));
    return err_class(err);
}

int win_fail(const struct win_rec *rec, const char *func, int err)
{
    return win_report(rec, func, err, -1, "");
}

/* A rank that is not in the window is named, but has no epoch state. */
static int in_window(const struct win_rec *rec, int target)
{
    return target >= 0 && target < rec->nproc ? target : -1;
}

int win_fail_target(const struct win_rec *rec, const char *func, int err, int target)
{
    char where[32] = "";

    if (in_window(rec, target) < 0)
        snprintf(where, sizeof where, ", target %d", target);
    return win_report(rec, func, err, in_window(rec, target), where);
}

int op_fail(const struct win_rec *rec, const char *func, int err, const struct rma_op *op)
{
    char where[128], *end = where + sizeof where, *at = where;

    if (err == OP_NOTHING)
        return MPI_SUCCESS;
    if (in_window(rec, op->target) < 0)
        at += snprintf(at, (size_t)(end - at), ", target %d", op->target);
    at += snprintf(at, (size_t)(end - at), ", displacement %lld, ", (long long)op->disp);
    if (op->ttype != NULL)
        snprintf(at, (size_t)(end - at), "%zu elements of %zu bytes", op->tcount, op->ttype->size);
    else
        snprintf(at, (size_t)(end - at), "%lld elements", (long long)op->tcount);
    return win_report(rec, func, err, in_window(rec, op->target), where);
}

int comm_fail(MPI_Comm comm, const char *func, int err, const char *detail)
{
    log_msg(engine_messages(), LOG_LEVEL_ERROR, "%s: %s%s%s", func, mrma_err_name(err),
            detail[0] != '\0' ? ": " : "", detail);
    PMPI_Comm_call_errhandler(comm, err_class(err));
    return err_class(err);
}

int plain_fail(const char *func, int err, const char *detail)
{
    return comm_fail(MPI_COMM_WORLD, func, err, detail);
}
