/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats.c - see stats.h. Plain functions of their arguments, no state.
 */
#include "bench/common/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

double stats_quantile(double *v, size_t n, double p)
{
    if (n == 0)
        return NAN;
    qsort(v, n, sizeof(*v), by_value);

    double place = p * (double)(n - 1);
    size_t low = (size_t)place;

    if (low + 1 >= n)
        return v[n - 1];
    return v[low] + (place - (double)low) * (v[low + 1] - v[low]);
}

double stats_median(double *v, size_t n)
{
    return stats_quantile(v, n, 0.5);
}

const char *stats_bytes(size_t bytes, char *buf, size_t len)
{
    static const char *const unit[] = {"", " Ki", " Mi", " Gi"};
    size_t u = 0;

    while (u < 3 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        u++;
    }
    snprintf(buf, len, "%zu%s", bytes, unit[u]);
    return buf;
}

const char *stats_time(double ns, char *buf, size_t len)
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    size_t u = 0;

    if (isnan(ns)) {
        snprintf(buf, len, "n/a");
        return buf;
    }
    while (u < 3 && (ns >= 999.5 || ns <= -999.5)) {
        ns /= 1000;
        u++;
    }
    snprintf(buf, len, "%.*f %s", ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, ns, unit[u]);
    return buf;
}
