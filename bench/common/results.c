/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * results.c - see results.h.
 */
#define _GNU_SOURCE 1
#include "bench/common/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/stats.h"

#define MAX_COLUMNS 12
#define COLUMN 14

void results_init(struct results *r, const struct host *host, int nprocs, FILE *csv)
{
    *r = (struct results){.host = host, .nprocs = nprocs, .csv = csv};
    if (csv)
        fprintf(csv, "host,library,ranks,suite,op,memory,sync,bytes,ns,ns_min,ns_max,line_ns,of_ns,"
                     "beside_ns,"
                     "note\n");
}

void results_free(struct results *r)
{
    free(r->v);
    r->v = NULL;
}

static void csv_line(const struct results *r, const struct result *one)
{
    fprintf(r->csv, "%s,%d,%d,%s,%s,%s,%s,%zu,", r->host->tag, r->host->library, r->nprocs,
            one->suite, one->op, one->kind, one->sync, one->size);
    if (isnan(one->ns))
        fprintf(r->csv, ",,,");
    else
        fprintf(r->csv, "%.2f,%.2f,%.2f,", one->ns, one->min, one->max);
    if (one->line > 0)
        fprintf(r->csv, "%.1f", one->line);
    if (one->bare > 0)
        fprintf(r->csv, ",%.2f,%.2f", one->of, one->bare);
    else
        fprintf(r->csv, ",,");
    fprintf(r->csv, ",\"%s\"\n", one->note);
    fflush(r->csv);
}

void results_add(struct results *r, const struct result *one)
{
    if (r->n == r->room) {
        size_t room = r->room ? 2 * r->room : 256;
        struct result *v = realloc(r->v, room * sizeof(*v));

        if (!v) {
            fprintf(stderr, "rma: no memory for %zu results\n", room);
            MPI_Abort(MPI_COMM_WORLD, 1);
            abort();
        }
        r->v = v;
        r->room = room;
    }
    r->v[r->n++] = *one;
    if (r->csv)
        csv_line(r, one);
}

static const struct result *find(const struct results *r, const char *suite, const char *op,
                                 const char *kind, const char *sync, size_t size)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct result *v = &r->v[i];

        if (v->size == size && !strcmp(v->suite, suite) && !strcmp(v->op, op) &&
            !strcmp(v->kind, kind) && !strcmp(v->sync, sync))
            return v;
    }
    return NULL;
}

void results_lines(const struct results *r, const char *suite, size_t from)
{
    char ns[24], low[24], high[24];

    if (from < r->n)
        printf("\n");
    for (size_t i = from; i < r->n; i++) {
        const struct result *v = &r->v[i];

        if (strcmp(v->suite, suite))
            continue;
        printf("%-8s %-22s %-10s %-9s %10s", v->suite, v->op, v->kind, v->sync,
               stats_time(v->ns, ns, sizeof(ns)));
        if (!isnan(v->ns))
            printf("  (%s to %s)", stats_time(v->min, low, sizeof(low)),
                   stats_time(v->max, high, sizeof(high)));
        printf("%s%s\n", v->note[0] ? "  " : "", v->note);
    }
    fflush(stdout);
}

/* What a result's column is called in a table of op, or of all operations. */
static const char *column(const struct result *v, const char *op)
{
    return op ? v->sync : v->op;
}

static bool in_table(const struct result *v, const char *suite, const char *op, const char *kind)
{
    return !strcmp(v->suite, suite) && !strcmp(v->kind, kind) && (!op || !strcmp(v->op, op));
}

/* The different sizes, or synchronizations, of a table, in order of arrival. */
struct axes {
    size_t size[64];
    const char *sync[MAX_COLUMNS];
    int nsizes, nsyncs;
};

static void find_axes(const struct results *r, const char *suite, const char *op, const char *kind,
                      struct axes *a)
{
    a->nsizes = a->nsyncs = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct result *v = &r->v[i];
        int s = 0, c = 0;

        if (!in_table(v, suite, op, kind))
            continue;
        while (s < a->nsizes && a->size[s] != v->size)
            s++;
        if (s == a->nsizes && s < 64)
            a->size[a->nsizes++] = v->size;
        while (c < a->nsyncs && strcmp(a->sync[c], column(v, op)))
            c++;
        if (c == a->nsyncs && c < MAX_COLUMNS)
            a->sync[a->nsyncs++] = column(v, op);
    }
}

static void table_notes(const struct results *r, const char *suite, const char *op,
                        const char *kind)
{
    const char *said = "";

    for (size_t i = 0; i < r->n; i++) {
        const struct result *v = &r->v[i];

        if (!in_table(v, suite, op, kind) || !v->note[0] || !strcmp(v->note, said))
            continue;
        printf("  %s%s%s: %s\n", column(v, op), *column(v, op) ? " " : "",
               isnan(v->ns) ? "n/a" : "note", v->note);
        said = v->note;
    }
}

void results_table(const struct results *r, const char *suite, const char *op, const char *kind)
{
    struct axes a;
    char text[32];

    find_axes(r, suite, op, kind, &a);
    if (!a.nsizes)
        return;
    printf("\n%s%s%s%s%s\n%10s", suite, op ? ": " : "", op ? op : "", *kind ? ", " : "", kind,
           "size");
    for (int c = 0; c < a.nsyncs; c++)
        printf(" %*s", COLUMN, a.sync[c]);
    printf("\n");
    for (int s = 0; s < a.nsizes; s++) {
        printf("%10s", stats_bytes(a.size[s], text, sizeof(text)));
        for (int c = 0; c < a.nsyncs; c++) {
            const char *name = a.sync[c];
            const struct result *v =
                find(r, suite, op ? op : name, kind, op ? name : "", a.size[s]);

            printf(" %*s", COLUMN, v ? stats_time(v->ns, text, sizeof(text)) : "");
        }
        printf("\n");
    }
    table_notes(r, suite, op, kind);
    fflush(stdout);
}
