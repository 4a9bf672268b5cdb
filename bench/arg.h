/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arg.h - option values of the benchmarks: sizes, lists, numbers.
 *
 * Each parser returns 0, or -1 with a one-line text in msg that names what was
 * given and what was expected; outputs are set only on success.
 */
#ifndef BENCH_ARG_H
#define BENCH_ARG_H

#include <stddef.h>

#define ARG_MAX_SIZES 40

struct arg_sizes {
    size_t v[ARG_MAX_SIZES];
    int n;
};

/* "16,1K,4Ki,1M": bytes, with K, M or G (powers of 1024). */
int arg_sizes(const char *text, struct arg_sizes *out, char *msg, size_t len);

/* from, from*factor, ... up to and including at most `to`. */
void arg_size_range(struct arg_sizes *out, size_t from, size_t to, size_t factor);

/* "put,get" or "all" against the NULL-terminated names: a bit per name. */
int arg_names(const char *text, const char *const *names, unsigned *mask, char *msg, size_t len);

/* A whole number / a decimal number between low and high. */
int arg_long(const char *text, long low, long high, long *out, char *msg, size_t len);
int arg_double(const char *text, double low, double high, double *out, char *msg, size_t len);

#endif
