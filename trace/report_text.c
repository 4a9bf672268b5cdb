/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report_text.c - the report for a terminal.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCENARIOS_SHOWN = 8,
    MATRIX_RANKS = 12,
    PAIRS_SHOWN = 20,
    WINDOWS_SHOWN = 20,
    CAUSES_SHOWN = 8,
    RANKS_SHOWN = 16,
    SITES_SHOWN = 20,
    REGIONS_SHOWN = 20,
    WAIT_SITES_SHOWN = 5,
    WIDTH = 96
};

/* 1234567 -> "1.235 ms". Four buffers in turn, so that one line may have several. */
static const char *duration(uint64_t ns)
{
    static char buffer[4][32];
    static unsigned next;
    char *text = buffer[next++ % 4];

    if (ns < 1000)
        snprintf(text, sizeof buffer[0], "%" PRIu64 " ns", ns);
    else if (ns < 1000000)
        snprintf(text, sizeof buffer[0], "%.2f us", (double)ns / 1e3);
    else if (ns < NS_PER_S)
        snprintf(text, sizeof buffer[0], "%.3f ms", (double)ns / 1e6);
    else
        snprintf(text, sizeof buffer[0], "%.3f s", (double)ns / 1e9);
    return text;
}

static const char *bytes(uint64_t n)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    static char buffer[4][32];
    static unsigned next;
    char *text = buffer[next++ % 4];
    double value = (double)n;
    unsigned i = 0;

    while (value >= 1024 && i < 4) {
        value /= 1024;
        i++;
    }
    snprintf(text, sizeof buffer[0], i ? "%.1f %s" : "%.0f %s", value, unit[i]);
    return text;
}

static void heading(FILE *out, const char *title)
{
    fprintf(out, "\n%s\n", title);
    for (size_t i = strlen(title); i > 0; i--)
        fputc('-', out);
    fputc('\n', out);
}

/* Words of a sentence, broken into lines that are indented. */
static void wrapped(FILE *out, const char *sentence, int indent)
{
    int column = indent;

    fprintf(out, "%*s", indent, "");
    while (*sentence) {
        size_t word = strcspn(sentence, " ");

        if (column > indent && column + (int)word + 1 > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(sentence, 1, word, out);
        column += (int)word;
        sentence += word + (sentence[word] == ' ');
    }
    fputc('\n', out);
}

/* What is between calls of RMA, where it is known. */
static void messages(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    const struct totals totals = report_totals(analysis);

    if (!trace->messages)
        return;
    fprintf(out, "  in other calls of MPI: %s, %.2f %% of the run, in which %s are waiting\n",
            duration(totals.other), report_percent(totals.other, analysis->run_ns),
            duration(totals.waits));
    fprintf(out,
            "  %zu messages with %s were sent, %zu received; %zu calls of collective operations\n",
            trace->nsendings, bytes(totals.sent), trace->nreceivings, trace->ntogethers);
}

static void overview(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    uint64_t rma = 0;

    for (uint32_t i = 0; i < trace->nranks; i++)
        rma += analysis->rma_ns[i];
    heading(out, "Overview");
    fprintf(out, "  %u ranks, %zu windows, %" PRIu64 " events, %zu operations, run of %s\n",
            trace->nranks, trace->nwindows, trace->events, trace->nops, duration(trace->length));
    fprintf(out,
            "  in calls of RMA: %s of all ranks together, %.2f %% of the run; outside: %.2f %%\n",
            duration(rma), report_percent(rma, analysis->run_ns),
            100.0 - report_percent(rma, analysis->run_ns));
    messages(analysis, out);
    if (analysis->writing_ns)
        fprintf(out, "  writing the trace: %s, part of the times below\n",
                duration(analysis->writing_ns));
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
    heading(out, "Functions");
    fprintf(out, "  %-28s %10s %12s %8s %12s %12s\n", "function", "calls", "time", "of run", "mean",
            "longest");
    for (unsigned i = 0; i < CALL_NAMES; i++) {
        const struct profile *call = &analysis->by_call[order[i]];

        if (call->calls)
            fprintf(out, "  %-28s %10" PRIu64 " %12s %6.2f %% %12s %12s\n",
                    analysis->trace->call_name[order[i]], call->calls, duration(call->ns),
                    report_percent(call->ns, analysis->run_ns), duration(call->ns / call->calls),
                    duration(call->longest));
    }
    free(order);
}

static void sites(const struct analysis *analysis, FILE *out)
{
    const struct by_site *by_site = &analysis->by_site;

    if (!report_has_sites(by_site))
        return;
    size_t *order = report_sites(by_site);
    heading(out, "Calls by their places in the program");
    fprintf(out, "  %10s %12s %8s %12s %12s  %s\n", "calls", "time", "of run", "mean", "longest",
            "call");
    for (size_t i = 0; i < by_site->n && i < SITES_SHOWN; i++) {
        const struct at_site *at = &by_site->at[order[i]];
        char *call = call_text(analysis->trace, at->call, at->site, false);

        fprintf(out, "  %10" PRIu64 " %12s %6.2f %% %12s %12s  %s\n", at->number, duration(at->ns),
                report_percent(at->ns, analysis->run_ns), duration(at->ns / at->number),
                duration(at->longest), call);
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
    fprintf(out, "  %-28s %10" PRIu64 " %12s %12s %12s ", name, sum->operations, bytes(sum->bytes),
            bytes(sum->bytes / sum->operations), duration(sum->model_ns / sum->operations));
    fprintf(out, "%12s\n", sum->arrived ? duration(sum->arrived_ns / sum->arrived) : "not known");
}

static void transfers(const struct analysis *analysis, FILE *out)
{
    static const char format[] = "  %-28s %10s %12s %12s %12s %12s\n";

    heading(out, "Operations");
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
    heading(out, "Windows");
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
                is_window ? trace->window[order[i]].nranks : 0, call->calls, duration(call->ns),
                report_percent(call->ns, analysis->run_ns), sum ? sum->operations : 0,
                bytes(sum ? sum->bytes : 0));
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
            fprintf(out, " %10s", row[to].operations ? bytes(row[to].bytes) : "");
        fputc('\n', out);
    }
}

