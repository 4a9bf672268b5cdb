/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced.h - events inside the library while a trace is taken: what no wrapper of MPI can see.
 *
 * rma_event records with the time of now, for the thread that calls; win_event names a window as
 * well. Without a trace they cost two loads and a branch; they stand where packets are handled,
 * where a thread is about to sleep, or behind a lock, never on the way of a put to mapped memory.
 */
#ifndef MRMA_RMA_TRACED_TRACED_H
#define MRMA_RMA_TRACED_TRACED_H

#include "rma/win/path_ops.h"
#include "rma/win/win.h"
#include "trace/record.h"

/* While a trace is taken, in front of the path of every target: records the operation, then goes on
 * to the path itself, or to what MPIRMA_STRICT puts in front of it. */
extern const struct path_ops traced_path;

/* Record an operation: those to paths that traced_path stands in front of it records itself.
 * Returns its number. */
uint64_t traced_issue(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                      const struct rma_op *op, size_t len);

static inline void rma_event(const struct rma *r, struct trace_record event)
{
    if (unlikely(r->env->trace != NULL)) {
        event.time = trace_now(r->env->trace);
        trace_add(r->env->trace, &event);
    }
}

static inline void win_event(const struct win *w, int peer, enum trace_kind kind, uint32_t arg)
{
    if (unlikely(w->rma->env->trace != NULL))
        rma_event(w->rma,
                  (struct trace_record){
                      .kind = (uint16_t)kind, .win = w->index + 1, .peer = peer, .arg = arg});
}

/* The number of the operation that was issued last, for win_done_up_to; 0: no trace is taken. */
static inline uint64_t win_last_op(const struct win *w)
{
    return unlikely(w->rma->env->trace != NULL) ? trace_last_op(w->rma->env->trace) : 0;
}

/* The target has told that all operations on it up to this number are complete there. */
static inline void win_done_up_to(const struct win *w, int peer, uint64_t number)
{
    if (unlikely(number != 0))
        rma_event(w->rma,
                  (struct trace_record){
                      .kind = TRACE_DONE_ALL, .win = w->index + 1, .peer = peer, .id = number});
}

#endif
