/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report_profile.c - writes what is counted into the report for a terminal: the run as a whole,
 * time by function and by place, operations by kind, path, window and pair of ranks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "text_form.h"

enum { MATRIX_RANKS = 12, PAIRS_SHOWN = 20, WINDOWS_SHOWN = 20, SITES_SHOWN = 20 };

/* What is between calls of RMA, where it is known. */
static void messages(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    const struct totals totals = report_totals(analysis);

    if (!trace->messages)
        return;
    fprintf(out, "  in other calls of MPI: %s, %.2f %% of the run, in which %s are waiting\n",
            text_duration(totals.other).text, report_percent(totals.other, analysis->run_ns),
            text_duration(totals.waits).text);
    fprintf(out,
            "  %zu messages with %s were sent, %zu received; %zu calls of collective operations\n",
            trace->nsendings, text_bytes(totals.sent).text, trace->nreceivings, trace->ntogethers);
}

void report_overview_text(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    uint64_t rma = 0;

    for (uint32_t i = 0; i < trace->nranks; i++)
        rma += analysis->rma_ns[i];
    text_heading(out, "Overview");
    fprintf(out, "  %u ranks, %zu window%s, %" PRIu64 " events, %zu operations, run of %s\n",
            trace->nranks, trace->nwindows, trace->nwindows == 1 ? "" : "s", trace->events,
            trace->nops, text_duration(trace->length).text);
    fprintf(out,
            "  in calls of RMA: %s of all ranks together, %.2f %% of the run; outside: %.2f %%\n",
            text_duration(rma).text, report_percent(rma, analysis->run_ns),
            100.0 - report_percent(rma, analysis->run_ns));
    messages(analysis, out);
    if (analysis->writing_ns)
        fprintf(out, "  writing the trace: %s, part of the times below\n",
                text_duration(analysis->writing_ns).text);
    fprintf(out, "  transfers end by the %s model%s\n", report_model(analysis->model),
            analysis->model == MODEL_BASIC ? ": where the issuing call returns"
                                           : ": where the standard completes them");
    for (const char *line = trace->description ? trace->description : ""; *line;) {
        size_t n = strcspn(line, "\n");

        fprintf(out, "  note of the archive: %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    for (size_t i = 0; i < trace->notes.n; i++)
        fprintf(out, "  note: %s\n", trace->notes.note[i].text);
    if (!trace->ours)
        fprintf(out,
                "  written by %s: what a target does inside, and when data arrive, is not in "
                "it\n",
                trace->creator ? trace->creator : "another tool");
}

static void functions(const struct analysis *analysis, FILE *out)
{
    uint64_t ns[CALL_NAMES];

    for (unsigned i = 0; i < CALL_NAMES; i++)
        ns[i] = analysis->by_call[i].ns;
    size_t *order = report_order(ns, CALL_NAMES);
    text_heading(out, "Functions");
    fprintf(out, "  %-28s %10s %12s %8s %12s %12s\n", "function", "calls", "time", "of run", "mean",
            "longest");
    for (unsigned i = 0; i < CALL_NAMES; i++) {
        const struct profile *call = &analysis->by_call[order[i]];

        if (call->calls)
            fprintf(out, "  %-28s %10" PRIu64 " %12s %6.2f %% %12s %12s\n",
                    analysis->trace->call_name[order[i]], call->calls, text_duration(call->ns).text,
                    report_percent(call->ns, analysis->run_ns),
                    text_duration(call->ns / call->calls).text, text_duration(call->longest).text);
    }
    free(order);
}

static void sites(const struct analysis *analysis, FILE *out)
{
    const struct by_site *by_site = &analysis->by_site;

    if (!report_has_sites(by_site))
        return;
    size_t *order = report_sites(by_site);
    text_heading(out, "Calls by their places in the program");
    fprintf(out, "  %10s %12s %8s %12s %12s  %s\n", "calls", "time", "of run", "mean", "longest",
            "call");
    for (size_t i = 0; i < by_site->n && i < SITES_SHOWN; i++) {
        const struct at_site *at = &by_site->at[order[i]];
        char *call = call_text(analysis->trace, at->call, at->site, false);

        fprintf(out, "  %10" PRIu64 " %12s %6.2f %% %12s %12s  %s\n", at->number,
                text_duration(at->ns).text, report_percent(at->ns, analysis->run_ns),
                text_duration(at->ns / at->number).text, text_duration(at->longest).text, call);
        free(call);
    }
    if (by_site->n > SITES_SHOWN)
        fprintf(out, "  ... and %zu more (all of them in the JSON report)\n",
                by_site->n - SITES_SHOWN);
    free(order);
}

static void transfer_line(FILE *out, const char *name, const struct transfers *sum)
{
    if (sum->operations == 0)
        return;
    fprintf(out, "  %-28s %10" PRIu64 " %12s %12s %12s ", name, sum->operations,
            text_bytes(sum->bytes).text, text_bytes(sum->bytes / sum->operations).text,
            text_duration(sum->model_ns / sum->operations).text);
    fprintf(out, "%12s\n",
            sum->arrived ? text_duration(sum->arrived_ns / sum->arrived).text : "not known");
}

static void transfers(const struct analysis *analysis, FILE *out)
{
    static const char format[] = "  %-28s %10s %12s %12s %12s %12s\n";

    text_heading(out, "Operations");
    fprintf(out, format, "operation", "number", "data", "mean size", "to its end", "to arrival");
    for (unsigned i = 1; i <= TRACE_COMPARE_AND_SWAP; i++)
        transfer_line(out, op_name[i], &analysis->by_op[i]);
    fprintf(out, format, "path", "", "", "", "", "");
    for (unsigned i = 0; i < PATHS; i++)
        transfer_line(out, path_name[i], &analysis->by_path[i]);
}

static void windows(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    uint64_t *ns = zalloc(trace->nwindows + 1, sizeof *ns);

    for (size_t i = 0; i <= trace->nwindows; i++)
        ns[i] = analysis->call_by_window[i].ns;
    size_t *order = report_order(ns, trace->nwindows + 1);
    text_heading(out, "Windows");
    fprintf(out, "  %-28s %6s %10s %12s %8s %10s %12s\n", "window", "ranks", "calls", "time",
            "of run", "operations", "data");
    for (size_t i = 0; i <= trace->nwindows && i < WINDOWS_SHOWN; i++) {
        const struct profile *call = &analysis->call_by_window[order[i]];
        bool is_window = order[i] < trace->nwindows;
        const struct transfers *sum = is_window ? &analysis->by_window[order[i]] : NULL;

        if (!is_window && call->calls == 0)
            continue;
        fprintf(out, "  %-28s %6u %10" PRIu64 " %12s %6.2f %% %10" PRIu64 " %12s\n",
                report_window(trace, (uint32_t)order[i]),
                is_window ? trace->window[order[i]].nranks : 0, call->calls,
                text_duration(call->ns).text, report_percent(call->ns, analysis->run_ns),
                sum ? sum->operations : 0, text_bytes(sum ? sum->bytes : 0).text);
    }
    if (trace->nwindows > WINDOWS_SHOWN)
        fprintf(out, "  ... and %zu more\n", trace->nwindows - WINDOWS_SHOWN);
    free(order);
    free(ns);
}

static void whole_matrix(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;

    fprintf(out, "  operations and data, from (row) to (column)\n  %6s", "");
    for (uint32_t to = 0; to < trace->nranks; to++)
        fprintf(out, " %10u", to);
    fputc('\n', out);
    for (uint32_t from = 0; from < trace->nranks; from++) {
        const struct transfers *row = &analysis->matrix[(size_t)from * trace->nranks];

        fprintf(out, "  %6u", from);
        for (uint32_t to = 0; to < trace->nranks; to++)
            fprintf(out, " %10" PRIu64, row[to].operations);
        fprintf(out, "\n  %6s", "");
        for (uint32_t to = 0; to < trace->nranks; to++)
            fprintf(out, " %10s", row[to].operations ? text_bytes(row[to].bytes).text : "");
        fputc('\n', out);
    }
}

static void matrix(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    size_t n = (size_t)trace->nranks * trace->nranks, pairs = 0;

    if (trace->nops == 0)
        return;
    text_heading(out, "Between ranks");
    if (trace->nranks <= MATRIX_RANKS) {
        whole_matrix(analysis, out);
        return;
    }
    uint64_t *volume = zalloc(n, sizeof *volume);
    for (size_t i = 0; i < n; i++) {
        volume[i] = analysis->matrix[i].bytes + analysis->matrix[i].operations;
        pairs += volume[i] > 0;
    }
    size_t *order = report_order(volume, n);
    for (size_t i = 0; i < pairs && i < PAIRS_SHOWN; i++)
        fprintf(out, "  from %6zu to %6zu: %10" PRIu64 " operations, %12s\n",
                order[i] / trace->nranks, order[i] % trace->nranks,
                analysis->matrix[order[i]].operations,
                text_bytes(analysis->matrix[order[i]].bytes).text);
    if (pairs > PAIRS_SHOWN)
        fprintf(out, "  ... and %zu more pairs (all of them in the JSON report)\n",
                pairs - PAIRS_SHOWN);
    free(order);
    free(volume);
}

void report_profile_text(const struct analysis *analysis, FILE *out)
{
    functions(analysis, out);
    sites(analysis, out);
    transfers(analysis, out);
    windows(analysis, out);
    matrix(analysis, out);
}
