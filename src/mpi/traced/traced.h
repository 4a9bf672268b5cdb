/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced.h - events of the calls, where MPIRMA_TRACE asks for a trace (trace/record.h).
 *
 * TRACED_TARGET and its short forms, at the beginning of an entry point, record that the call
 * begins and, by themselves, that it returns. traced_event and its neighbours record what the call
 * does, for windows of ours. While a trace is taken no window is remembered as the one used last
 * (win_table.c), so the short ways of the entry points are not taken; the general ways do the same
 * by the same paths and packets. Without a trace each of these costs one look at a word that never
 * changes.
 */
#ifndef MRMA_MPI_TRACED_TRACED_H
#define MRMA_MPI_TRACED_TRACED_H

#include "base/atomic.h"
#include "mpi/host/export.h"
#include "mpi/process/state.h"
#include "mpi/process/win_table.h"
#include "trace/record.h"

/* After the host's MPI_Init, collective over MPI_COMM_WORLD where MPIRMA_TRACE is set, which it
 * must then be for all processes. What goes wrong is said, and no trace is taken. */
struct conf;
void traced_begin_job(const struct conf *conf);
/* When no thread is in a call any more and the engine has ended. Collective as well. */
void traced_end_job(void);

/* The engine is made: a note where a trace is asked for but MPI_Init was not called. */
void traced_session(const struct conf *conf, const struct log *log);

void traced_enter(enum trace_call call, MPI_Win win, int peer);
void traced_leave(enum trace_call call);

static inline enum trace_call traced_call(enum trace_call call, MPI_Win win, int peer)
{
    if (likely(mpi_trace == NULL))
        return TRACE_CALL_NONE;
    traced_enter(call, win, peer);
    return call;
}

static inline void traced_return(const enum trace_call *call)
{
    if (unlikely(*call != TRACE_CALL_NONE))
        traced_leave(*call);
}

/* peer is a rank of the window, or -1 for all */
#define TRACED_TARGET(name, win, peer)                                                          \
    const enum trace_call traced_call_of_this __attribute__((cleanup(traced_return), unused)) = \
        traced_call(TRACE_CALL_##name, win, peer)
#define TRACED_WIN(name, win) TRACED_TARGET(name, win, 0)
#define TRACED(name) TRACED_TARGET(name, MPI_WIN_NULL, 0)

/* One record about a window, with the time of now. */
void traced_record(const struct win_rec *rec, struct trace_record event);

static inline void traced_event(const struct win_rec *rec, struct trace_record event)
{
    if (unlikely(mpi_trace != NULL))
        traced_record(rec, event);
}

/* MPI_Win_start and _post: kind is TRACE_START or TRACE_POST; ranks of the window. */
void traced_group(const struct win_rec *rec, enum trace_kind kind, const int *ranks, int n,
                  int asserts);

/* kind: TRACE_REQUEST_DONE or _TEST, of the operation of this number; 0: it has none, for it moves
 * nothing. */
static inline void traced_request(enum trace_kind kind, uint64_t number)
{
    if (unlikely(mpi_trace != NULL) && number)
        trace_add(mpi_trace, &(struct trace_record){.time = trace_now(mpi_trace),
                                                    .kind = (uint16_t)kind,
                                                    .id = number});
}

/* The window of rec has been made. */
void traced_create(const struct win_rec *rec);

#endif
