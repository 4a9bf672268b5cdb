/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced.c - see traced.h.
 *
 * The first process of MPI_COMM_WORLD makes the directory and removes what an earlier job has left
 * there, before the others open their files. Processes whose directory is on another disk make it
 * themselves.
 *
 * No locks: mpi_trace is set before windows exist and cleared when no call is made any more.
 * Neighbours: record.h, which writes; traced_clock.c; traced_calls.c; traced_site.c; agree_job.c.
 */
#include "mpi/traced/traced.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/err.h"
#include "mpi/host/agree_job.h"
#include "mpi/host/process_model.h"
#include "mpi/process/state.h"
#include "mpi/traced/traced_calls.h"
#include "mpi/traced/traced_clock.h"
#include "mpi/traced/traced_site.h"
#include "rma/rma.h"
#include "sys/node.h"
#include "trace/record_parts.h"

/* While there is one. */
static MPI_Comm job; /* a copy of MPI_COMM_WORLD */
static struct log messages;

/* have_windows returns whether there are windows of sessions before MPI_Init: these would be in a
 * trace only in part. */
static bool have_windows(void)
{
    if (mpi_state.engine == NULL)
        return false;
    log_msg(&messages, LOG_LEVEL_WARN,
            "MPIRMA_TRACE: MPI_Init comes after windows of a session; no trace is taken");
    return true;
}

/* with_accesses returns whether the trace has to tell which memory is accessed. Then it must also
 * tell what orders accesses. */
static bool with_accesses(const struct conf *conf)
{
    if (!conf->trace_conflicts || traced_calls_are_there())
        return conf->trace_conflicts;
    log_msg(&messages, LOG_LEVEL_WARN,
            "MPIRMA_TRACE_CONFLICTS: libmpi-rma-calls is not loaded, which mpi-rma-run --conflicts "
            "does; no accesses are recorded");
    return false;
}

/* host_version returns the first line of the host's version, which the caller frees; NULL: no
 * memory. */
static char *host_version(void)
{
    char *version = malloc(MPI_MAX_LIBRARY_VERSION_STRING);
    int len;

    if (version == NULL)
        return NULL;
    *version = '\0';
    PMPI_Get_library_version(version, &len);
    version[strcspn(version, "\n")] = '\0';
    return version;
}

/* A trace needs MPI_COMM_WORLD; the sessions of MPI 4 have none. If one process cannot open its
 * part, no process records anything, since their clocks could not be compared. */
static void open_trace(const struct conf *conf)
{
    struct trace_spec spec = {.dir = conf->trace, .clock = clock_monotonic_ns, .log = &messages};
    struct trace *mine = NULL;
    int rank = 0, nproc = 0, have, all_have = 0;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &nproc);
    spec.rank = (uint32_t)rank;
    spec.nproc = (uint32_t)nproc;
    spec.machine = node_clock(); /* pretended nodes share it */
    spec.accesses = with_accesses(conf);
    job_meet(JOB_TRACE, &messages, &job);
    if (job == MPI_COMM_NULL)
        return;
    if (rank == 0)
        (void)trace_prepare(&spec);
    PMPI_Barrier(job);
    char *version = host_version();
    spec.host_mpi = version != NULL ? version : "";
    have = !have_windows() && trace_open(&spec, &mine) == MRMA_SUCCESS;
    free(version);
    PMPI_Allreduce(&have, &all_have, 1, MPI_INT, MPI_MIN, job);
    if (!all_have) {
        if (have)
            log_msg(spec.log, LOG_LEVEL_ERROR,
                    "MPIRMA_TRACE: another process cannot write in %s; no trace is taken",
                    spec.dir);
        trace_close(mine);
        PMPI_Comm_free(&job);
        return;
    }
    mpi_trace = mine;
    traced_site_objects(mpi_trace);
    traced_clock_begin(mpi_trace, spec.machine, job);
    traced_calls_begin(mpi_trace);
}

void traced_begin_job(const struct conf *conf)
{
    MPI_Comm parent = MPI_COMM_NULL;

    if (!*conf->trace)
        return;
    messages = *engine_messages();
    messages.level = conf->log_level;
    PMPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        open_trace(conf);
    else /* spawned processes have a world of their own, whose ranks have the same numbers as the
            parents' */
        log_msg(&messages, LOG_LEVEL_WARN,
                "MPIRMA_TRACE: processes that MPI_Comm_spawn has started are not traced");
}

