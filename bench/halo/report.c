/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c - see report.h. Runs on rank 0 only.
 */
#define _GNU_SOURCE 1
#include "bench/halo/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/common/load.h"
#include "bench/common/stats.h"

/* A table is no wider than this; modes that have no room follow in another one. */
#define LINE 80
#define FIRST_COLUMNS 26 /* bytes, what a line has, isend/irecv */

/* Prints a text whose lines are no longer than LINE, broken at blanks. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (const char *from = text; *from;) {
        size_t length = strlen(from);

        if (length > LINE) {
            length = LINE;
            while (length > 1 && from[length] != ' ')
                length--;
        }
        printf("%.*s\n", (int)length, from);
        from += length;
        from += strspn(from, " ");
    }
}

/* bench/halo/run-halo.sh finds these sentences by their first words, at the beginning of a line. */
void halo_report_heading(const struct halo_report *r, unsigned modes)
{
    const struct halo *h = r->grid;

    say("halo exchange: %d ranks (%d x %d), %s; %s", h->nprocs, h->px, h->py, r->host->name,
        r->place->text);
    if (load_disturbs(r->load))
        say("Other work keeps %.1f of %d processors busy: do not trust these times.", r->load,
            r->place->cpus);
    if (r->place->oversubscribed)
        say("There are more ranks than processors: the times measure how the scheduler gives them "
            "turns.");
    say("Measured are %s. A step is the exchange with all four neighbours, whose contents are "
        "verified. The first line of a size has the microseconds of a step, the second how many "
        "times those of isend/irecv it takes, as measured beside it. lock and lock_all notify by "
        "%s.",
        r->host->rma, halo_notify_name[h->notify]);
    for (int m = 0; m < HALO_MODES; m++)
        if (modes >> m & 1)
            printf("  %-13s %s\n", halo_modes[m].name, halo_modes[m].meaning);
}

static double reference(const struct halo_row *row)
{
    double v[HALO_MODES];
    size_t n = 0;

    for (int m = 0; m < HALO_MODES; m++)
        if (row->wanted[m] && row->cell[m].ok)
            v[n++] = row->cell[m].ref_us;
    return stats_median(v, n);
}

/* Three digits, or all before the point. */
static const char *number(double v, char *buf, size_t len)
{
    if (isnan(v))
        snprintf(buf, len, "n/a");
    else
        snprintf(buf, len, "%.*f", v < 10 ? 2 : v < 100 ? 1 : 0, v);
    return buf;
}

static int width(int mode)
{
    const int n = (int)strlen(halo_modes[mode].name);

    return 2 + (n < 6 ? 6 : n);
}

static void print_cell(const struct halo_cell *c, int mode, bool ratio)
{
    char value[24], text[32];

    if (c->ok)
        snprintf(text, sizeof(text), "%s%s", number(ratio ? c->ratio : c->us, value, sizeof(value)),
                 ratio && halo_cell_doubtful(c) ? "?" : "");
    else
        snprintf(text, sizeof(text), "%s", ratio ? "" : c->wrong ? "wrong" : "n/a");
    printf("%*s", width(mode), text);
}

/* The modes from first on that have room in a line; the one behind them. */
static int fitting(const struct halo_row *row, int first)
{
    int columns = FIRST_COLUMNS, m;

    for (m = first; m < HALO_MODES; m++) {
        columns += row->wanted[m] ? width(m) : 0;
        if (columns > LINE)
            break;
    }
    return m;
}

static void print_row(const struct halo_row *row, int first, int last)
{
    char size[24], us[24];

    printf("%7s     us %11s", stats_bytes(row->size, size, sizeof(size)),
           number(reference(row), us, sizeof(us)));
    for (int m = first; m < last; m++)
        if (row->wanted[m])
            print_cell(&row->cell[m], m, false);
    printf("\n%7s  ratio %11s", "", "");
    for (int m = first; m < last; m++)
        if (row->wanted[m])
            print_cell(&row->cell[m], m, true);
    printf("\n");
}

static void print_reasons(const struct halo_row *rows, int n)
{
    const char *said = "";

    for (int i = 0; i < n; i++)
        for (int m = 0; m < HALO_MODES; m++) {
            const struct halo_cell *c = &rows[i].cell[m];

            if (!rows[i].wanted[m] || c->ok || !strcmp(said, c->reason))
                continue;
            if (c->wrong)
                say("wrong (%s, %zu bytes): %s", halo_modes[m].name, rows[i].size, c->reason);
            else
                say("n/a (%s, %zu bytes, and where no other reason follows): %s",
                    halo_modes[m].name, rows[i].size, c->reason);
            said = c->reason;
        }
}

