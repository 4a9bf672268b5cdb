/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report_text.c - writes the report for a terminal, and into it what was found: what would save
 * time, causes of waiting, regions, wait states. report_profile.c writes what is counted,
 * report_conflicts.c the conflicting accesses.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text_form.h"

enum {
    SCENARIOS_SHOWN = 8,
    CAUSES_SHOWN = 8,
    RANKS_SHOWN = 16,
    REGIONS_SHOWN = 20,
    WAIT_SITES_SHOWN = 5
};

static void worst(const struct analysis *analysis, const struct instance *instance, FILE *out)
{
    const struct trace *trace = analysis->trace;
    char *call = report_call_at(trace, instance->call, false);
    char *cause_call = report_call_at(trace, instance->cause_call, true);

    fprintf(out, "    worst: %s at %.6f s, rank %u",
            text_duration(instance->end - instance->begin).text, (double)instance->begin / 1e9,
            instance->rank);
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

        fprintf(out, "    %12s in %s, %" PRIu64 " time%s\n", text_duration(at->ns).text, call,
                at->number, at->number == 1 ? "" : "s");
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
                text_duration(finding->total).text,
                report_percent(finding->total, analysis->run_ns), finding->number,
                info->part_of >= 0 ? "; within " : "",
                info->part_of >= 0 ? pattern_info[info->part_of].name : "");
    fprintf(out, "    %s\n", info->meaning);
    by_call(analysis, finding, out);
    if (finding->total)
        worst(analysis, &finding->worst, out);
    text_wrapped(out, info->advice, 4);
}

static void patterns(const struct analysis *analysis, FILE *out)
{
    uint64_t total[PATTERNS];
    const char *separator = "\n  not found:";

    for (unsigned i = 0; i < PATTERNS; i++)
        total[i] = analysis->found[i].total;
    size_t *order = report_order(total, PATTERNS);
    text_heading(out, "Wait states and other findings");
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
            what, text_duration((uint64_t)cause_cost(cause)).text,
            report_percent((uint64_t)cause_cost(cause), causes->waiting), cause->number,
            cause->number == 1 ? "" : "s");
    fprintf(out, "    %s of it in ranks that wait for rank %u, %s in ranks that wait for those\n",
            text_duration((uint64_t)cause->direct).text, cause->rank,
            text_duration((uint64_t)cause->passed_on).text);
    fprintf(out, "    worst: %s at %.6f s, in which it takes %s\n",
            text_duration((uint64_t)cause->worst).text, (double)cause->begin / 1e9,
            text_duration(cause->end - cause->begin).text);
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

        fprintf(out, "  %6zu %12s %12s %12s %12s %18s\n", order[i],
                text_duration(rank->computes).text, text_duration(analysis->rma_ns[order[i]]).text,
                analysis->trace->messages ? text_duration(analysis->other_ns[order[i]]).text
                                          : "not known",
                text_duration(rank->waits).text, text_duration(costs[order[i]]).text);
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
    text_heading(out, "Causes of waiting");
    fprintf(out, "  %s of waiting, of all ranks together; no cause is known of %s\n",
            text_duration(causes->waiting).text, text_duration((uint64_t)causes->unknown).text);
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
    fprintf(out, "  %8s %12s %12s %12s %12s %12s  %s\n", visits, time,
            text_duration(region->computes).text, text_duration(region->calls).text,
            text_duration(region->waits).text, text_duration((uint64_t)region->costs).text, name);
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
    text_heading(out, "Regions of the program");
    text_wrapped(
        out, "time: from begin to end; all else: what is in the region and in none inside it", 2);
    fprintf(out, "  %8s %12s %12s %12s %12s %12s  %s\n", "visits", "time", "computes", "in calls",
            "waits", "costs others", "region");
    for (size_t i = 0; i < trace->nregions && i < REGIONS_SHOWN; i++) {
        const struct share_of_region *region = &causes->region[order[i]];
        char *visits = text("%" PRIu64, region->visits);

        if (region->visits)
            region_line(out, trace->region[order[i]], region, visits,
                        text_duration(region->time).text);
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
    char *line =
        text("%zu. saves %s, %.1f %% of the run: %s, %" PRIu64 " time%s", i + 1,
             text_duration(scenario->saves).text, report_percent(scenario->saves, whatif->measured),
             scenario->what, scenario->number, scenario->number == 1 ? "" : "s");

    text_wrapped(out, line, 2);
    text_wrapped(out, scenario->assumes, 5);
    fputc('\n', out);
    free(line);
}

static void what_if(const struct whatif *whatif, FILE *out)
{
    text_heading(out, "What would save time");
    for (size_t i = 0; i < whatif->n && i < SCENARIOS_SHOWN; i++)
        one_scenario(whatif, i, out);
    if (whatif->n > SCENARIOS_SHOWN)
        fprintf(out, "  ... and %zu more (all of them in the JSON report)\n",
                whatif->n - SCENARIOS_SHOWN);
    if (whatif->n == 0 && !whatif->why_not)
        fprintf(out, "  no change would save more than %.2g %%\n",
                report_percent(whatif->noise, whatif->measured));
    if (whatif->why_not) {
        char *line = text("no estimate is made: %s", whatif->why_not);

        text_wrapped(out, line, 2);
        free(line);
    }
    if (whatif->replayed)
        fprintf(out, "  up to the last call the run takes %s, and replayed as it was %s\n",
                text_duration(whatif->measured).text, text_duration(whatif->replayed).text);
    if (whatif->n > 0)
        fprintf(out, "  each gain is of that change alone: they do not add up\n");
}

static void head(const struct trace *trace, FILE *out)
{
    char *recorded = report_recorded(trace);

    fprintf(out, "%s\n", recorded);
    if (trace->crowded) {
        char *crowded = text("%s: they took turns, and the times below are those of the scheduler",
                             trace->crowded);

        text_wrapped(out, crowded, 0);
        free(crowded);
    }
    free(recorded);
}

void report_text(const struct findings *findings, FILE *out)
{
    const struct analysis *analysis = findings->analysis;

    head(analysis->trace, out);
    what_if(findings->whatif, out);
    report_overview_text(analysis, out);
    report_conflicts_text(analysis, out);
    why(analysis, findings->causes, out);
    regions(analysis, findings->causes, out);
    report_profile_text(analysis, out);
    patterns(analysis, out);
}
