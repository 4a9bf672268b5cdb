/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report_html.c - the report as one page that needs nothing else.
 *
 * page.html is the page; the data stand in it as one JSON object, in columns: for calls, what the
 * library did, operations and wait states each a list of places, of begins (as differences), of
 * lengths, of kinds. What would make the page too large to use is thinned out: the longest are
 * kept, and calls that are not are shown by how much of the time their thread was in calls.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../tools/json.h"

enum {
    CALLS_MAX = 120000,
    DOINGS_MAX = 60000,
    OPS_MAX = 60000,
    INSTANCES_MAX = 40000,
    VISITS_MAX = 40000,
    CAUSES_MAX = 200,
    SITES_MAX = 500,
    BINS = 1500
};

static const char page[] =
#include "trace/page.h"
    ;

/* One box of the time line. */
struct box {
    uint64_t begin, length;
    uint32_t place, kind;
    int64_t other; /* a rank, of calls a site; -1: none */
};

struct boxes {
    struct box *box;
    size_t n;
};

static int by_length(const void *a, const void *b)
{
    const struct box *x = a, *y = b;

    return x->length > y->length ? -1 : x->length < y->length;
}

static int by_begin(const void *a, const void *b)
{
    const struct box *x = a, *y = b;

    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Keeps the longest, in order of their begin. */
static void thin(struct boxes *boxes, size_t most)
{
    if (boxes->n > most) {
        sort(boxes->box, boxes->n, sizeof *boxes->box, by_length);
        boxes->n = most;
    }
    sort(boxes->box, boxes->n, sizeof *boxes->box, by_begin);
}

enum column { PLACE, BEGIN, LENGTH, KIND, OTHER, COLUMNS };

static int64_t cell(const struct boxes *boxes, size_t i, enum column column)
{
    const struct box *box = &boxes->box[i];

    switch (column) {
    case PLACE:
        return box->place;
    case BEGIN:
        return (int64_t)(box->begin - (i ? boxes->box[i - 1].begin : 0));
    case LENGTH:
        return (int64_t)box->length;
    case KIND:
        return box->kind;
    default:
        return box->other;
    }
}

static void write_boxes(FILE *out, const char *name, struct boxes *boxes, size_t most)
{
    fprintf(out, ",\n\"all_%s\": %zu,\n\"%s\": [", name, boxes->n, name);
    thin(boxes, most);
    for (int column = 0; column < COLUMNS; column++) {
        fprintf(out, "%s[", column ? ",\n" : "");
        for (size_t i = 0; i < boxes->n; i++)
            fprintf(out, "%s%" PRId64, i ? "," : "", cell(boxes, i, (enum column)column));
        fputc(']', out);
    }
    fputc(']', out);
    free(boxes->box);
}

/* The place where a rank's waiting is shown: that of its call, else its first. */
static uint32_t place_of_rank(const struct trace *trace, uint32_t rank)
{
    for (size_t i = 0; i < trace->nplaces; i++)
        if (trace->place[i].rank == rank)
            return (uint32_t)i;
    return 0;
}

static void write_calls(const struct trace *trace, FILE *out)
{
    struct boxes boxes = {zalloc(trace->ncalls, sizeof *boxes.box), trace->ncalls};

    for (size_t i = 0; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];

        boxes.box[i] =
            (struct box){call->enter, u64_minus(call->leave, call->enter), call->place, call->call,
                         call->site < trace->nsites ? (int64_t)call->site : -1};
    }
    write_boxes(out, "calls", &boxes, CALLS_MAX);
}

static void write_doings(const struct trace *trace, FILE *out)
{
    struct boxes boxes = {zalloc(trace->ndoings, sizeof *boxes.box), trace->ndoings};

    for (size_t i = 0; i < trace->ndoings; i++) {
        const struct doing *doing = &trace->doing[i];

        boxes.box[i] = (struct box){doing->begin, u64_minus(doing->end, doing->begin), doing->place,
                                    doing->kind, doing->peer == NONE ? -1 : (int64_t)doing->peer};
    }
    write_boxes(out, "doings", &boxes, DOINGS_MAX);
}

/* How many regions a visit lies in, in one byte: more are drawn as one. */
static uint32_t nested(const struct trace *trace, const struct visit *visit)
{
    uint32_t n = 0;

    while (visit->within != NONE && n < UINT8_MAX) {
        visit = &trace->visit[visit->within];
        n++;
    }
    return n;
}

