/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c - see report.h. Runs on rank 0 only.
 */
#define _GNU_SOURCE 1
#include "bench/halo/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/common/stats.h"

#define COLUMN 16

void halo_report_heading(const struct halo_report *r)
{
    const struct halo *h = r->grid;

    printf("halo exchange: %d ranks as a %d x %d torus, %s, %s; %s\n", h->nprocs, h->px, h->py,
           r->host->name, r->host->rma, r->place->text);
    printf("time per step in us (ratio to isend/irecv measured beside it); contents verified; lock "
           "and "
           "lock_all notify by %s\n",
           halo_notify_name[h->notify]);
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

static const char *number(double us, char *buf, size_t len)
{
    snprintf(buf, len, "%.*f", us < 10 ? 2 : us < 100 ? 1 : 0, us);
    return buf;
}

static void print_cell(const struct halo_cell *c)
{
    char us[24], text[48];

    if (!c->ok)
        snprintf(text, sizeof(text), c->wrong ? "wrong" : "n/a");
    else
        snprintf(text, sizeof(text), "%s (%.2f)", number(c->us, us, sizeof(us)), c->ratio);
    printf(" %*s", COLUMN, text);
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
                printf("wrong (%s, %zu bytes): %s\n", halo_modes[m].name, rows[i].size, c->reason);
            else
                printf("n/a (%s, %zu bytes, and where no other reason follows): %s\n",
                       halo_modes[m].name, rows[i].size, c->reason);
            said = c->reason;
        }
}

void halo_report_table(const struct halo_report *r, const struct halo_row *rows, int n)
{
    (void)r;
    if (n == 0)
        return;
    printf("\n%s\n%10s %12s", winmem_title[rows[0].kind], "bytes", "isend/irecv");
    for (int m = 0; m < HALO_MODES; m++)
        if (rows[0].wanted[m])
            printf(" %*s", COLUMN, halo_modes[m].name);
    printf("\n");
    for (int i = 0; i < n; i++) {
        char size[24], us[24];
        double ref = reference(&rows[i]);

        printf("%10s %12s", stats_bytes(rows[i].size, size, sizeof(size)),
               isnan(ref) ? "n/a" : number(ref, us, sizeof(us)));
        for (int m = 0; m < HALO_MODES; m++)
            if (rows[i].wanted[m])
                print_cell(&rows[i].cell[m]);
        printf("\n");
    }
    print_reasons(rows, n);
    fflush(stdout);
}

void halo_report_csv_heading(const struct halo_report *r)
{
    if (r->csv)
        fprintf(
            r->csv,
            "host,library,ranks,px,py,pinned,notify,memory,bytes,mode,isend_us,us,us_min,us_max,"
            "ratio,steps,reps,reason\n");
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
            fprintf(r->csv, "%.4f,%.4f,%.4f,%.4f,%.4f,%ld,%d,\n", c->ref_us, c->us, c->us_min,
                    c->us_max, c->ratio, c->steps, c->reps);
        else
            fprintf(r->csv, ",,,,,,,\"%s%s\"\n", c->wrong ? "wrong: " : "", c->reason);
    }
    if (r->csv)
        fflush(r->csv);
}
