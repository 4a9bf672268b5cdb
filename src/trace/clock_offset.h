/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_offset.h - measures how much this machine's clock differs from that of another, by messages
 * to a process there and their answers. The caller sends the messages.
 */
#ifndef MRMA_TRACE_CLOCK_OFFSET_H
#define MRMA_TRACE_CLOCK_OFFSET_H

#include "trace/record.h"

/* How often the process that measures asks; the process that answers must know this number, too. */
enum { TRACE_CLOCK_ROUNDS = 20 };

/* Sends a message to the other process and waits for its answer, which is the time of its clock. */
typedef uint64_t (*trace_ask_clock)(void *ctx);

/* trace_measure_clock asks TRACE_CLOCK_ROUNDS times and records the result of the shortest round
 * trip (TRACE_CLOCK): the answer was given in the middle of the round trip, give or take half of
 * it. Longer round trips tell less, since a delay concerns one direction. ctx is handed to ask,
 * which waits for the other process. */
void trace_measure_clock(struct trace *tr, trace_ask_clock ask, void *ctx);

#endif
