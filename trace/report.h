/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - what an analysis found, for people and for programs.
 */
#ifndef MRMA_TRACE_REPORT_H
#define MRMA_TRACE_REPORT_H

#include <stdio.h>

#include "whatif.h"

/* All that is reported. */
struct findings {
    const struct analysis *analysis;
    const struct causes *causes;
    const struct whatif *whatif;
};

/* What was recorded, when and where, in a sentence without its point; the caller frees it. */
char *report_recorded(const struct trace *trace);

void report_text(const struct findings *findings, FILE *out);

/* One object; all times in nanoseconds. */
void report_json(const struct findings *findings, FILE *out);

/* report_profile.c: of the report for a terminal the run as a whole, and the tables of calls and
 * operations. */
void report_overview_text(const struct analysis *analysis, FILE *out);
void report_profile_text(const struct analysis *analysis, FILE *out);

/* report_conflicts.c: the part about conflicting accesses; of the JSON object, and of the page's
 * data, a member, with a comma in front. */
void report_conflicts_text(const struct analysis *analysis, FILE *out);
void report_conflicts_json(const struct analysis *analysis, FILE *out);
void report_conflicts_html(const struct analysis *analysis, FILE *out);

/* In the JSON object, after another member: where a call stands, or null. */
void report_json_site(const struct trace *trace, const char *name, uint32_t site, FILE *out);

/* The page, a whole HTML document. */
void report_html(const struct findings *findings, const char *title, FILE *out);

/* Of all ranks together, ns and bytes; waits: what of other is waiting. */
struct totals {
    uint64_t rma, other, waits, sent;
};
struct totals report_totals(const struct analysis *analysis);

/* Names for output. */
const char *report_window(const struct trace *trace, uint32_t win);
const char *report_call(const struct trace *trace, uint32_t call);

/* With where it stands, as call_text has it, "" for none; the caller frees it. */
char *report_call_at(const struct trace *trace, uint32_t call, bool is_short);

/* The indices of by_site by falling time; the caller frees them. */
size_t *report_sites(const struct by_site *by_site);

/* Whether it is known of any call where it stands. */
bool report_has_sites(const struct by_site *by_site);
const char *report_model(enum model model);

/* For sorting: the indices 0 to n - 1 by falling value; the caller frees them. */
size_t *report_order(const uint64_t *value, size_t n);

/* report_percent returns a share of a whole in percent, and 0 of nothing. */
double report_percent(uint64_t part, uint64_t whole);

#endif
