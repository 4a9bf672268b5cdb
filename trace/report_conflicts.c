/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report_conflicts.c - conflicting accesses, for a terminal and for programs.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../tools/json.h"

enum { CONFLICTS_SHOWN = 30 };

/* The window of the one of the two that is an access by RMA; NONE: both are to buffers. */
static uint32_t window_of(const struct trace *trace, const struct conflict *conflict)
{
    for (int i = 1; i >= 0; i--)
        if (conflict->side[i].kind >= TOUCH_GET)
            return trace->op[conflict->side[i].op].win;
    return NONE;
}

static char *bytes_text(const struct trace *trace, const struct conflict *conflict)
{
    const uint32_t win = window_of(trace, conflict);
    uint64_t begin = conflict->begin;

    if (win == NONE || !conflict_place(trace, conflict, win, &begin))
        return text("bytes 0x%" PRIx64 " to 0x%" PRIx64 " of the memory of rank %u", begin,
                    begin + conflict->length - 1, conflict->rank);
    return text("bytes %" PRIu64 " to %" PRIu64 " of rank %u", begin, begin + conflict->length - 1,
                conflict->rank);
}

static void text_side(const struct trace *trace, const struct conflict_side *side, FILE *out)
{
    const struct operation *op = &trace->op[side->op];
    char *what = conflict_access_text(trace, side);
    char *opening = report_call_at(trace, side->opening, true);
    char *closing = report_call_at(trace, side->closing, true);

    fprintf(out, "    rank %u at %.6f s: %s\n", op->rank, (double)op->issue / 1e9, what);
    fprintf(out, "      in the epoch of %s, complete in %s\n", *opening ? opening : "no known call",
            *closing ? closing : "no recorded call");
    free(what);
    free(opening);
    free(closing);
}

static void text_conflict(const struct trace *trace, const struct conflict *conflict, FILE *out)
{
    const uint32_t win = window_of(trace, conflict);
    char *where = bytes_text(trace, conflict);

    fprintf(out, "\n  %s", where);
    if (win != NONE)
        fprintf(out, ", %s", report_window(trace, win));
    fprintf(out, ", %" PRIu64 " time%s\n", conflict->number, conflict->number == 1 ? "" : "s");
    text_side(trace, &conflict->side[0], out);
    text_side(trace, &conflict->side[1], out);
    free(where);
}

void report_conflicts_text(const struct analysis *analysis, FILE *out)
{
    const struct conflicts *conflicts = &analysis->conflicts;

    if (!conflicts->recorded)
        return;
    fputs("\nConflicting accesses\n--------------------\n", out);
    if (conflicts->n == 0)
        fputs("  none was found\n", out);
    else
        fprintf(out, "  %zu pair%s of calls access the same bytes, and nothing orders them:\n",
                conflicts->n, conflicts->n == 1 ? "" : "s");
    for (size_t i = 0; i < conflicts->n && i < CONFLICTS_SHOWN; i++)
        text_conflict(analysis->trace, &conflicts->conflict[i], out);
    if (conflicts->n > CONFLICTS_SHOWN)
        fprintf(out, "\n  ... and %zu more (all of them in the JSON report)\n",
                conflicts->n - CONFLICTS_SHOWN);
    if (conflicts->skipped)
        fprintf(out, "  not looked at: %" PRIu64 " accesses by datatypes in very many pieces\n",
                conflicts->skipped);
}

static void json_call(const struct trace *trace, const char *name, const char *site_name,
                      uint32_t index, FILE *out)
{
    const struct call *call = index < trace->ncalls ? &trace->call[index] : NULL;

    fprintf(out, ", \"%s\": ", name);
    if (call)
        json_text(out, trace->call_name[call->call]);
    else
        fputs("null", out);
    report_json_site(trace, site_name, call ? call->site : NONE, out);
}

static void json_side(const struct trace *trace, const struct conflict_side *side, FILE *out)
{
    static const char *const kind[] = {"load", "store", "get", "put", "atomic"};
    const struct operation *op = &trace->op[side->op];

    fprintf(out, "{\"rank\": %u, \"access\": \"%s\", \"operation\": ", op->rank, kind[side->kind]);
    json_text(out, side->kind == TOUCH_ATOMIC ? mpi_op_name[side->acc_op] : "");
    fputs(", \"window\": ", out);
    json_text(out, report_window(trace, op->win));
    fprintf(out, ", \"time\": %" PRIu64, op->issue);
    json_call(trace, "call", "site", op->call, out);
    json_call(trace, "epoch", "epoch_site", side->opening, out);
    json_call(trace, "end", "end_site", side->closing, out);
    fputs("}", out);
}

static void json_conflict(const struct trace *trace, const struct conflict *conflict, FILE *out)
{
    const uint32_t win = window_of(trace, conflict);
    uint64_t displacement;

    fprintf(out, "{\"number\": %" PRIu64 ", \"rank\": %u, \"window\": ", conflict->number,
            conflict->rank);
    if (win == NONE)
        fputs("null", out);
    else
        json_text(out, report_window(trace, win));
    fprintf(out, ", \"address\": %" PRIu64 ", \"displacement\": ", conflict->begin);
    if (win != NONE && conflict_place(trace, conflict, win, &displacement))
        fprintf(out, "%" PRIu64, displacement);
    else
        fputs("null", out);
    fprintf(out, ", \"bytes\": %" PRIu64 ", \"first\": ", conflict->length);
    json_side(trace, &conflict->side[0], out);
    fputs(", \"second\": ", out);
    json_side(trace, &conflict->side[1], out);
    fputs("}", out);
}

void report_conflicts_json(const struct analysis *analysis, FILE *out)
{
    const struct conflicts *conflicts = &analysis->conflicts;

    fputs(",\n  \"conflicts\": ", out);
    if (!conflicts->recorded) { /* it is not known whether there are any */
        fputs("null", out);
        return;
    }
    fputs("{\"found\": [", out);
    for (size_t i = 0; i < conflicts->n; i++) {
        fputs(i ? ",\n    " : "\n    ", out);
        json_conflict(analysis->trace, &conflicts->conflict[i], out);
    }
    fprintf(out, "], \"skipped\": %" PRIu64 "}", conflicts->skipped);
}
