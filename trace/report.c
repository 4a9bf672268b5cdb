/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c - what all forms of the report share, see report.h.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *report_window(const struct trace *trace, uint32_t win)
{
    return win < trace->nwindows ? trace->window[win].name : "no window";
}

const char *report_call(const struct trace *trace, uint32_t call)
{
    return call < trace->ncalls ? trace->call_name[trace->call[call].call] : "";
}

char *report_call_at(const struct trace *trace, uint32_t call, bool is_short)
{
    const struct call *at = call < trace->ncalls ? &trace->call[call] : NULL;

    return at ? call_text(trace, at->call, at->site, is_short) : text("%s", "");
}

size_t *report_sites(const struct by_site *by_site)
{
    uint64_t *ns = zalloc(by_site->n, sizeof *ns);

    for (size_t i = 0; i < by_site->n; i++)
        ns[i] = by_site->at[i].ns;
    size_t *order = report_order(ns, by_site->n);
    free(ns);
    return order;
}

bool report_has_sites(const struct by_site *by_site)
{
    for (size_t i = 0; i < by_site->n; i++)
        if (by_site->at[i].site != NONE)
            return true;
    return false;
}

const char *report_model(enum model model)
{
    return model == MODEL_BASIC ? "basic" : "extended";
}

char *report_recorded(const struct trace *trace)
{
    const time_t seconds = (time_t)(trace->began / 1000000000);
    struct tm when;
    char date[64] = "";

    if (trace->began && localtime_r(&seconds, &when))
        strftime(date, sizeof date, ", %Y-%m-%d %H:%M", &when);
    char *all = text("%s, %u ranks%s%s%s%s%s%s", trace->program ? trace->program : "a program",
                     trace->nranks, trace->machine ? " on " : "",
                     trace->machine ? trace->machine : "", date, trace->host_mpi ? " (" : "",
                     trace->host_mpi ? trace->host_mpi : "", trace->host_mpi ? ")" : "");
    for (char *tab = all; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    return all;
}

struct keyed {
    uint64_t value;
    size_t index;
};

static int by_falling_value(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

size_t *report_order(const uint64_t *value, size_t n)
{
    struct keyed *keyed = zalloc(n, sizeof *keyed);
    size_t *order = zalloc(n, sizeof *order);

    for (size_t i = 0; i < n; i++)
        keyed[i] = (struct keyed){value[i], i};
    sort(keyed, n, sizeof *keyed, by_falling_value);
    for (size_t i = 0; i < n; i++)
        order[i] = keyed[i].index;
    free(keyed);
    return order;
}

double report_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

struct totals report_totals(const struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    struct totals totals = {0};

    for (uint32_t i = 0; i < trace->nranks; i++) {
        totals.rma += analysis->rma_ns[i];
        totals.other += analysis->other_ns[i];
    }
    for (unsigned i = LATE_SENDER; i <= EARLY_REDUCE; i++)
        totals.waits += analysis->found[i].total;
    for (size_t i = 0; i < trace->nsendings; i++)
        totals.sent += trace->sending[i].bytes;
    return totals;
}