static void write_visits(const struct trace *trace, FILE *out)
{
    struct boxes boxes = {zalloc(trace->nvisits, sizeof *boxes.box), trace->nvisits};

    for (size_t i = 0; i < trace->nvisits; i++) {
        const struct visit *visit = &trace->visit[i];

        boxes.box[i] = (struct box){visit->begin, u64_minus(visit->end, visit->begin), visit->place,
                                    nested(trace, visit), visit->region};
    }
    write_boxes(out, "visits", &boxes, VISITS_MAX);
}

/* [name, visits, time, longest, computes, calls, waits, costs]; what is in no region has no name
 * and comes last. */
static void write_regions(const struct trace *trace, const struct causes *causes, FILE *out)
{
    fputs(",\n\"regions\": [", out);
    for (size_t i = 0; trace->nvisits && i <= trace->nregions; i++) {
        const struct share_of_region *region = &causes->region[i];

        fputs(i ? ",\n[" : "\n[", out);
        json_text(out, i < trace->nregions ? trace->region[i] : "");
        fprintf(out,
                ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
                ", %.0f]",
                region->visits, region->time, region->longest, region->computes, region->calls,
                region->waits, region->costs);
    }
    fputc(']', out);
}

/* Operations are thinned evenly: every so-manieth, or short ones would never be seen. */
static void write_ops(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    size_t step = 1 + trace->nops / OPS_MAX;
    struct boxes boxes = {zalloc(trace->nops, sizeof *boxes.box), 0};

    for (size_t i = 0; i < trace->nops; i += step) {
        const struct operation *op = &trace->op[i];

        boxes.box[boxes.n++] = (struct box){op->issue, u64_minus(analysis->end[i], op->issue),
                                            op->rank, op->op, op->target};
    }
    fprintf(out, ",\n\"step\": %zu", step);
    write_boxes(out, "kept_ops", &boxes, OPS_MAX);
}

static void write_instances(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    struct boxes boxes = {zalloc(analysis->ninstances, sizeof *boxes.box), analysis->ninstances};
    uint32_t *home = zalloc(trace->nranks, sizeof *home);

    for (uint32_t i = 0; i < trace->nranks; i++)
        home[i] = place_of_rank(trace, i);
    for (size_t i = 0; i < analysis->ninstances; i++) {
        const struct instance *instance = &analysis->instance[i];
        uint32_t place = instance->call != NONE           ? trace->call[instance->call].place
                         : instance->rank < trace->nranks ? home[instance->rank]
                                                          : 0;

        boxes.box[i] =
            (struct box){instance->begin, instance->end - instance->begin, place, instance->pattern,
                         instance->cause == NONE ? -1 : (int64_t)instance->cause};
    }
    write_boxes(out, "instances", &boxes, INSTANCES_MAX);
    free(home);
}

/* For each place and each piece of the run, how many tenths of it were spent in calls. */
static void write_bins(const struct trace *trace, FILE *out)
{
    double *share = zalloc(trace->nplaces * BINS, sizeof *share);
    double length = (double)u64_max(trace->length, 1) / BINS;

    for (size_t i = 0; i < trace->ncalls; i++) {
        const struct call *call = &trace->call[i];
        double at = (double)call->enter, end = (double)call->leave;

        while (call->outermost && at < end) {
            size_t bin = (size_t)(at / length);
            if (bin >= BINS)
                break;
            double edge = (double)(bin + 1) * length, next = edge < end ? edge : end;

            share[call->place * BINS + bin] += (next - at) / length;
            if (next <= at)
                break;
            at = next;
        }
    }
    fputs(",\n\"bins\": [", out);
    for (size_t i = 0; i < trace->nplaces; i++) {
        fputs(i ? ",\n\"" : "\"", out);
        for (size_t k = 0; k < BINS; k++) {
            double tenths = share[i * BINS + k] * 9.0 + (share[i * BINS + k] > 0 ? 0.99 : 0.0);

            fputc('0' + (tenths > 9 ? 9 : (int)tenths), out);
        }
        fputc('"', out);
    }
    fputc(']', out);
    free(share);
}

static void write_sums(FILE *out, const struct transfers *sum)
{
    fprintf(out, ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64, sum->operations,
            sum->bytes, sum->model_ns, sum->arrived, sum->arrived_ns);
}

