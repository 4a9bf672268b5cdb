/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_internal.c - finds Credit stalls, Parked packets and Agent wake-ups, which the library
 * records of itself.
 */
#include <stdlib.h>

#include "analysis.h"
#include "index.h"

/* From the moment an agent is woken to the end of the sleep that it is in. */
static void wakeup(struct analysis *analysis, const struct doings *sleeps,
                   const struct doing *wakes)
{
    const struct trace *trace = analysis->trace;
    size_t low = 0, high = sleeps->n;

    if (wakes->peer == NONE)
        return;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct doing *sleep = sleeps->doing[middle];

        if (sleep->rank < wakes->peer ||
            (sleep->rank == wakes->peer && sleep->begin <= wakes->begin))
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0 && sleeps->doing[low]->rank == wakes->peer) {
        const struct doing *sleep = sleeps->doing[low];

        if (!trace->place[sleep->place].is_agent)
            continue;
        if (sleep->end > wakes->begin)
            found(analysis, (struct instance){.pattern = AGENT_WAKEUPS,
                                              .begin = wakes->begin,
                                              .end = sleep->end,
                                              .rank = wakes->rank,
                                              .cause = wakes->peer,
                                              .win = NONE,
                                              .call = NONE,
                                              .cause_call = NONE});
        return;
    }
}

void find_internal(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    struct doings sleeps = doings_by_rank(trace, OWN_ASLEEP);

    for (size_t i = 0; i < trace->ndoings; i++) {
        const struct doing *doing = &trace->doing[i];
        struct instance instance = {.pattern = CREDIT_STALLS,
                                    .begin = doing->begin,
                                    .end = doing->end,
                                    .rank = doing->rank,
                                    .cause = doing->peer,
                                    .win = doing->win,
                                    .call = NONE,
                                    .cause_call = NONE,
                                    .count = doing->queue};

        if (doing->kind == OWN_PARKED)
            instance.pattern = PARKED_PACKETS;
        if (doing->kind == OWN_PARKED || doing->kind == OWN_WAIT_CREDIT)
            found(analysis, instance);
        if (doing->kind == OWN_WAKE_AGENT)
            wakeup(analysis, &sleeps, doing);
    }
    free(sleeps.doing);
}
