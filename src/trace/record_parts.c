/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record_parts.c - see record_parts.h. No state, no locks.
 */
#include "trace/record_parts.h"

#include <string.h>

void trace_add_ranks(struct trace *tr, uint64_t time, const int *ranks, int n)
{
    for (int done = 0; done < n; done += TRACE_RANKS_MAX) {
        struct trace_ranks part = {.time = time, .kind = TRACE_RANKS};
        struct trace_record rec;
        part.n = (uint16_t)(n - done < TRACE_RANKS_MAX ? n - done : TRACE_RANKS_MAX);
        memcpy(part.rank, ranks + done, part.n * sizeof *ranks);
        memcpy(&rec, &part, sizeof rec);
        trace_add(tr, &rec);
    }
}

void trace_add_name(struct trace *tr, uint16_t what, const char *name)
{
    struct trace_name named = {.time = trace_now(tr), .kind = TRACE_NAME, .what = what};
    struct trace_record rec;
    memcpy(named.text, name, strnlen(name, sizeof named.text));
    memcpy(&rec, &named, sizeof rec);
    trace_add(tr, &rec);
}

void trace_add_text(struct trace *tr, uint64_t time, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        struct trace_text part = {.time = time, .kind = TRACE_TEXT};
        struct trace_record rec;
        part.length = (uint16_t)(left < TRACE_TEXT_MAX ? left : TRACE_TEXT_MAX);
        memcpy(part.text, text, part.length);
        memcpy(&rec, &part, sizeof rec);
        trace_add(tr, &rec);
        text += part.length;
        left -= part.length;
    }
}

void trace_add_object(struct trace *tr, const struct trace_object *object, const char *path)
{
    struct trace_object timed = *object;
    struct trace_record rec;
    timed.time = trace_now(tr);
    timed.kind = TRACE_OBJECT;
    memcpy(&rec, &timed, sizeof rec);
    trace_add(tr, &rec);
    trace_add_text(tr, timed.time, path);
}

void trace_add_access(struct trace *tr, const struct trace_access *access)
{
    struct trace_access whole = *access;
    struct trace_record rec;
    whole.kind = TRACE_ACCESS;
    memcpy(&rec, &whole, sizeof rec);
    trace_add(tr, &rec);
}