static void matrix(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    size_t n = (size_t)trace->nranks * trace->nranks, pairs = 0;

    if (trace->nops == 0)
        return;
    heading(out, "Between ranks");
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
                analysis->matrix[order[i]].operations, bytes(analysis->matrix[order[i]].bytes));
    if (pairs > PAIRS_SHOWN)
        fprintf(out, "  ... and %zu more pairs (all of them in the JSON report)\n",
                pairs - PAIRS_SHOWN);
    free(order);
    free(volume);
}

static void worst(const struct analysis *analysis, const struct instance *instance, FILE *out)
{
    const struct trace *trace = analysis->trace;
    char *call = report_call_at(trace, instance->call, false);
    char *cause_call = report_call_at(trace, instance->cause_call, true);

    fprintf(out, "    worst: %s at %.6f s, rank %u", duration(instance->end - instance->begin),
            (double)instance->begin / 1e9, instance->rank);
    if (*call)
        fprintf(out, " in %s", call);
    if (instance->cause != NONE)
        fprintf(out, ", because of rank %u", instance->cause);
    if (*cause_call)
        fprintf(out, " (%s)", cause_call);
    if (instance->count)
        fprintf(out, ", %u of them", instance->count);
    if (instance->win != NONE)
        fprintf(out, ", %s", report_window(trace, instance->win));
    fputc('\n', out);
    free(call);
    free(cause_call);
}

/* The calls that waited, where there are several. */
static void by_call(const struct analysis *analysis, const struct finding *finding, FILE *out)
{
    const struct by_site *by_site = &finding->by_site;

    if (by_site->n < 2)
        return;
    size_t *order = report_sites(by_site);
    for (size_t i = 0; i < by_site->n && i < WAIT_SITES_SHOWN; i++) {
        const struct at_site *at = &by_site->at[order[i]];
        char *call = call_text(analysis->trace, at->call, at->site, false);

        fprintf(out, "    %12s in %s, %" PRIu64 " time%s\n", duration(at->ns), call, at->number,
                at->number == 1 ? "" : "s");
        free(call);
    }
    if (by_site->n > WAIT_SITES_SHOWN)
        fprintf(out, "    ... and %zu other places (all of them in the JSON report)\n",
                by_site->n - WAIT_SITES_SHOWN);
    free(order);
}

