/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * values.h - values of the benches' options, which argp's parsers hand over: sizes, lists, numbers.
 *
 * Each function reads the text given to the option of this key, into an output that is set only if
 * it returns 0. Otherwise it has told by argp_error what was given and what was expected, and
 * returns EINVAL.
 */
#ifndef BENCH_COMMON_VALUES_H
#define BENCH_COMMON_VALUES_H

#include <argp.h>
#include <stddef.h>

#define SIZES_MAX 40

struct sizes {
    size_t v[SIZES_MAX];
    int n;
};

/* sizes_range fills in from, from*factor, ... up to and including at most `to`. */
void sizes_range(struct sizes *out, size_t from, size_t to, size_t factor);

/* value_sizes reads "16,1K,4Ki,1M": bytes, with K, M or G (powers of 1024). Each has to be a
 * multiple of unit, from `from` to 1 Gi. */
error_t value_sizes(const struct argp_state *state, int key, const char *text, size_t from,
                    size_t unit, struct sizes *out);

/* value_names reads "put,get" or "all", of the NULL-terminated names: a bit for each. */
error_t value_names(const struct argp_state *state, int key, const char *text,
                    const char *const *names, unsigned *mask);

/* value_long reads a whole number from low to high, value_double a decimal one. */
error_t value_long(const struct argp_state *state, int key, const char *text, long low, long high,
                   long *out);
error_t value_double(const struct argp_state *state, int key, const char *text, double low,
                     double high, double *out);

#endif
