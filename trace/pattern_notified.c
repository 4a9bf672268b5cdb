/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_notified.c - finds Late Notification: a process that takes notifications waits until the
 * operation is issued that raises the last of them.
 */
#include <stdlib.h>

#include "analysis.h"
#include "notified.h"

static void late(struct analysis *analysis, const struct taking *taking, const struct operation *op)
{
    if (!op || op->rank == taking->rank || taking->call == NONE)
        return;
    found(analysis, (struct instance){.pattern = LATE_NOTIFICATION,
                                      .begin = analysis->trace->call[taking->call].enter,
                                      .end = u64_min(op->issue, taking->time),
                                      .rank = taking->rank,
                                      .cause = op->rank,
                                      .win = taking->win,
                                      .call = taking->call,
                                      .cause_call = op->call});
}

void find_notified(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    uint32_t *last = notified_last(trace);

    for (size_t i = 0; i < trace->ntakings; i++)
        late(analysis, &trace->taking[i], last[i] == NONE ? NULL : &trace->op[last[i]]);
    free(last);
}