static void one_pattern(const struct analysis *analysis, unsigned i, FILE *out)
{
    const struct pattern_info *info = &pattern_info[i];
    const struct finding *finding = &analysis->found[i];

    if (finding->of)
        fprintf(out, "\n  %s: %" PRIu64 " of %" PRIu64 " (%.1f %%)\n", info->name, finding->number,
                finding->of, report_percent(finding->number, finding->of));
    else
        fprintf(out, "\n  %s: %s, %.2f %% of the run, %" PRIu64 " times%s%s\n", info->name,
                duration(finding->total), report_percent(finding->total, analysis->run_ns),
                finding->number, info->part_of >= 0 ? "; within " : "",
                info->part_of >= 0 ? pattern_info[info->part_of].name : "");
    fprintf(out, "    %s\n", info->meaning);
    by_call(analysis, finding, out);
    if (finding->total)
        worst(analysis, &finding->worst, out);
    wrapped(out, info->advice, 4);
}

static void patterns(const struct analysis *analysis, FILE *out)
{
    uint64_t total[PATTERNS];
    const char *separator = "\n  not found:";

    for (unsigned i = 0; i < PATTERNS; i++)
        total[i] = analysis->found[i].total;
    size_t *order = report_order(total, PATTERNS);
    heading(out, "Wait states and other findings");
    for (unsigned i = 0; i < PATTERNS; i++)
        if (analysis->found[order[i]].number)
            one_pattern(analysis, (unsigned)order[i], out);
    for (unsigned i = 0; i < PATTERNS; i++)
        if (!analysis->found[i].number && can_be_seen(analysis, i)) {
            fprintf(out, "%s %s", separator, pattern_info[i].name);
            separator = ",";
        }
    separator = "\n  not recorded in this archive:";
    for (unsigned i = 0; i < PATTERNS; i++)
        if (!can_be_seen(analysis, i)) {
            fprintf(out, "%s %s", separator, pattern_info[i].name);
            separator = ",";
        }
    fputc('\n', out);
    free(order);
}

static void one_cause(const struct causes *causes, const struct cause *cause, FILE *out)
{
    char *what = timeline_kind_text(&causes->line, cause->kind);

    fprintf(out, "\n  rank %u, %s: %s, %.1f %% of the waiting, %" PRIu64 " time%s\n", cause->rank,
            what, duration((uint64_t)cause_cost(cause)),
            report_percent((uint64_t)cause_cost(cause), causes->waiting), cause->number,
            cause->number == 1 ? "" : "s");
    fprintf(out, "    %s of it in ranks that wait for rank %u, %s in ranks that wait for those\n",
            duration((uint64_t)cause->direct), cause->rank, duration((uint64_t)cause->passed_on));
    fprintf(out, "    worst: %s at %.6f s, in which it takes %s\n",
            duration((uint64_t)cause->worst), (double)cause->begin / 1e9,
            duration(cause->end - cause->begin));
    free(what);
}

/* Those that make others wait longest, and how evenly all compute. */
static void shares(const struct analysis *analysis, const struct causes *causes, FILE *out)
{
    const uint32_t n = analysis->trace->nranks;
    uint64_t *costs = zalloc(n, sizeof *costs), sum = 0, most = 0;

    for (uint32_t r = 0; r < n; r++) {
        costs[r] = (uint64_t)causes->rank[r].costs;
        sum += causes->rank[r].computes;
        most = u64_max(most, causes->rank[r].computes);
    }
    size_t *order = report_order(costs, n);
    fprintf(out, "\n  %6s %12s %12s %12s %12s %18s\n", "rank", "computes", "in RMA", "in other MPI",
            "waits", "makes others wait");
    for (uint32_t i = 0; i < n && i < RANKS_SHOWN; i++) {
        const struct share_of_rank *rank = &causes->rank[order[i]];

        fprintf(out, "  %6zu %12s %12s %12s %12s %18s\n", order[i], duration(rank->computes),
                duration(analysis->rma_ns[order[i]]),
                analysis->trace->messages ? duration(analysis->other_ns[order[i]]) : "not known",
                duration(rank->waits), duration(costs[order[i]]));
    }
    if (n > RANKS_SHOWN)
        fprintf(out, "  ... and %u more (all of them in the JSON report)\n", n - RANKS_SHOWN);
    if (sum > 0)
        fprintf(out, "  the rank that computes longest takes %.2f times the mean\n",
                (double)most * n / (double)sum);
    free(order);
    free(costs);
}

