/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - the tables and the CSV file of the halo benchmark.
 */
#ifndef BENCH_HALO_REPORT_H
#define BENCH_HALO_REPORT_H

#include <stdio.h>

#include "bench/common/host.h"
#include "bench/common/place.h"
#include "bench/halo/measure.h"

struct halo_report {
    const struct host *host;
    const struct place *place;
    const struct halo *grid;
    FILE *csv; /* or NULL */
};

/* What runs, on what, and how the modes notify. */
void halo_report_heading(const struct halo_report *r);

/* One table for the n rows of one kind of memory, sizes down, modes across:
 * us per step and the ratio to isend/irecv. */
void halo_report_table(const struct halo_report *r, const struct halo_row *rows, int n);

/* One CSV line per cell; the columns are in the first line of the file. */
void halo_report_csv_heading(const struct halo_report *r);
void halo_report_csv(const struct halo_report *r, const struct halo_row *row);

#endif
