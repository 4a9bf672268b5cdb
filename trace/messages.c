/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - see messages.h.
 */
#include "messages.h"

#include <stdlib.h>

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

static void match(const struct trace *trace, const struct end *sent, const struct end *received,
                  message *each, void *data)
{
    size_t k = 0;

    for (size_t i = 0; i < trace->nsendings; i++) {
        if (i == 0 || by_kind(&sent[i], &sent[i - 1]) != 0)
            while (k < trace->nreceivings && by_kind(&received[k], &sent[i]) < 0)
                k++;
        if (k < trace->nreceivings && by_kind(&received[k], &sent[i]) == 0)
            each(data, &trace->sending[sent[i].index], &trace->receiving[received[k++].index]);
    }
}

void messages_match(const struct trace *trace, message *each, void *data)
{
    struct end *sent = zalloc(trace->nsendings, sizeof *sent);
    struct end *received = zalloc(trace->nreceivings, sizeof *received);

    for (size_t i = 0; i < trace->nsendings; i++) {
        const struct sending *at = &trace->sending[i];

        sent[i] = (struct end){at->comm, at->rank, at->peer, at->tag, at->time, (uint32_t)i};
    }
    for (size_t i = 0; i < trace->nreceivings; i++) {
        const struct receiving *at = &trace->receiving[i];

        received[i] = (struct end){at->comm, at->peer, at->rank, at->tag, at->posted, (uint32_t)i};
    }
    sort(sent, trace->nsendings, sizeof *sent, by_kind_and_time);
    sort(received, trace->nreceivings, sizeof *received, by_kind_and_time);
    match(trace, sent, received, each, data);
    free(received);
    free(sent);
}

bool *messages_receivers(const struct trace *trace)
{
    bool *receives = zalloc(trace->ncalls, sizeof *receives);

    for (size_t i = 0; i < trace->nreceivings; i++)
        if (trace->receiving[i].completer != NONE)
            receives[trace->receiving[i].completer] = true;
    return receives;
}
