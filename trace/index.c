/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * index.c - see index.h.
 */
#include "index.h"

#include <stdlib.h>

void spans_add(struct spans *spans, uint64_t begin, uint64_t end)
{
    struct span *last = spans->n ? &spans->span[spans->n - 1] : NULL;

    if (end <= begin)
        return;
    if (last && begin <= last->end) {
        last->end = u64_max(last->end, end);
        return;
    }
    uint64_t before = last ? last->before + (last->end - last->begin) : 0;
    spans->span = grow(spans->span, spans->n, &spans->cap, sizeof *spans->span);
    spans->span[spans->n++] = (struct span){begin, end, before};
}

/* What they cover up to time. */
static uint64_t covered(const struct spans *spans, uint64_t time)
{
    size_t low = 0, high = spans->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (spans->span[middle].begin < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const struct span *span = &spans->span[low - 1];
    return span->before + (u64_min(span->end, time) - span->begin);
}

uint64_t spans_overlap(const struct spans *spans, uint64_t begin, uint64_t end)
{
    return end > begin ? covered(spans, end) - covered(spans, begin) : 0;
}

struct spans *spans_of_ranks(const struct trace *trace, int what)
{
    struct spans *spans = zalloc(trace->nranks, sizeof *spans);
    size_t i = 0, k = 0;

    /* Both lists are in order of begin; they are merged. */
    const size_t ncalls = what == INDEX_WRITING ? 0 : trace->ncalls;
    const size_t ndoings = what == INDEX_CALLS ? 0 : trace->ndoings;
    const uint16_t kind = what == INDEX_BUSY ? OWN_SERVE : OWN_WRITE_TRACE;

    while (i < ncalls || k < ndoings) {
        const struct call *call = i < ncalls ? &trace->call[i] : NULL;
        const struct doing *doing = k < ndoings ? &trace->doing[k] : NULL;

        if (call && (!doing || call->enter <= doing->begin)) {
            if (call->rma)
                spans_add(&spans[call->rank], call->enter, call->leave);
            i++;
        } else {
            if (doing->kind == kind)
                spans_add(&spans[doing->rank], doing->begin, doing->end);
            k++;
        }
    }
    return spans;
}

void spans_free(struct spans *spans, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        free(spans[i].span);
    free(spans);
}

static int by_rank_and_peer(const void *a, const void *b)
{
    const struct doing *x = *(const struct doing *const *)a;
    const struct doing *y = *(const struct doing *const *)b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

struct doings doings_by_rank(const struct trace *trace, unsigned kind)
{
    struct doings doings = {zalloc(trace->ndoings, sizeof *doings.doing), 0};

    for (size_t i = 0; i < trace->ndoings; i++)
        if (trace->doing[i].kind == kind)
            doings.doing[doings.n++] = &trace->doing[i];
    sort(doings.doing, doings.n, sizeof *doings.doing, by_rank_and_peer);
    return doings;
}

const struct doing *doings_first(const struct doings *doings, uint32_t rank, uint32_t peer,
                                 uint32_t win, uint64_t begin)
{
    const struct doing wanted = {.rank = rank, .peer = peer, .begin = begin}, *key = &wanted;
    size_t low = 0, high = doings->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (by_rank_and_peer(&doings->doing[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < doings->n; low++) {
        const struct doing *doing = doings->doing[low];

        if (doing->rank != rank || doing->peer != peer)
            return NULL;
        if (win == NONE || doing->win == NONE || doing->win == win)
            return doing;
    }
    return NULL;
}
