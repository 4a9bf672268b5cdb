/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern_messages.c - Late Sender and Late Receiver.
 *
 * Messages from one process to another over one communicator with one tag do not overtake each
 * other (MPI 4.1, 3.5): the first that is sent is received by the first receive that takes one of
 * these, in the order in which receives begin. Who receives any source or tag is known where it has
 * received.
 *
 * A call that waits for several messages waits for the one that was sent last. A call that sends
 * has waited for its receiver if it returns after that has begun to receive; a call that also
 * receives may have waited for what it receives, and is left out.
 */
#include <stdlib.h>

#include "analysis.h"

/* A message at one of its ends. */
struct end {
    uint32_t comm, source, target, tag;
    uint64_t time; /* by which those of the same kind are ordered */
    uint32_t index;
};

static int by_kind(const struct end *x, const struct end *y)
{
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static int by_kind_and_time(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    const int kind = by_kind(x, y);

    if (kind)
        return kind;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

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

static void one_message(struct waits *waits, const struct sending *sending,
                        const struct receiving *receiving)
{
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

static void match(struct waits *waits, const struct end *sent, size_t nsent,
                  const struct end *received, size_t nreceived)
{
    const struct trace *trace = waits->analysis->trace;
    size_t k = 0;

    for (size_t i = 0; i < nsent; i++) {
        if (i == 0 || by_kind(&sent[i], &sent[i - 1]) != 0)
            while (k < nreceived && by_kind(&received[k], &sent[i]) < 0)
                k++;
        if (k < nreceived && by_kind(&received[k], &sent[i]) == 0)
            one_message(waits, &trace->sending[sent[i].index],
                        &trace->receiving[received[k++].index]);
    }
}

void find_messages(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    struct waits waits = {analysis, zalloc(trace->ncalls, sizeof *waits.instance),
                          zalloc(trace->ncalls, sizeof *waits.receives)};
    struct end *sent = zalloc(trace->nsendings, sizeof *sent);
    struct end *received = zalloc(trace->nreceivings, sizeof *received);

    for (size_t i = 0; i < trace->nsendings; i++) {
        const struct sending *at = &trace->sending[i];

        sent[i] = (struct end){at->comm, at->rank, at->peer, at->tag, at->time, (uint32_t)i};
    }
    for (size_t i = 0; i < trace->nreceivings; i++) {
        const struct receiving *at = &trace->receiving[i];

        received[i] = (struct end){at->comm, at->peer, at->rank, at->tag, at->posted, (uint32_t)i};
        if (at->completer != NONE)
            waits.receives[at->completer] = true;
    }
    sort(sent, trace->nsendings, sizeof *sent, by_kind_and_time);
    sort(received, trace->nreceivings, sizeof *received, by_kind_and_time);
    match(&waits, sent, trace->nsendings, received, trace->nreceivings);
    for (size_t i = 0; i < trace->ncalls; i++)
        if (waits.instance[i].end)
            found(analysis, waits.instance[i]);
    free(received);
    free(sent);
    free(waits.receives);
    free(waits.instance);
}
