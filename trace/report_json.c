/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report_json.c - the report for programs: one JSON object, times in nanoseconds.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../tools/json.h"

static void number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "\"%s\": %" PRIu64, name, value);
}

/* A rank or a window; null where there is none. */
static void index_or_null(FILE *out, const char *name, uint32_t value)
{
    if (value == NONE)
        fprintf(out, ", \"%s\": null", name);
    else
        fprintf(out, ", \"%s\": %u", name, value);
}

static void json_transfers(FILE *out, const struct transfers *sum)
{
    number(out, "operations", sum->operations);
    fputs(", ", out);
    number(out, "bytes", sum->bytes);
    fputs(", ", out);
    number(out, "model_ns", sum->model_ns);
    fputs(", ", out);
    number(out, "arrived", sum->arrived);
    fputs(", ", out);
    number(out, "arrived_ns", sum->arrived_ns);
}

/* ", "NAME": null", or an object with what is known of the place. */
void report_json_site(const struct trace *trace, const char *name, uint32_t site, FILE *out)
{
    fprintf(out, ", \"%s\": ", name);
    if (site >= trace->nsites) {
        fputs("null", out);
        return;
    }
    const struct site *at = &trace->site[site];
    fputs("{\"file\": ", out);
    json_text(out, at->file);
    if (at->line)
        fprintf(out, ", \"line\": %u", at->line);
    else
        fputs(", \"line\": null", out);
    fputs(", \"function\": ", out);
    if (at->function)
        json_text(out, at->function);
    else
        fputs("null", out);
    fputs("}", out);
}

static void json_by_site(const struct trace *trace, const struct by_site *by_site, FILE *out)
{
    size_t *order = report_sites(by_site);

    fputs("[", out);
    for (size_t i = 0; i < by_site->n; i++) {
        const struct at_site *at = &by_site->at[order[i]];

        fprintf(out, "%s\n      {\"call\": \"%s\"", i ? "," : "", trace->call_name[at->call]);
        report_json_site(trace, "site", at->site, out);
        fputs(", ", out);
        number(out, "number", at->number);
        fputs(", ", out);
        number(out, "ns", at->ns);
        fputs(", ", out);
        number(out, "longest", at->longest);
        fputs("}", out);
    }
    fputs("]", out);
    free(order);
}

static uint32_t site_of(const struct trace *trace, uint32_t call)
{
    return call < trace->ncalls ? trace->call[call].site : NONE;
}

static void json_instance(const struct analysis *analysis, const struct instance *instance,
                          FILE *out)
{
    const struct trace *trace = analysis->trace;

    fputs("{", out);
    number(out, "begin", instance->begin);
    fputs(", ", out);
    number(out, "end", instance->end);
    index_or_null(out, "rank", instance->rank);
    index_or_null(out, "cause", instance->cause);
    index_or_null(out, "window", instance->win);
    fputs(", \"call\": ", out);
    json_text(out, report_call(trace, instance->call));
    fputs(", \"cause_call\": ", out);
    json_text(out, report_call(trace, instance->cause_call));
    report_json_site(trace, "site", site_of(trace, instance->call), out);
    report_json_site(trace, "cause_site", site_of(trace, instance->cause_call), out);
    fprintf(out, ", \"count\": %u}", instance->count);
}