static void write_tables(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    const char *separator = "";

    fputs(",\n\"functions\": [", out);
    for (unsigned i = 1; i < trace->ncall_names; i++) {
        const struct profile *call = &analysis->by_call[i];

        if (call->calls == 0)
            continue;
        fprintf(out, "%s[\"%s\", %" PRIu64 ", %" PRIu64 ", %.4f, %" PRIu64 "]", separator,
                trace->call_name[i], call->calls, call->ns,
                report_percent(call->ns, analysis->run_ns), call->longest);
        separator = ", ";
    }
    fputs("],\n\"paths\": [", out);
    separator = "";
    for (unsigned i = 0; i < PATHS; i++) {
        if (analysis->by_path[i].operations == 0)
            continue;
        fprintf(out, "%s[\"%s\"", separator, path_name[i]);
        write_sums(out, &analysis->by_path[i]);
        fputc(']', out);
        separator = ", ";
    }
    fputs("],\n\"windows\": [", out);
    for (size_t i = 0; i < trace->nwindows; i++) {
        fputs(i ? ", [" : "[", out);
        json_text(out, trace->window[i].name);
        write_sums(out, &analysis->by_window[i]);
        fprintf(out, ", %" PRIu64 "]", analysis->call_by_window[i].ns);
    }
    fputs("],\n\"pairs\": [", out);
    separator = "";
    for (size_t i = 0; i < (size_t)trace->nranks * trace->nranks; i++) {
        const struct transfers *sum = &analysis->matrix[i];

        if (sum->operations == 0)
            continue;
        fprintf(out, "%s[%zu, %zu, %" PRIu64 ", %" PRIu64 "]", separator, i / trace->nranks,
                i % trace->nranks, sum->operations, sum->bytes);
        separator = ", ";
    }
    fputc(']', out);
}

static void write_pattern(const struct analysis *analysis, unsigned i, FILE *out)
{
    const struct pattern_info *info = &pattern_info[i];
    const struct finding *finding = &analysis->found[i];
    const struct instance *worst = &finding->worst;
    bool have = finding->total > 0;

    fprintf(out, "%s\n{\"name\": ", i ? "," : "");
    json_text(out, info->name);
    fputs(", \"within\": ", out);
    json_text(out, info->part_of >= 0 ? pattern_info[info->part_of].name : "");
    fputs(", \"advice\": ", out);
    json_text(out, info->advice);
    fprintf(out,
            ", \"total\": %" PRIu64 ", \"percent\": %.4f, \"number\": %" PRIu64
            ", \"of\": %" PRIu64,
            finding->total, report_percent(finding->total, analysis->run_ns), finding->number,
            finding->of);
    fprintf(out,
            ", \"begin\": %" PRIu64 ", \"length\": %" PRIu64 ", \"rank\": %" PRId64
            ", \"cause\": %" PRId64 "}",
            have ? worst->begin : 0, have ? worst->end - worst->begin : 0,
            have && worst->rank != NONE ? (int64_t)worst->rank : -1,
            have && worst->cause != NONE ? (int64_t)worst->cause : -1);
}

/* Those that cost at least a thousandth of the run, of all ranks together. */
static void write_causes(const struct causes *causes, uint64_t run_ns, FILE *out)
{
    fprintf(out, ",\n\"waiting\": %" PRIu64 ",\n\"all_causes\": %zu,\n\"causes\": [",
            causes->waiting, causes->n);
    for (size_t i = 0; i < causes->n && i < CAUSES_MAX; i++) {
        const struct cause *cause = &causes->cause[i];
        if (cause_cost(cause) < (double)run_ns / 1000) /* the next are smaller */
            break;
        char *what = timeline_kind_text(&causes->line, cause->kind);

        fprintf(out, "%s\n[%u, ", i ? "," : "", cause->rank);
        json_text(out, what);
        fprintf(out, ", %.0f, %.0f, %.0f, %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]",
                cause_cost(cause), cause->direct, cause->passed_on, cause->number, cause->begin,
                cause->end - cause->begin);
        free(what);
    }
    fputc(']', out);
}

/* Calls at one place, or waits in them: [function, site or -1, number, ns, longest]. */
static void write_by_site(const struct by_site *by_site, const char *before, FILE *out)
{
    size_t *order = report_sites(by_site);

    for (size_t i = 0; i < by_site->n && i < SITES_MAX; i++) {
        const struct at_site *at = &by_site->at[order[i]];

        fprintf(out, "%s[%s%u, %" PRId64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]",
                i ? ",\n" : "\n", before, at->call, at->site == NONE ? -1 : (int64_t)at->site,
                at->number, at->ns, at->longest);
    }
    free(order);
}

/* Where calls stand, as text, and what was found there; of wait states the number comes first. */
static void write_sites(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;
    const char *separator = "";

    fputs(",\n\"sites\": [", out);
    for (size_t i = 0; i < trace->nsites; i++) {
        char *place = site_text(trace, (uint32_t)i), *function = trace->site[i].function;
        char *all = function ? text("%s (%s)", place, function) : text("%s", place);

        fputs(i ? ", " : "", out);
        json_text(out, all);
        free(all);
        free(place);
    }
    fputs("],\n\"at_sites\": [", out);
    if (report_has_sites(&analysis->by_site))
        write_by_site(&analysis->by_site, "", out);
    fputs("],\n\"waits_at_sites\": [", out);
    for (unsigned i = 0; i < PATTERNS; i++) {
        char *before = text("%u, ", i);

        if (report_has_sites(&analysis->found[i].by_site)) {
            fputs(separator, out);
            write_by_site(&analysis->found[i].by_site, before, out);
            separator = ",";
        }
        free(before);
    }
    fputc(']', out);
}

