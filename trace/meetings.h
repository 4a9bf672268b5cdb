/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meetings.h - finds the calls that no process leaves before all have entered: creation, fence and
 * free of windows; and, of the operations of communicators, barriers and those of all with all.
 */
#ifndef MRMA_TRACE_MEETINGS_H
#define MRMA_TRACE_MEETINGS_H

#include "model.h"

struct meeting {
    uint64_t time; /* at which the last has entered */
    uint32_t win, sequence;
    uint16_t call;
};

struct meetings {
    struct meeting *meeting; /* by time */
    size_t n;
    bool *member; /* [window, behind the windows the communicators, * ranks + rank] */
    uint32_t nranks;
};

void meetings_find(struct meetings *meetings, const struct trace *trace);
void meetings_free(struct meetings *meetings);

/* meetings_before returns the last time, at time or before it, at which two ranks have met. It
 * returns 0 if that was never, or long ago. */
uint64_t meetings_before(const struct meetings *meetings, uint32_t a, uint32_t b, uint64_t time);

#endif
