/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan_make.h - what the files that make a plan share, see plan.h.
 */
#ifndef MRMA_TRACE_PLAN_MAKE_H
#define MRMA_TRACE_PLAN_MAKE_H

#include "plan.h"

/* plan_await_event: the call waits, from its begin or from a later time on, for the event that came
 * at another time. Nothing if that lies behind the call's end: then it did not wait for it. */
void plan_await_event(struct plan *plan, uint32_t call, uint64_t from, uint32_t event,
                      uint64_t time);

/* plan_await_call: the same, for the begin of another call. */
void plan_await_call(struct plan *plan, uint32_t call, uint64_t from, uint32_t other);

/* plan_happens: a moment in a call. */
void plan_happens(struct plan *plan, uint32_t call, enum step_kind kind, uint32_t ref,
                  uint64_t time);

/* plan_new_meeting returns a new event, which several calls reach. */
uint32_t plan_new_meeting(struct plan *plan);

/* plan_messages: what calls wait for that send or receive messages; plan_together: those that all
 * processes of a communicator make together. */
void plan_messages(struct plan *plan);
void plan_together(struct plan *plan);

#endif
