/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_path.h - records events inside the library while a trace is taken, which no wrapper of MPI
 * can see.
 *
 * rma_event records with the time of now, for the thread that calls; win_event names a window as
 * well. Without a trace they cost two loads and a branch; they stand where packets are handled,
 * where a thread is about to sleep, or behind a lock, never on the way of a put to mapped memory.
 */
#ifndef MRMA_RMA_TRACED_TRACED_PATH_H
#define MRMA_RMA_TRACED_TRACED_PATH_H

#include "rma/win/path_ops.h"
#include "rma/win/win.h"
#include "trace/record.h"

/* The filter that records an operation, in all routes while a trace is taken. */
extern const struct path_ops traced_path;

/* traced_issue records that an operation of len bytes is issued to t, and notes its number in its
 * request, if it has one. traced_path itself records the operations that it hands on; this function
 * is for those that do not come to it. Returns the number; 0: the recording is stopped, so the
 * operation has none. Only while a trace is taken. */
uint64_t traced_issue(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                      const struct rma_op *op, size_t len);

/* traced_elsewhere records, if a trace is taken, an operation that a filter in front of traced_path
 * has done itself, or keeps: it is complete with its epoch. Arguments as in traced_issue. */
static inline void traced_elsewhere(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                                    const struct rma_op *op, size_t len)
{
    if (unlikely(w->rma->env->trace != NULL))
        (void)traced_issue(w, t, kind, op, len);
}

/* rma_event records an event with the time of now, for the calling thread. Any thread, with or
 * without the engine's lock. */
static inline void rma_event(const struct rma *r, struct trace_record event)
{
    if (unlikely(r->env->trace != NULL) && !trace_is_stopped(r->env->trace)) {
        event.time = trace_now(r->env->trace);
        trace_add(r->env->trace, &event);
    }
}

/* win_event records an event of that kind that concerns the process of rank peer (-1: none) in w;
 * trace/spool.h says what arg is. Any thread, with or without the engine's lock. */
static inline void win_event(const struct win *w, int peer, enum trace_kind kind, uint32_t arg)
{
    if (unlikely(w->rma->env->trace != NULL))
        rma_event(w->rma,
                  (struct trace_record){
                      .kind = (uint16_t)kind, .win = w->index + 1, .peer = peer, .arg = arg});
}

/* win_last_op returns the number of the operation that was issued last, for win_done_up_to; 0: no
 * trace is taken. */
static inline uint64_t win_last_op(const struct win *w)
{
    return unlikely(w->rma->env->trace != NULL) ? trace_last_op(w->rma->env->trace) : 0;
}

/* win_done_up_to records that all operations on peer up to this number are complete there, as peer
 * has told. 0: nothing is recorded. */
static inline void win_done_up_to(const struct win *w, int peer, uint64_t number)
{
    if (unlikely(number != 0))
        rma_event(w->rma,
                  (struct trace_record){
                      .kind = TRACE_DONE_ALL, .win = w->index + 1, .peer = peer, .id = number});
}

#endif
