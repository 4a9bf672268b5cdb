/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced.h - events of the calls, where MPIRMA_TRACE asks for a trace (trace/record.h).
 *
 * TRACED_TARGET and its short forms, at the beginning of an entry point, record that the call
 * begins and also, when it returns, that it returns. traced_event and its neighbours record what
 * the call does, for windows of this library. While events are recorded no window is remembered as
 * the one used last (win_table.c), so the short ways of the entry points are not taken; the general
 * ways do the same by the same paths and packets. While the recording is stopped the short ways are
 * taken. Without a trace each of these costs one look at a word that never changes.
 */
#ifndef MRMA_MPI_TRACED_TRACED_H
#define MRMA_MPI_TRACED_TRACED_H

#include "base/atomic.h"
#include "mpi/host/export.h"
#include "mpi/process/state.h"
#include "mpi/process/win_table.h"
#include "trace/record.h"

struct conf;

/* traced_begin_job is called after the host's MPI_Init: where MPIRMA_TRACE is set, mpi_trace is a
 * trace from now on. It is then collective over MPI_COMM_WORLD, so MPIRMA_TRACE must be set for all
 * processes. If something goes wrong a message says so, and no trace is taken. */
void traced_begin_job(const struct conf *conf);

/* traced_end_job closes the trace, when no thread is in a call any more and the engine has ended.
 * Collective over MPI_COMM_WORLD where there is a trace. */
void traced_end_job(void);

/* traced_session is called when the engine is made: it writes a warning where a trace is asked for
 * but MPI_Init was not called. */
void traced_session(const struct conf *conf, const struct log *log);

/* traced_enter records that a call begins, and returns call, which traced_return takes;
 * TRACE_CALL_NONE where the recording is stopped. win is MPI_WIN_NULL, or a window; peer is a rank
 * of it, or -1 for all; caller is the address to which the entry point of this library returns. It
 * is called only while a trace is taken. */
enum trace_call traced_enter(enum trace_call call, MPI_Win win, int peer, const void *caller);

/* traced_leave records that a call returns; nothing if the trace has ended meanwhile. */
void traced_leave(enum trace_call call);

/* traced_return is traced_leave for the call that *call names; for TRACE_CALL_NONE it does
 * nothing. */
static inline void traced_return(const enum trace_call *call)
{
    if (unlikely(*call != TRACE_CALL_NONE))
        traced_leave(*call);
}

/* peer is a rank of the window, or -1 for all */
#define TRACED_TARGET(name, win, peer)                                                          \
    const enum trace_call traced_call_of_this __attribute__((cleanup(traced_return), unused)) = \
        unlikely(mpi_trace != NULL)                                                             \
            ? traced_enter(TRACE_CALL_##name, win, peer, __builtin_return_address(0))           \
            : TRACE_CALL_NONE
#define TRACED_WIN(name, win) TRACED_TARGET(name, win, 0)
#define TRACED(name) TRACED_TARGET(name, MPI_WIN_NULL, 0)

/* traced_record adds one event about the window of rec, with the time of now. Only while a trace is
 * taken. */
void traced_record(const struct win_rec *rec, struct trace_record event);

/* traced_event is traced_record where a trace is taken. */
static inline void traced_event(const struct win_rec *rec, struct trace_record event)
{
    if (unlikely(mpi_trace != NULL))
        traced_record(rec, event);
}

/* traced_group records a MPI_Win_start or MPI_Win_post (kind is TRACE_START or TRACE_POST) with its
 * n ranks of the window and its asserts (RMA_*), where a trace is taken. */
void traced_group(const struct win_rec *rec, enum trace_kind kind, const int *ranks, int n,
                  int asserts);

/* traced_request records that a request is complete (kind is TRACE_REQUEST_DONE) or not
 * (TRACE_REQUEST_TEST), where a trace is taken. number is that of its operation; 0: it has none,
 * since it moves nothing, and nothing is recorded. */
static inline void traced_request(enum trace_kind kind, uint64_t number)
{
    if (unlikely(mpi_trace != NULL) && number)
        trace_add(mpi_trace, &(struct trace_record){.time = trace_now(mpi_trace),
                                                    .kind = (uint16_t)kind,
                                                    .id = number});
}

/* traced_win_name records that the window of rec has a name now, where a trace is taken. */
void traced_win_name(const struct win_rec *rec, const char *name);

/* traced_create records that the window of rec has been made, where a trace is taken. Collective
 * over the window then, since clocks may be compared again. */
void traced_create(const struct win_rec *rec);

#endif