/* For the sentences at the end: what the one-sided calls gave. */
static void count(struct halo_sum *sum, const struct halo_row *row)
{
    for (int m = 0; m < HALO_MODES; m++) {
        const struct halo_cell *c = &row->cell[m];
        const struct halo_extreme this = {c->ratio, m, row->kind, row->size};

        if (!(HALO_ONE_SIDED_MODES >> m & 1) || !row->wanted[m] || !c->ok)
            continue;
        if (halo_cell_doubtful(c)) {
            sum->doubtful++;
            continue;
        }
        sum->faster += c->ratio < 1;
        if (sum->n == 0 || c->ratio < sum->best.ratio)
            sum->best = this;
        if (sum->n == 0 || c->ratio > sum->worst.ratio)
            sum->worst = this;
        sum->ratio[sum->n++] = c->ratio;
    }
}

void halo_report_table(struct halo_report *r, const struct halo_row *rows, int n)
{
    if (n == 0)
        return;
    for (int first = 0, last; first < HALO_MODES; first = last) {
        last = fitting(&rows[0], first);
        printf("\n%s\n%7s        %11s", winmem_title[rows[0].kind], "bytes", "isend/irecv");
        for (int m = first; m < last; m++)
            if (rows[0].wanted[m])
                printf("%*s", width(m), halo_modes[m].name);
        printf("\n");
        for (int i = 0; i < n; i++)
            print_row(&rows[i], first, last);
    }
    print_reasons(rows, n);
    for (int i = 0; i < n; i++)
        count(&r->sum, &rows[i]);
    fflush(stdout);
}

static const char *where(const struct halo_extreme *e, char *buf, size_t len)
{
    char size[24];

    snprintf(buf, len, "%.2f (%s, %s bytes, %s)", e->ratio, halo_modes[e->mode].name,
             stats_bytes(e->size, size, sizeof(size)), winmem_name[e->kind]);
    return buf;
}

void halo_report_end(struct halo_report *r)
{
    struct halo_sum *sum = &r->sum;
    char best[96], worst[96];

    printf("\n");
    if (sum->doubtful)
        say("? The repetitions of %zu cells differ by more than a quarter: something else kept the "
            "processors busy. These cells do not count in what follows.",
            sum->doubtful);
    if (sum->n == 0)
        return;
    say("In %d of %zu cells of one-sided calls a step takes less time than by isend/irecv.",
        sum->faster, sum->n);
    say("It takes %.2f times that time at the median, from %s to %s.",
        stats_median(sum->ratio, sum->n), where(&sum->best, best, sizeof(best)),
        where(&sum->worst, worst, sizeof(worst)));
    say("The one-sided calls were those of %s; %s mpi-rma-run it shows those of %s.",
        r->host->library ? "libmpi-rma" : "the MPI library", r->host->library ? "without" : "by",
        r->host->library ? "the MPI library" : "libmpi-rma");
}

void halo_report_csv_heading(const struct halo_report *r)
{
    if (r->csv)
        fprintf(
            r->csv,
            "host,library,ranks,px,py,pinned,notify,memory,bytes,mode,isend_us,us,us_min,us_max,"
            "ratio,spread,steps,reps,reason\n");
}

void halo_report_csv(const struct halo_report *r, const struct halo_row *row)
{
    for (int m = 0; r->csv && m < HALO_MODES; m++) {
        const struct halo_cell *c = &row->cell[m];

        if (!row->wanted[m])
            continue;
        fprintf(r->csv, "%s,%d,%d,%d,%d,%d,%s,%s,%zu,%s,", r->host->tag, r->host->library,
                r->grid->nprocs, r->grid->px, r->grid->py, r->place->pinned,
                halo_notify_name[r->grid->notify], winmem_name[row->kind], row->size,
                halo_modes[m].name);
        if (c->ok)
            fprintf(r->csv, "%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%ld,%d,\n", c->ref_us, c->us, c->us_min,
                    c->us_max, c->ratio, c->spread, c->steps, c->reps);
        else
            fprintf(r->csv, ",,,,,,,,\"%s%s\"\n", c->wrong ? "wrong: " : "", c->reason);
    }
    if (r->csv)
        fflush(r->csv);
}