static void json_pattern(const struct analysis *analysis, unsigned i, FILE *out)
{
    const struct pattern_info *info = &pattern_info[i];
    const struct finding *finding = &analysis->found[i];

    fprintf(out, "%s\n    \"%s\": {\"name\": ", i ? "," : "", info->key);
    json_text(out, info->name);
    fprintf(out, ", \"part_of\": ");
    if (info->part_of >= 0)
        json_text(out, pattern_info[info->part_of].key);
    else
        fputs("null", out);
    fprintf(out, ", \"waits\": %s, \"visible\": %s, ", info->waits ? "true" : "false",
            can_be_seen(analysis, i) ? "true" : "false");
    number(out, "total", finding->total);
    fprintf(out, ", \"percent\": %.4f, ", report_percent(finding->total, analysis->run_ns));
    number(out, "number", finding->number);
    fputs(", ", out);
    number(out, "of", finding->of);
    fputs(", \"by_call\": {", out);
    const char *separator = "";
    for (unsigned c = 1; c < CALL_NAMES; c++)
        if (finding->by_call[c]) {
            fputs(separator, out);
            number(out, analysis->trace->call_name[c], finding->by_call[c]);
            separator = ", ";
        }
    fputs("}, \"by_site\": ", out);
    json_by_site(analysis->trace, &finding->by_site, out);
    fputs(", \"by_rank\": [", out);
    for (uint32_t r = 0; r < analysis->trace->nranks; r++)
        fprintf(out, "%s%" PRIu64, r ? ", " : "", finding->by_rank[r]);
    fputs("], \"worst\": ", out);
    if (finding->total)
        json_instance(analysis, &finding->worst, out);
    else
        fputs("null", out);
    fputs(", \"advice\": ", out);
    json_text(out, info->advice);
    fputs("}", out);
}

static void json_functions(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    const char *separator = "";

    fputs(",\n  \"functions\": {", out);
    for (unsigned i = 1; i < CALL_NAMES; i++) {
        const struct profile *call = &analysis->by_call[i];

        if (call->calls == 0)
            continue;
        fprintf(out, "%s\n    \"%s\": {", separator, trace->call_name[i]);
        number(out, "calls", call->calls);
        fputs(", ", out);
        number(out, "ns", call->ns);
        fputs(", ", out);
        number(out, "longest", call->longest);
        fputs("}", out);
        separator = ",";
    }
    fputs("}", out);
}

static void json_named(FILE *out, const char *title, const char *const *name,
                       const struct transfers *sum, unsigned n)
{
    const char *separator = "";

    fprintf(out, ",\n  \"%s\": {", title);
    for (unsigned i = 0; i < n; i++) {
        if (sum[i].operations == 0)
            continue;
        fprintf(out, "%s\n    \"%s\": {", separator, name[i]);
        json_transfers(out, &sum[i]);
        fputs("}", out);
        separator = ",";
    }
    fputs("}", out);
}

static void json_windows(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;

    fputs(",\n  \"windows\": [", out);
    for (size_t i = 0; i < trace->nwindows; i++) {
        fprintf(out, "%s\n    {\"name\": ", i ? "," : "");
        json_text(out, trace->window[i].name);
        fprintf(out, ", \"ranks\": %u, ", trace->window[i].nranks);
        number(out, "calls", analysis->call_by_window[i].calls);
        fputs(", ", out);
        number(out, "ns", analysis->call_by_window[i].ns);
        fputs(", ", out);
        json_transfers(out, &analysis->by_window[i]);
        fputs("}", out);
    }
    fputs("]", out);
}

static void json_matrix(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    const char *separator = "";

    fputs(",\n  \"pairs\": [", out);
    for (uint32_t from = 0; from < trace->nranks; from++)
        for (uint32_t to = 0; to < trace->nranks; to++) {
            const struct transfers *sum = &analysis->matrix[(size_t)from * trace->nranks + to];

            if (sum->operations == 0)
                continue;
            fprintf(out, "%s\n    {\"from\": %u, \"to\": %u, ", separator, from, to);
            json_transfers(out, sum);
            fputs("}", out);
            separator = ",";
        }
    fputs("],\n  \"rma_ns\": [", out);
    for (uint32_t i = 0; i < trace->nranks; i++)
        fprintf(out, "%s%" PRIu64, i ? ", " : "", analysis->rma_ns[i]);
    fputs("]", out);
}

/* A call beside an activity, and its site; both null where there is none. */
static void json_beside(const struct trace *trace, const char *name, const char *site,
                        uint32_t call, FILE *out)
{
    fprintf(out, ", \"%s\": ", name);
    if (call < trace->ncalls)
        json_text(out, report_call(trace, call));
    else
        fputs("null", out);
    report_json_site(trace, site, site_of(trace, call), out);
}

