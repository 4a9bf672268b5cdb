/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_check.c - see spool_check.h.
 */
#include "spool_check.h"

#include <inttypes.h>

#include "spool_kinds.h"
#include "trace/spool_pack.h"

enum { SHOWN_MAX = 3 };
#define TIME_MAX (UINT64_C(1) << 62)
#define PAUSE_MAX (UINT64_C(1) << 51) /* ns without any record: about 26 days */

static bool is_ranks(const struct trace_record *r)
{
    return r->kind == TRACE_RANKS;
}

static bool ranks_good(const struct trace_record *r, uint32_t nproc)
{
    const struct trace_ranks *ranks = (const struct trace_ranks *)r;

    if (ranks->n == 0 || ranks->n > TRACE_RANKS_MAX)
        return false;
    for (unsigned i = 0; i < ranks->n; i++)
        if (ranks->rank[i] < 0 || (uint32_t)ranks->rank[i] >= nproc)
            return false;
    return true;
}

static bool kind_known(const struct trace_record *r)
{
    return r->kind > TRACE_END && r->kind < TRACE_KINDS;
}

/* time_good returns whether the time of record i, and of all that it stands for, fits between what
 * came before and what comes next. */
static bool time_good(const struct spool_file *file, size_t i, size_t n, uint64_t last)
{
    uint64_t time = file->record[i].time, end = spool_end_of(&file->record[i]);

    if (time < last || time > TIME_MAX || (last && time - last > PAUSE_MAX))
        return false;
    if (i + 1 < n && kind_known(&file->record[i + 1]) && !is_ranks(&file->record[i + 1])) {
        uint64_t next = file->record[i + 1].time;

        if (next >= last && next < end && last)
            return false;
    }
    return true;
}

/* A record of kind 0 ends the file, unless a good one stands behind it. */
static bool is_end(const struct spool_file *file, size_t i, size_t n, uint32_t nproc)
{
    if (file->record[i].kind != TRACE_END)
        return false;
    return i + 1 >= n || !kind_known(&file->record[i + 1]) || file->record[i + 1].time == 0 ||
           !(is_ranks(&file->record[i + 1]) || spool_fields_good(&file->record[i + 1], nproc));
}

static void report(const struct spool_file *file, size_t i, uint64_t damaged)
{
    const char *offset = (const char *)&file->record[i];

    if (damaged <= SHOWN_MAX)
        say("%s: damaged record at offset %zu, left out", file->path,
            (size_t)(offset - (const char *)file->map));
}

uint64_t spool_check(struct spool_file *file, uint32_t nproc)
{
    size_t bytes = file->mapped - sizeof(struct spool_head);
    size_t n = bytes / sizeof(struct trace_record);
    uint64_t last = 0, damaged = 0;
    uint64_t ranks_left = 0; /* that the last start or post still has to name */

    for (size_t i = 0; i < n; i++) {
        struct trace_record *r = &file->record[i];
        bool good;

        if (is_end(file, i, n, nproc))
            break;
        file->n = i + 1;
        if (is_ranks(r))
            good = ranks_good(r, nproc) && ((struct trace_ranks *)r)->n <= ranks_left;
        else
            good = kind_known(r) && spool_fields_good(r, nproc) && time_good(file, i, n, last);
        if (!good) {
            report(file, i, ++damaged);
            r->kind = SPOOL_DAMAGED;
            continue;
        }
        if (is_ranks(r)) {
            ranks_left -= ((struct trace_ranks *)r)->n;
            continue;
        }
        if (r->kind != TRACE_WRITE) /* which may come between a call's record and its ranks */
            ranks_left = r->kind == TRACE_START || r->kind == TRACE_POST ? r->id : 0;
        last = spool_end_of(r);
        file->first = file->first ? file->first : r->time;
        file->last = last;
    }
    if (bytes % sizeof(struct trace_record) && file->n == n) {
        damaged++;
        say("%s: ends within a record at offset %zu", file->path,
            file->mapped - bytes % sizeof(struct trace_record));
    }
    if (damaged > SHOWN_MAX)
        say("%s: %" PRIu64 " damaged records in all", file->path, damaged);
    return damaged;
}
