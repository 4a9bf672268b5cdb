/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errhan.c - the one table of error classes, and the messages of errors.
 *
 * The layer that detects an error says what it has seen, by a row of the table of faults or in
 * words of its own, and error_held.h has this text until the call is over. Where the layer says
 * nothing, since it has no time for that, the refused arguments are looked at again
 * (rma/layer/explain.c). The message names the call: function, argument and what is wrong with it,
 * window, rank and target, and for a wrong epoch its state (MPI 4.1, 12.7). It is written before
 * the handler is called, since the default handler does not return. Handlers are the host's: those
 * of the carrier window and of the user's communicator. No state, no locks.
 *
 * Neighbours: all entry points, when something is wrong.
 */
#include "mpi/process/errhan.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/log.h"
#include "engine/engine.h"
#include "mpi/host/host.h"
#include "mpi/host/agree_job.h"
#include "mpi/host/process_model.h"
#include "mpi/process/call_site.h"
#include "mpi/process/error_code.h"
#include "mpi/process/error_held.h"
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
    [MRMA_ERR_PROC_FAILED] = MPI_ERR_OTHER, /* the class that hosts have for it is an extension */
    [MRMA_ERR_OTHER] = MPI_ERR_OTHER,
    [MRMA_ERR_INTERN] = MPI_ERR_INTERN,
};
static_assert(sizeof classes / sizeof classes[0] == MRMA_ERR_LAST, "one class per error");

int err_class(int err)
{
    return err >= 0 && err < MRMA_ERR_LAST ? classes[err] : MPI_ERR_INTERN;
}

/* general returns the text for an error of which nobody has said more. */
static const char *general(int err)
{
    switch (err) {
    case MRMA_ERR_NO_MEM:
        return "there is not enough memory";
    case MRMA_ERR_PROC_FAILED:
        return "a process of the window is lost";
    case MRMA_ERR_RMA_SYNC:
        return "the call does not fit the epochs of origin and target";
    case MRMA_ERR_RMA_RANGE:
        return "memory outside of the target's window is named";
    case MRMA_ERR_RMA_ATTACH:
        return "the memory is not attached, or no more can be attached";
    case MRMA_ERR_INTERN:
        return "this is an error of the library, or a packet that no correct process sends; please "
               "report it";
    default:
        return "the arguments do not fit this window, or each other";
    }
}

/* What is wrong with a call, and the words around it. */
struct message {
    char what[768];  /* function, class, argument, why, section */
    char where[384]; /* window, rank, target; "" for calls without a window */
    const char *advice;
    char *causes; /* texts of lower layers, except what `what` says already */
};

/* first_cause returns the first of the causes, without the name of its error; it is used where
 * there is no row of the table. */
static const char *first_cause(char **rest)
{
    char *line = *rest = error_causes();

    if (*line == '\0')
        return NULL;
    line = strsep(rest, "\n");
    char *behind = strstr(line, ": ");
    return behind != NULL ? behind + 2 : line;
}

/* detail is used where there is neither a row nor a cause; it may be "". */
static void say_what(struct message *m, const char *func, int err, const char *detail)
{
    const bool named = error_fault(err) != FAULT_NONE;
    const struct fault_row *row = fault_row(error_fault(err));
    const char *text = error_text(), *prefix = "MPI_ERR_", *name = mrma_err_name(err);

    m->advice = row->advice;
    m->causes = error_causes();
    if (!named && detail[0] != '\0')
        text = detail;
    else if (!named && (text = first_cause(&m->causes)) == NULL)
        text = general(err);
    if (err == MRMA_ERR_PROC_FAILED) { /* the class that hosts have for it is an extension */
        prefix = "";
        name = "MPI_ERR_OTHER (PROC_FAILED)";
    }
    snprintf(m->what, sizeof m->what, "%s: %s%s: %s%s%s%s", func, prefix, name, text,
             row->section[0] != '\0' ? " [MPI 4.1, " : "", row->section,
             row->section[0] != '\0' ? "]" : "");
}

static void say_site(const struct log *log)
{
    char site[256];

    call_site_say(site, sizeof site);
    if (site[0] != '\0')
        log_msg(log, LOG_LEVEL_ERROR, "  called at %s", site);
}

/* tell writes two lines: behind the causes if the error is fatal; else at level info, where the
 * causes were written before. After a fatal error the job ends. Returns the code for the
 * program. */
static int tell(struct message *m, bool fatal, int err)
{
    const struct log *log = engine_messages();
    const enum log_level level = fatal ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO;
    const bool more = m->where[0] != '\0' || m->advice[0] != '\0';
    char all[sizeof m->what + sizeof m->where + 160];

    while (fatal && log->level < LOG_LEVEL_INFO && m->causes != NULL && *m->causes != '\0')
        log_msg(log, level, "%s", strsep(&m->causes, "\n"));
    log_msg(log, level, "%s", m->what);
    if (more)
        log_msg(log, level, "  %s%s%s", m->where,
                m->where[0] != '\0' && m->advice[0] != '\0' ? ". " : "", m->advice);
    snprintf(all, sizeof all, "%s%s%s%s%s", m->what, m->where[0] != '\0' ? "; " : "", m->where,
             m->advice[0] != '\0' ? ". " : "", m->advice);
    error_forget();
    if (fatal) {
        say_site(log);
        job_let_messages_out();
    }
    return error_code(err, err_class(err), all);
}

/* is_fatal returns whether this handler ends the job, and releases the handler. */
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

/* A handler that ends the job gets the class: hosts differ in what they make of a code, and the
 * message is written already. A handler that returns at once is not called (host.h). */
