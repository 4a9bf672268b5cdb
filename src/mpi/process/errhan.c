/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errhan.c - the one table of error classes, and how an error is told.
 *
 * The layer that detects an error may have said what it saw, which is held here until the call is
 * over; then the call is named: function, window, rank, target, displacement, length, and the epoch
 * state (MPI 4.1, 12.7). The lines are written before the handler is called since the default
 * handler does not return. Handlers are the host's: those of the carrier window and of the user's
 * communicator. State: the texts held for the calling thread. No locks.
 *
 * Neighbours: all entry points, when something is wrong; log.h, whose hold is here.
 */
#include "mpi/process/errhan.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "engine.h"
#include "mpi/host/host.h"
#include "mpi/host/job.h"
#include "mpi/host/self.h"
#include "mpi/process/state.h"
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

/* What was said of the error that the present call of this thread will return, a line each. */
static _Thread_local char held[2048];

bool error_hold(const char *text)
{
    const size_t used = strlen(held), len = strlen(text);

    if (mpi_state.engine != NULL && engine_in_agent(mpi_state.engine))
        return false;
    if (used + len + 2 > sizeof held)
        return true; /* what came first is nearest to the cause */
    memcpy(held + used, text, len);
    memcpy(held + used + len, "\n", 2);
    return true;
}

/* One line, behind the causes if it is fatal; else at level info, where the causes have been
 * written. A fatal error ends the job next. */
static void tell(bool fatal, const char *fmt, ...)
{
    const struct log *log = engine_messages();
    char line[1024], *rest = held;
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    for (char *cause; fatal && *rest != '\0' && (cause = strsep(&rest, "\n")) != NULL;)
        log_msg(log, LOG_LEVEL_ERROR, "%s", cause);
    held[0] = '\0';
    log_msg(log, fatal ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO, "%s", line);
    if (fatal)
        job_let_messages_out();
}

/* Does this handler end the job? It is released. */
static bool is_fatal(MPI_Errhandler handler)
{
    const bool fatal = handler == MPI_ERRORS_ARE_FATAL || handler == HOST_ERRORS_ABORT;

    PMPI_Errhandler_free(&handler);
    return fatal;
}

static bool comm_fatal(MPI_Comm comm)
{
    MPI_Errhandler handler;

    if (comm == MPI_COMM_WORLD && !world_in_use()) /* a program with sessions has none */
        return true;
    return PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS || is_fatal(handler);
}

static bool win_fatal(MPI_Win win)
{
    MPI_Errhandler handler;

    return PMPI_Win_get_errhandler(win, &handler) != MPI_SUCCESS || is_fatal(handler);
}

static void win_raise(MPI_Win win, int class)
{
    MPI_Errhandler handler;

    if (PMPI_Win_get_errhandler(win, &handler) != MPI_SUCCESS || !handler_returns(handler))
        PMPI_Win_call_errhandler(win, class);
}

static void comm_raise(MPI_Comm comm, int class)
{
    MPI_Errhandler handler;

    if ((comm == MPI_COMM_WORLD && !world_in_use()) ||
        PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS || !handler_returns(handler))
        PMPI_Comm_call_errhandler(comm, class);
}

void request_fail(const char *func, int err)
{
    tell(comm_fatal(MPI_COMM_WORLD), "%s: the operation of a request failed: %s", func,
         mrma_err_name(err));
}

/* to: ", target ..." or ""; where: ", displacement ..." or ""; state: of the epoch, or "". */
static int win_tell(const struct win_rec *rec, const char *func, int err, const char *to,
                    const char *where, const char *state)
{
    MPI_Win handle = atomic_load_explicit(&rec->handle, memory_order_relaxed);
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int len;

    PMPI_Win_get_name(handle, name, &len);
    tell(win_fatal(handle), "%s: %s on window %u \"%s\", rank %d of %d%s%s: %s", func,
         mrma_err_name(err), (unsigned)win_id(rec->win), name, rec->rank, rec->nproc, to, where,
         state);
    win_raise(handle, err_class(err));
    return err_class(err);
}

/* target -1: none. where: ", displacement ..." or "". */
static int win_report(const struct win_rec *rec, const char *func, int err, int target,
                      const char *where)
{
    char state[256] = "", to[32] = "";

    win_describe(rec->win, target, state, sizeof state);
    if (target >= 0)
        snprintf(to, sizeof to, ", target %d", target);
    return win_tell(rec, func, err, to, where, state);
}

int region_fail(const struct win_rec *rec, const char *func, int err, const void *base,
                const char *length)
{
    char region[96];

    snprintf(region, sizeof region, "%smemory at %p", length, base);
    return win_tell(rec, func, err, "", "", region);
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

int comm_fail_as(MPI_Comm comm, enum report_when when, const char *func, int err,
                 const char *detail)
{
    tell(when == REPORT_ALWAYS || (when == REPORT_IF_FATAL && comm_fatal(comm)), "%s: %s%s%s", func,
         mrma_err_name(err), detail[0] != '\0' ? ": " : "", detail);
    comm_raise(comm, err_class(err));
    return err_class(err);
}

int comm_fail(MPI_Comm comm, const char *func, int err, const char *detail)
{
    return comm_fail_as(comm, REPORT_IF_FATAL, func, err, detail);
}

int plain_fail(const char *func, int err, const char *detail)
{
    return comm_fail(MPI_COMM_WORLD, func, err, detail);
}
