/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_messages.c - finds Late Sender and Late Receiver.
 *
 * A call that waits for several messages waits for the one that was sent last. A call that sends
 * has waited for its receiver if it returns after the receiver has begun to receive. A call that
 * also receives may have waited for what it receives, and is left out.
 */
#include <stdlib.h>

#include "analysis.h"
#include "messages.h"

/* What each call has waited for longest: an instance by call, + 1. */
struct waits {
    struct analysis *analysis;
    struct instance *instance;
    bool *receives; /* of each call: it has received something */
};

/* A call waits until time because of another rank's call. */
static void wait_until(struct waits *waits, uint32_t call, uint64_t time, uint32_t cause,
                       uint32_t cause_call, uint8_t pattern)
{
    const struct call *at = &waits->analysis->trace->call[call];
    struct instance *longest = &waits->instance[call];

    if (at->unrecorded || time <= at->enter || at->leave < time || longest->end >= time)
        return;
    *longest = (struct instance){.pattern = pattern,
                                 .begin = at->enter,
                                 .end = time,
                                 .rank = at->rank,
                                 .cause = cause,
                                 .win = NONE,
                                 .call = call,
                                 .cause_call = cause_call};
}

static void one_message(void *data, const struct sending *sending,
                        const struct receiving *receiving)
{
    struct waits *waits = data;
    const struct trace *trace = waits->analysis->trace;

    if (receiving->completer != NONE) {
        const uint64_t begins =
            sending->call == NONE ? sending->time : trace->call[sending->call].enter;

        wait_until(waits, receiving->completer, begins, sending->rank, sending->call, LATE_SENDER);
    }
    if (sending->completer != NONE && !waits->receives[sending->completer])
        wait_until(waits, sending->completer, receiving->posted, receiving->rank, receiving->call,
                   LATE_RECEIVER);
}

void find_messages(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    struct waits waits = {analysis, zalloc(trace->ncalls, sizeof *waits.instance),
                          messages_receivers(trace)};

    messages_match(trace, one_message, &waits);
    for (size_t i = 0; i < trace->ncalls; i++)
        if (waits.instance[i].end)
            found(analysis, waits.instance[i]);
    free(waits.receives);
    free(waits.instance);
}