static void win_raise(MPI_Win win, int class, int code)
{
    MPI_Errhandler handler;

    if (PMPI_Win_get_errhandler(win, &handler) == MPI_SUCCESS && handler_returns(handler))
        return;
    PMPI_Win_call_errhandler(win, win_fatal(win) ? class : code);
}

static void comm_raise(MPI_Comm comm, int class, int code)
{
    MPI_Errhandler handler;

    if (comm == MPI_COMM_WORLD && !world_in_use())
        handler = MPI_ERRHANDLER_NULL;
    else if (PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS && handler_returns(handler))
        return;
    PMPI_Comm_call_errhandler(comm, comm_fatal(comm) ? class : code);
}

void request_fail(const char *func, int err)
{
    struct message m = {.where = ""};

    say_what(&m, func, err, "");
    snprintf(m.where, sizeof m.where, "the operation of a request has failed");
    (void)tell(&m, comm_fatal(MPI_COMM_WORLD), err);
}

const char *win_maker(const struct win_rec *rec)
{
    static const char *const makers[] = {[WIN_CREATE] = "MPI_Win_create",
                                         [WIN_ALLOCATE] = "MPI_Win_allocate",
                                         [WIN_ALLOCATE_SHARED] = "MPI_Win_allocate_shared",
                                         [WIN_DYNAMIC] = "MPI_Win_create_dynamic"};

    return makers[win_flavor(rec->win)];
}

/* append appends to text, which has len bytes. */
static __attribute__((format(printf, 3, 4))) void append(char *text, size_t len, const char *fmt,
                                                         ...)
{
    const size_t used = strlen(text);
    va_list args;

    va_start(args, fmt);
    vsnprintf(text + used, len - used, fmt, args);
    va_end(args);
}

/* of_epochs returns whether an error is about epochs, so that the message names them. */
static bool of_epochs(int err)
{
    return err == MRMA_ERR_RMA_SYNC || err == MRMA_ERR_RMA_CONFLICT;
}

/* target -1: none. */
static int win_report(const struct win_rec *rec, const char *func, int err, int target)
{
    const MPI_Win handle = atomic_load_explicit(&rec->handle, memory_order_relaxed);
    char name[MPI_MAX_OBJECT_NAME + 1] = "", state[256];
    struct message m = {.where = ""};
    size_t room = sizeof m.where;
    int len;

    say_what(&m, func, err, "");
    PMPI_Win_get_name(handle, name, &len);
    append(m.where, room, "window %u", (unsigned)win_id(rec->win));
    if (name[0] != '\0')
        append(m.where, room, " \"%s\"", name);
    append(m.where, room, " of %s, rank %d of %d", win_maker(rec), rec->rank, rec->nproc);
    if (target != NO_TARGET)
        append(m.where, room, ", target %d", target);
    if (of_epochs(err)) {
        const bool inside = target >= 0 && target < rec->nproc;
        win_describe(rec->win, inside ? target : -1, state, sizeof state);
        append(m.where, room, ", %s", state);
    }
    const int code = tell(&m, win_fatal(handle), err);
    win_raise(handle, err_class(err), code);
    return code;
}

int win_fail(const struct win_rec *rec, const char *func, int err)
{
    return win_report(rec, func, err, NO_TARGET);
}

int win_fail_target(const struct win_rec *rec, const char *func, int err, int target)
{
    return win_report(rec, func, err, target);
}

int sync_fail(const struct win_rec *rec, const char *func, enum rma_call call, int err, int target)
{
    if (!error_is_named(err))
        rma_explain_sync(rec->win, call, target >= 0 && target < rec->nproc ? target : -1, err);
    return win_report(rec, func, err, target);
}

int op_fail(const struct win_rec *rec, const char *func, int err, const struct rma_op *op)
{
    if (err == OP_NOTHING)
        return MPI_SUCCESS;
    if (!error_is_named(err) && op->target >= 0 && op->target < rec->nproc && op->ttype != NULL)
        rma_explain_op(rec->win, op, err);
    return win_report(rec, func, err, op->target);
}

/* comm is the communicator whose handler is called. */
static int comm_report(MPI_Comm comm, enum report_when when, const char *func, int err,
                       const char *detail, const char *where)
{
    struct message m;

    say_what(&m, func, err, detail);
    snprintf(m.where, sizeof m.where, "%s", where);
    const int code =
        tell(&m, when == REPORT_ALWAYS || (when == REPORT_IF_FATAL && comm_fatal(comm)), err);
    comm_raise(comm, err_class(err), code);
    return code;
}

int comm_fail_as(MPI_Comm comm, enum report_when when, const char *func, int err,
                 const char *detail)
{
    char where[MPI_MAX_OBJECT_NAME + 64] = "", name[MPI_MAX_OBJECT_NAME + 1] = "";
    int rank, size, len;

    PMPI_Comm_get_name(comm, name, &len);
    if (PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && PMPI_Comm_size(comm, &size) == MPI_SUCCESS)
        snprintf(where, sizeof where, "rank %d of %d of %s", rank, size,
                 name[0] != '\0' ? name : "the communicator");
    return comm_report(comm, when, func, err, detail, where);
}

int comm_fail(MPI_Comm comm, const char *func, int err, const char *detail)
{
    return comm_fail_as(comm, REPORT_IF_FATAL, func, err, detail);
}

int plain_fail(const char *func, int err, const char *detail)
{
    return comm_report(MPI_COMM_WORLD, REPORT_IF_FATAL, func, err, detail, "");
}
