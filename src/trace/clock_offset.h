/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_offset.h - how much this machine's clock differs from that of another, by messages to a
 * process there and their answers. How a message gets there is the caller's.
 */
#ifndef MRMA_TRACE_CLOCK_OFFSET_H
#define MRMA_TRACE_CLOCK_OFFSET_H

#include "trace/record.h"

/* How often the process that asks does so: the one that answers must know it, too. */
enum { TRACE_CLOCK_ROUNDS = 20 };

/* Sends a message to the other process and waits for its answer, which is the time of its clock. */
typedef uint64_t (*trace_ask_clock)(void *ctx);

/* trace_measure_clock asks TRACE_CLOCK_ROUNDS times and records what the shortest round trip has
 * told (TRACE_CLOCK): the answer was the middle of it, give or take half of it. What delays a
 * message delays it in one direction, so the others tell less. ctx is handed to ask, which waits
 * for the other process. */
void trace_measure_clock(struct trace *tr, trace_ask_clock ask, void *ctx);

#endif
