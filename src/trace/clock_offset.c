/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_offset.c - how much two machines' clocks differ (clock_offset.h). No state, no locks.
 */
#include "trace/clock_offset.h"

void trace_measure_clock(struct trace *tr, trace_ask_clock ask, void *ctx)
{
    struct trace_record best = {.kind = TRACE_CLOCK, .id = UINT64_MAX};

    for (int i = 0; i < TRACE_CLOCK_ROUNDS; i++) {
        const uint64_t begin = trace_now(tr);
        const uint64_t there = ask(ctx);
        const uint64_t half = (trace_now(tr) - begin) / 2;
        if (half < best.id) {
            best.id = half;
            best.time = begin + half;
            best.bytes = there - best.time;
        }
    }
    trace_add(tr, &best);
}
