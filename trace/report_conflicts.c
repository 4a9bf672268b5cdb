/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report_conflicts.c - writes conflicting accesses into each form of the report: for a terminal,
 * for programs, and for the page.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../tools/json.h"

enum { CONFLICTS_SHOWN = 30, ON_PAGE = 1000 };

/* The window of the one of the two that is an access by RMA; NONE: both are to buffers. */
static uint32_t window_of(const struct conflict *conflict)
{
    for (int i = 1; i >= 0; i--)
        if (conflict->side[i].kind >= TOUCH_GET)
            return conflict->side[i].win;
    return NONE;
}

static char *bytes_text(const struct trace *trace, const struct conflict *conflict)
{
    const uint32_t win = window_of(conflict);
    uint64_t begin = conflict->begin;

    if (win == NONE || !conflict_place(trace, conflict, win, &begin))
        return text("bytes 0x%" PRIx64 " to 0x%" PRIx64 " of the memory of rank %u", begin,
                    begin + conflict->length - 1, conflict->rank);
    return text("bytes %" PRIu64 " to %" PRIu64 " of rank %u", begin, begin + conflict->length - 1,
                conflict->rank);
}

static void text_side(const struct trace *trace, const struct conflict_side *side, FILE *out)
{
    char *what = conflict_access_text(trace, side);
    char *opening = report_call_at(trace, side->opening, true);
    char *closing = report_call_at(trace, side->closing, true);

    fprintf(out, "    rank %u at %.6f s: %s\n      ", side->rank, (double)side->time / 1e9, what);
    if (!side->is_message)
        fprintf(out, "in the epoch of %s, ", *opening ? opening : "no known call");
    fprintf(out, "complete in %s\n", *closing ? closing : "no recorded call");
    free(what);
    free(opening);
    free(closing);
}

static void text_conflict(const struct trace *trace, const struct conflict *conflict, FILE *out)
{
    const uint32_t win = window_of(conflict);
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

static void json_window(const struct trace *trace, uint32_t win, FILE *out)
{
    if (win == NONE)
        fputs("null", out);
    else
        json_text(out, report_window(trace, win));
}

static void json_side(const struct trace *trace, const struct conflict_side *side, FILE *out)
{
    static const char *const kind[] = {"load", "store", "get", "put", "atomic"};

    fprintf(out, "{\"rank\": %u, \"access\": \"%s\", \"operation\": ", side->rank,
            kind[side->kind]);
    json_text(out, side->kind == TOUCH_ATOMIC ? mpi_op_name[side->acc_op] : "");
    fputs(", \"window\": ", out);
    json_window(trace, side->win, out);
    fprintf(out, ", \"time\": %" PRIu64, side->time);
    json_call(trace, "call", "site", side->call, out);
    json_call(trace, "epoch", "epoch_site", side->opening, out);
    json_call(trace, "end", "end_site", side->closing, out);
    fputs("}", out);
}

static void json_conflict(const struct trace *trace, const struct conflict *conflict, FILE *out)
{
    const uint32_t win = window_of(conflict);
    uint64_t displacement;

    fprintf(out, "{\"number\": %" PRIu64 ", \"rank\": %u, \"window\": ", conflict->number,
            conflict->rank);
    json_window(trace, win, out);
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

static char *side_text(const struct trace *trace, const struct conflict_side *side)
{
    char *what = conflict_access_text(trace, side);
    char *opening = report_call_at(trace, side->opening, true);
    char *closing = report_call_at(trace, side->closing, true);
    char *epoch = side->is_message
                      ? text("%s", "")
                      : text(", in the epoch of %s", *opening ? opening : "no known call");
    char *all = text("rank %u: %s%s, complete in %s", side->rank, what, epoch,
                     *closing ? closing : "no recorded call");

    free(what);
    free(opening);
    free(closing);
    free(epoch);
    return all;
}

/* [where, window, number, the two accesses, begin of the earlier, time between them]. */
static void page_conflict(const struct trace *trace, const struct conflict *conflict, FILE *out)
{
    const uint32_t win = window_of(conflict);
    const uint64_t a = conflict->side[0].time, b = conflict->side[1].time;
    char *where = bytes_text(trace, conflict);

    fputs("[", out);
    json_text(out, where);
    fputs(", ", out);
    json_text(out, win == NONE ? "" : report_window(trace, win));
    fprintf(out, ", %" PRIu64, conflict->number);
    for (int i = 0; i < 2; i++) {
        char *side = side_text(trace, &conflict->side[i]);

        fputs(", ", out);
        json_text(out, side);
        free(side);
    }
    fprintf(out, ", %" PRIu64 ", %" PRIu64 "]", u64_min(a, b), u64_max(a, b) - u64_min(a, b));
    free(where);
}

void report_conflicts_html(const struct analysis *analysis, FILE *out)
{
    const struct conflicts *conflicts = &analysis->conflicts;

    fputs(",\n\"conflicts\": ", out);
    if (!conflicts->recorded) {
        fputs("null", out);
        return;
    }
    fprintf(out, "{\"all\": %zu, \"skipped\": %" PRIu64 ", \"found\": [", conflicts->n,
            conflicts->skipped);
    for (size_t i = 0; i < conflicts->n && i < ON_PAGE; i++) {
        fputs(i ? ",\n" : "\n", out);
        page_conflict(analysis->trace, &conflicts->conflict[i], out);
    }
    fputs("]}", out);
}