static void why(const struct analysis *analysis, const struct causes *causes, FILE *out)
{
    heading(out, "Causes of waiting");
    fprintf(out, "  %s of waiting, of all ranks together; no cause is known of %s\n",
            duration(causes->waiting), duration((uint64_t)causes->unknown));
    for (size_t i = 0; i < causes->n && i < CAUSES_SHOWN; i++)
        one_cause(causes, &causes->cause[i], out);
    if (causes->n > CAUSES_SHOWN)
        fprintf(out, "\n  ... and %zu smaller ones (all of them in the JSON report)\n",
                causes->n - CAUSES_SHOWN);
    shares(analysis, causes, out);
}

static void region_line(FILE *out, const char *name, const struct share_of_region *region,
                        const char *visits, const char *time)
{
    fprintf(out, "  %8s %12s %12s %12s %12s %12s  %s\n", visits, time, duration(region->computes),
            duration(region->calls), duration(region->waits), duration((uint64_t)region->costs),
            name);
}

static void regions(const struct analysis *analysis, const struct causes *causes, FILE *out)
{
    const struct trace *trace = analysis->trace;
    uint64_t *time = zalloc(trace->nregions, sizeof *time);

    if (trace->nvisits == 0) {
        free(time);
        return;
    }
    for (size_t i = 0; i < trace->nregions; i++)
        time[i] = causes->region[i].time;
    size_t *order = report_order(time, trace->nregions);
    heading(out, "Regions of the program");
    wrapped(out, "time: from begin to end; all else: what is in the region and in none inside it",
            2);
    fprintf(out, "  %8s %12s %12s %12s %12s %12s  %s\n", "visits", "time", "computes", "in calls",
            "waits", "costs others", "region");
    for (size_t i = 0; i < trace->nregions && i < REGIONS_SHOWN; i++) {
        const struct share_of_region *region = &causes->region[order[i]];
        char *visits = text("%" PRIu64, region->visits);

        if (region->visits)
            region_line(out, trace->region[order[i]], region, visits, duration(region->time));
        free(visits);
    }
    region_line(out, "(outside of all)", &causes->region[trace->nregions], "", "");
    if (trace->nregions > REGIONS_SHOWN)
        fprintf(out, "  ... and %zu more (all of them in the JSON report)\n",
                trace->nregions - REGIONS_SHOWN);
    free(order);
    free(time);
}

static void one_scenario(const struct whatif *whatif, size_t i, FILE *out)
{
    const struct scenario *scenario = &whatif->scenario[i];
    char *line = text("%zu. saves %s, %.1f %% of the run: %s, %" PRIu64 " time%s", i + 1,
                      duration(scenario->saves), report_percent(scenario->saves, whatif->measured),
                      scenario->what, scenario->number, scenario->number == 1 ? "" : "s");

    wrapped(out, line, 2);
    wrapped(out, scenario->assumes, 5);
    fputc('\n', out);
    free(line);
}

static void what_if(const struct whatif *whatif, FILE *out)
{
    heading(out, "What would save time");
    for (size_t i = 0; i < whatif->n && i < SCENARIOS_SHOWN; i++)
        one_scenario(whatif, i, out);
    if (whatif->n > SCENARIOS_SHOWN)
        fprintf(out, "  ... and %zu more (all of them in the JSON report)\n",
                whatif->n - SCENARIOS_SHOWN);
    if (whatif->n == 0 && !whatif->why_not)
        fprintf(out, "  no change that was tried saves %s or more\n", duration(whatif->noise));
    if (whatif->why_not) {
        char *line = text("no estimate is made: %s", whatif->why_not);

        wrapped(out, line, 2);
        free(line);
    }
    if (whatif->replayed)
        fprintf(out, "  up to the last call the run takes %s, and replayed as it was %s\n",
                duration(whatif->measured), duration(whatif->replayed));
    if (whatif->n > 0)
        fprintf(out, "  each gain is of that change alone: they do not add up\n");
}

void report_text(const struct findings *findings, FILE *out)
{
    const struct analysis *analysis = findings->analysis;

    what_if(findings->whatif, out);
    overview(analysis, out);
    report_conflicts_text(analysis, out);
    why(analysis, findings->causes, out);
    regions(analysis, findings->causes, out);
    functions(analysis, out);
    sites(analysis, out);
    transfers(analysis, out);
    windows(analysis, out);
    matrix(analysis, out);
    patterns(analysis, out);
}