static void json_cause(const struct causes *causes, size_t i, FILE *out)
{
    const struct cause *cause = &causes->cause[i];
    char *what = timeline_kind_text(&causes->line, cause->kind);

    fprintf(out, "%s\n    {\"rank\": %u, \"what\": ", i ? "," : "", cause->rank);
    json_text(out, what);
    json_beside(causes->line.trace, "after", "after_site", causes->line.kind[cause->kind].after,
                out);
    json_beside(causes->line.trace, "before", "before_site", causes->line.kind[cause->kind].before,
                out);
    const uint32_t region = causes->line.kind[cause->kind].region;
    fputs(", \"region\": ", out);
    if (region == NONE)
        fputs("null", out);
    else
        json_text(out, causes->line.trace->region[region]);
    fprintf(out, ", \"cost\": %.0f, \"direct\": %.0f, \"passed_on\": %.0f, ", cause_cost(cause),
            cause->direct, cause->passed_on);
    number(out, "number", cause->number);
    fputs(", \"worst\": {", out);
    number(out, "begin", cause->begin);
    fputs(", ", out);
    number(out, "end", cause->end);
    fprintf(out, ", \"cost\": %.0f}}", cause->worst);
    free(what);
}

static void json_causes(const struct analysis *analysis, const struct causes *causes, FILE *out)
{
    fputs(",\n  \"waiting\": {", out);
    number(out, "total", causes->waiting);
    fprintf(out, ", \"unknown\": %.0f},\n  \"causes\": [", causes->unknown);
    for (size_t i = 0; i < causes->n; i++)
        json_cause(causes, i, out);
    fputs("],\n  \"by_rank\": [", out);
    for (uint32_t r = 0; r < analysis->trace->nranks; r++) {
        fputs(r ? ",\n    {" : "\n    {", out);
        number(out, "computes", causes->rank[r].computes);
        fputs(", ", out);
        number(out, "rma", analysis->rma_ns[r]);
        if (analysis->trace->messages) {
            fputs(", ", out);
            number(out, "other_mpi", analysis->other_ns[r]);
        } else
            fputs(", \"other_mpi\": null", out);
        fputs(", ", out);
        number(out, "waits", causes->rank[r].waits);
        fprintf(out, ", \"costs\": %.0f}", causes->rank[r].costs);
    }
    fputs("]", out);
}

static void json_regions(const struct analysis *analysis, const struct causes *causes, FILE *out)
{
    const struct trace *trace = analysis->trace;

    fputs(",\n  \"regions\": [", out);
    for (size_t i = 0; trace->nvisits && i <= trace->nregions; i++) {
        const struct share_of_region *region = &causes->region[i];

        fputs(i ? ",\n    {\"name\": " : "\n    {\"name\": ", out);
        if (i < trace->nregions)
            json_text(out, trace->region[i]);
        else
            fputs("null", out);
        fputs(", ", out);
        number(out, "visits", region->visits);
        fputs(", ", out);
        number(out, "time", region->time);
        fputs(", ", out);
        number(out, "longest", region->longest);
        fputs(", ", out);
        number(out, "computes", region->computes);
        fputs(", ", out);
        number(out, "calls", region->calls);
        fputs(", ", out);
        number(out, "waits", region->waits);
        fprintf(out, ", \"costs\": %.0f}", region->costs);
    }
    fputs("]", out);
}

/* Null where the archive has no messages. */
static void json_messages(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    const struct totals totals = report_totals(analysis);

    fputs(",\n  \"messages\": ", out);
    if (!trace->messages) {
        fputs("null", out);
        return;
    }
    fputs("{", out);
    number(out, "sent", trace->nsendings);
    fputs(", ", out);
    number(out, "bytes", totals.sent);
    fputs(", ", out);
    number(out, "received", trace->nreceivings);
    fputs(", ", out);
    number(out, "collective", trace->ntogethers);
    fputs(", ", out);
    number(out, "ns", totals.other);
    fputs(", ", out);
    number(out, "waits", totals.waits);
    fputs("}", out);
}

/* The notes of an archive of ours, which are the lines of its description: what was missing when it
 * was made; and those of reading it. */