static void write_names(const struct analysis *analysis, FILE *out)
{
    const struct trace *trace = analysis->trace;

    fputs(",\n\"places\": [", out);
    for (size_t i = 0; i < trace->nplaces; i++) {
        fputs(i ? ", [" : "[", out);
        json_text(out, trace->place[i].name);
        fprintf(out, ", %" PRId64 "]",
                trace->place[i].rank == NONE ? -1 : (int64_t)trace->place[i].rank);
    }
    fputs("],\n\"call_names\": [", out);
    for (unsigned i = 0; i < trace->ncall_names; i++)
        fprintf(out, "%s\"%s\"", i ? ", " : "", trace->call_name[i]);
    fputs("],\n\"own_names\": [", out);
    for (unsigned i = 0; i < OWN_KINDS; i++)
        fprintf(out, "%s\"%s\"", i ? ", " : "", own_region_name[i].name);
    fputs("],\n\"patterns\": [", out);
    for (unsigned i = 0; i < PATTERNS; i++)
        write_pattern(analysis, i, out);
    fputc(']', out);
}

/* [what, what it assumes, ns, percent, number]. */
static void write_whatif(const struct whatif *whatif, FILE *out)
{
    fputs(",\n\"why_not\": ", out);
    json_text(out, whatif->why_not ? whatif->why_not : "");
    fprintf(out, ", \"measured\": %" PRIu64 ", \"replayed\": %" PRIu64 ", \"noise\": %" PRIu64,
            whatif->measured, whatif->replayed, whatif->noise);
    fputs(",\n\"scenarios\": [", out);
    for (size_t i = 0; i < whatif->n; i++) {
        const struct scenario *scenario = &whatif->scenario[i];

        fputs(i ? ",\n[" : "\n[", out);
        json_text(out, scenario->what);
        fputs(", ", out);
        json_text(out, scenario->assumes);
        fprintf(out, ", %" PRIu64 ", %.4f, %" PRIu64 "]", scenario->saves,
                report_percent(scenario->saves, whatif->measured), scenario->number);
    }
    fputc(']', out);
}

static void write_data(const struct findings *findings, const char *title, FILE *out)
{
    const struct analysis *analysis = findings->analysis;
    const struct trace *trace = analysis->trace;
    uint64_t rma = 0;

    for (uint32_t i = 0; i < trace->nranks; i++)
        rma += analysis->rma_ns[i];
    fputs("{\"title\": ", out);
    json_text(out, title);
    char *recorded = report_recorded(trace);
    fputs(", \"recorded\": ", out);
    json_text(out, recorded);
    free(recorded);
    fputs(", \"crowded\": ", out);
    json_text(out, trace->crowded ? trace->crowded : "");
    fputs(", \"notes\": ", out);
    json_text(out, trace->description ? trace->description : "");
    fprintf(out,
            ", \"model\": \"%s\", \"ranks\": %u, \"events\": %" PRIu64 ", \"length\": %" PRIu64
            ", \"rma_percent\": %.4f, \"other_percent\": %.4f, \"rma_calls\": %d, \"all_ops\": %zu",
            report_model(analysis->model), trace->nranks, trace->events, trace->length,
            report_percent(rma, analysis->run_ns),
            trace->messages ? report_percent(report_totals(analysis).other, analysis->run_ns)
                            : -1.0,
            TRACE_CALL_LAST, trace->nops);
    write_names(analysis, out);
    write_tables(analysis, out);
    write_sites(analysis, out);
    write_whatif(findings->whatif, out);
    report_conflicts_html(analysis, out);
    write_causes(findings->causes, analysis->run_ns, out);
    write_regions(trace, findings->causes, out);
    write_calls(trace, out);
    write_doings(trace, out);
    write_visits(trace, out);
    write_ops(analysis, out);
    write_instances(analysis, out);
    write_bins(trace, out);
    fputs("}", out);
}

void report_html(const struct findings *findings, const char *title, FILE *out)
{
    static const char mark[] = "@DATA@";
    const char *at = strstr(page, mark);

    fwrite(page, 1, (size_t)(at - page), out);
    write_data(findings, title, out);
    fputs(at + sizeof mark - 1, out);
}
