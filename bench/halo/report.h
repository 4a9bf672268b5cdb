/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - the tables and the CSV file of the halo benchmark.
 */
#ifndef BENCH_HALO_REPORT_H
#define BENCH_HALO_REPORT_H

#include <stdio.h>

#include "bench/common/host.h"
#include "bench/common/place.h"
#include "bench/common/values.h"
#include "bench/halo/measure.h"

/* A cell that has the best or the worst ratio to isend/irecv. */
struct halo_extreme {
    double ratio;
    int mode;
    int kind;
    size_t size;
};

/* What all cells of one-sided calls have in common. */
struct halo_sum {
    double ratio[WINMEM_KINDS * SIZES_MAX * HALO_MODES];
    size_t n;        /* of the ratios */
    size_t doubtful; /* cells that are none of them */
    int faster;      /* how many ratios are below 1 */
    struct halo_extreme best, worst;
};

struct halo_report {
    const struct host *host;
    const struct place *place;
    const struct halo *grid;
    double load; /* of load_foreign */
    FILE *csv;   /* or NULL */
    struct halo_sum sum;
};

/* halo_report_heading says what runs, on what, how to read the tables, and what each of the modes
 * (bits of enum halo_mode_id) does. */
void halo_report_heading(const struct halo_report *r, unsigned modes);

/* halo_report_table prints the n rows of one kind of memory, sizes down, modes across: us per step
 * and the ratio to isend/irecv. Its cells count in the sentences of halo_report_end. */
void halo_report_table(struct halo_report *r, const struct halo_row *rows, int n);

/* halo_report_end prints three sentences that say what all tables show. */
void halo_report_end(struct halo_report *r);

/* One CSV line per cell; the columns are in the first line of the file. */
void halo_report_csv_heading(const struct halo_report *r);
void halo_report_csv(const struct halo_report *r, const struct halo_row *row);

#endif
