/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats.h - medians and percentiles of repeated measurements.
 */
#ifndef BENCH_COMMON_STATS_H
#define BENCH_COMMON_STATS_H

#include <stddef.h>

/* The p-quantile (0 to 1) of n values, interpolated; v is sorted in place.
 * NaN when n is 0. */
double stats_quantile(double *v, size_t n, double p);

/* stats_quantile at 0.5. */
double stats_median(double *v, size_t n);

/* "8", "64 Ki", "1 Mi" (bytes); returns buf. */
const char *stats_bytes(size_t bytes, char *buf, size_t len);

/* A time given in ns with three digits and its unit: "41.3 ns", "1.24 us",
 * "n/a" for NaN; returns buf. */
const char *stats_time(double ns, char *buf, size_t len);

#endif