static void json_notes(const struct trace *trace, FILE *out)
{
    fputs(",\n  \"description\": ", out);
    json_text(out, trace->description ? trace->description : "");
    fputs(",\n  \"notes\": [", out);
    const char *separator = "";
    for (const char *line = trace->ours && trace->description ? trace->description : ""; *line;) {
        const size_t n = strcspn(line, "\n");
        char *note = text("%.*s", (int)n, line);

        fputs(separator, out);
        json_text(out, note);
        free(note);
        separator = ", ";
        line += n + (line[n] == '\n');
    }
    for (size_t i = 0; i < trace->notes.n; i++) {
        fputs(separator, out);
        json_text(out, trace->notes.note[i].text);
        separator = ", ";
    }
    fputs("]", out);
}

static void json_scenario(const struct trace *trace, const struct whatif *whatif, size_t i,
                          FILE *out)
{
    const struct scenario *scenario = &whatif->scenario[i];

    fprintf(out, "%s\n    {\"kind\": \"%s\", ", i ? "," : "", scenario->key);
    number(out, "saves", scenario->saves);
    fprintf(out,
            ", \"percent\": %.4f, \"what\": ", report_percent(scenario->saves, whatif->measured));
    json_text(out, scenario->what);
    fputs(", \"assumes\": ", out);
    json_text(out, scenario->assumes);
    fputs(", ", out);
    number(out, "number", scenario->number);
    index_or_null(out, "rank", scenario->rank);
    index_or_null(out, "window", scenario->win);
    json_beside(trace, "call", "site", scenario->call, out);
    fputs("}", out);
}

static void json_whatif(const struct trace *trace, const struct whatif *whatif, FILE *out)
{
    fputs("\"what_if\": {\"why_not\": ", out);
    if (whatif->why_not)
        json_text(out, whatif->why_not);
    else
        fputs("null", out);
    fputs(", ", out);
    number(out, "measured", whatif->measured);
    fputs(", ", out);
    number(out, "replayed", whatif->replayed);
    fputs(", ", out);
    number(out, "noise", whatif->noise);
    fputs(", \"scenarios\": [", out);
    for (size_t i = 0; i < whatif->n; i++)
        json_scenario(trace, whatif, i, out);
    fputs("]}", out);
}

/* A member with a text, null where there is none. */
static void json_beside_text(const char *name, const char *value, FILE *out)
{
    fprintf(out, ",\n  \"%s\": ", name);
    if (value)
        json_text(out, value);
    else
        fputs("null", out);
}

void report_json(const struct findings *findings, FILE *out)
{
    const struct analysis *analysis = findings->analysis;
    const struct trace *trace = analysis->trace;

    fputs("{\n  ", out);
    json_whatif(trace, findings->whatif, out);
    fputs(",\n  \"creator\": ", out);
    json_text(out, trace->creator ? trace->creator : "");
    json_beside_text("program", trace->program, out);
    json_beside_text("machine", trace->machine, out);
    json_beside_text("host_mpi", trace->host_mpi, out);
    json_beside_text("crowded", trace->crowded, out);
    fprintf(out, ",\n  \"began\": %" PRIu64, trace->began);
    fprintf(out, ",\n  \"model\": \"%s\",\n  \"ranks\": %u,\n  ", report_model(analysis->model),
            trace->nranks);
    number(out, "events", trace->events);
    fputs(",\n  ", out);
    number(out, "length", trace->length);
    fputs(",\n  ", out);
    number(out, "writing_ns", analysis->writing_ns);
    json_notes(trace, out);
    json_functions(analysis, out);
    fputs(",\n  \"sites\": ", out);
    json_by_site(trace, &analysis->by_site, out);
    json_named(out, "operations", op_name, analysis->by_op, TRACE_COMPARE_AND_SWAP + 1);
    json_named(out, "paths", path_name, analysis->by_path, PATHS);
    json_windows(analysis, out);
    json_matrix(analysis, out);
    json_causes(analysis, findings->causes, out);
    json_regions(analysis, findings->causes, out);
    json_messages(analysis, out);
    report_conflicts_json(analysis, out);
    fputs(",\n  \"patterns\": {", out);
    for (unsigned i = 0; i < PATTERNS; i++)
        json_pattern(analysis, i, out);
    fputs("\n  }\n}\n", out);
}