void traced_session(const struct conf *conf, const struct log *log)
{
    if (*conf->trace && !world_in_use())
        log_msg(log, LOG_LEVEL_WARN,
                "MPIRMA_TRACE: a program that uses sessions without MPI_Init is not traced");
}

void traced_end_job(void)
{
    if (mpi_trace == NULL)
        return;
    traced_calls_end();
    traced_clock_end(mpi_trace);
    PMPI_Comm_free(&job);
    trace_close(mpi_trace);
    mpi_trace = NULL;
}

enum trace_call traced_enter(enum trace_call call, MPI_Win win, int peer, const void *caller)
{
    if (trace_is_stopped(mpi_trace))
        return TRACE_CALL_NONE;
    const struct win_rec *rec = win == MPI_WIN_NULL ? NULL : win_find(win);
    trace_add(mpi_trace, &(struct trace_record){.time = trace_now(mpi_trace),
                                                .kind = TRACE_ENTER,
                                                .what = (uint16_t)call,
                                                .win = rec ? win_id(rec->win) + 1 : 0,
                                                .peer = peer,
                                                .id = traced_site(mpi_trace, caller)});
    return call;
}

void traced_leave(enum trace_call call)
{
    const bool operates = (call >= TRACE_CALL_Put && call <= TRACE_CALL_Compare_and_swap) ||
                          (call >= TRACE_CALL_Put_notify && call <= TRACE_CALL_Accumulate_notify);
    uint64_t time = 0;

    if (mpi_trace == NULL)
        return;
    if (operates)
        time = trace_time_of_last(mpi_trace, TRACE_DONE); /* nothing comes after it */
    if (time == 0)
        time = trace_now(mpi_trace);
    trace_add(mpi_trace,
              &(struct trace_record){.time = time, .kind = TRACE_LEAVE, .what = (uint16_t)call});
}

void traced_record(const struct win_rec *rec, struct trace_record event)
{
    event.time = trace_now(mpi_trace);
    event.win = win_id(rec->win) + 1;
    trace_add(mpi_trace, &event);
}

void traced_group(const struct win_rec *rec, enum trace_kind kind, const int *ranks, int n,
                  int asserts)
{
    if (likely(mpi_trace == NULL))
        return;
    const struct trace_record event = {.time = trace_now(mpi_trace),
                                       .kind = (uint16_t)kind,
                                       .win = win_id(rec->win) + 1,
                                       .arg = (uint32_t)asserts,
                                       .id = (uint64_t)n};
    trace_add(mpi_trace, &event);
    trace_add_ranks(mpi_trace, event.time, ranks, n);
}

void traced_win_name(const struct win_rec *rec, const char *name)
{
    if (likely(mpi_trace == NULL))
        return;
    const struct trace_record event = {.time = trace_now(mpi_trace),
                                       .kind = TRACE_WIN_NAME,
                                       .win = win_id(rec->win) + 1,
                                       .id = win_number(rec->win)};
    trace_add(mpi_trace, &event);
    trace_add_text(mpi_trace, event.time, name);
}

/* record_memory is called after the record that the window has been made. */
static void record_memory(const struct win_rec *rec)
{
    const struct trace_access memory = {
        .time = trace_now(mpi_trace),
        .what = TRACE_OF_WINDOW | (win_hints(rec->win)->same_op ? TRACE_SAME_OP : 0),
        .n = 1,
        .begin = (uint64_t)(uintptr_t)*win_base_attr(rec->win),
        .length = *win_size(rec->win),
    };

    trace_add_access(mpi_trace, &memory);
}

void traced_create(const struct win_rec *rec)
{
    static const uint16_t flavor[] = {[WIN_CREATE] = TRACE_CREATE,
                                      [WIN_ALLOCATE] = TRACE_ALLOCATE,
                                      [WIN_ALLOCATE_SHARED] = TRACE_SHARED,
                                      [WIN_DYNAMIC] = TRACE_DYNAMIC};

    if (likely(mpi_trace == NULL))
        return;
    traced_record(rec, (struct trace_record){.kind = TRACE_WIN_CREATE,
                                             .id = win_number(rec->win),
                                             .peer = rec->rank,
                                             .arg = (uint32_t)rec->nproc,
                                             .what = flavor[win_flavor(rec->win)],
                                             .bytes = *win_size(rec->win)});
    if (trace_has_accesses(mpi_trace))
        record_memory(rec);
    traced_site_objects(mpi_trace);
    traced_clock_between(mpi_trace, rec->group);
}
