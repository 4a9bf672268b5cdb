/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * values.c - see values.h.
 */
#define _GNU_SOURCE 1
#include "bench/common/values.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *option_name(const struct argp_state *state, int key)
{
    const struct argp_option *option = state->root_argp->options;

    while (option->key != key)
        option++;
    return option->name;
}

static error_t refuse(const struct argp_state *state, int key, const char *text,
                      const char *expected, ...) __attribute__((format(printf, 4, 5)));

static error_t refuse(const struct argp_state *state, int key, const char *text,
                      const char *expected, ...)
{
    char what[512];
    va_list ap;

    va_start(ap, expected);
    vsnprintf(what, sizeof what, expected, ap);
    va_end(ap);
    argp_error(state, "--%s=%s: expected %s", option_name(state, key), text, what);
    return EINVAL;
}

static int one_size(const char **at, size_t *out)
{
    char *end;
    int shift = 0;

    if (!isdigit((unsigned char)**at))
        return -1;
    errno = 0;
    unsigned long long v = strtoull(*at, &end, 10);

    switch (toupper((unsigned char)*end)) {
    case 'K':
        shift = 10;
        break;
    case 'M':
        shift = 20;
        break;
    case 'G':
        shift = 30;
        break;
    }
    if (shift)
        end++;
    if (shift && *end == 'i')
        end++;
    if (errno || v > (1ull << 40) >> shift)
        return -1;
    *out = (size_t)v << shift;
    *at = end;
    return 0;
}

void sizes_range(struct sizes *out, size_t from, size_t to, size_t factor)
{
    out->n = 0;
    for (size_t s = from; s <= to && out->n < SIZES_MAX; s *= factor)
        out->v[out->n++] = s;
}

error_t value_sizes(const struct argp_state *state, int key, const char *text, size_t from,
                    size_t unit, struct sizes *out)
{
    struct sizes s = {.n = 0};
    const char *at = text;

    for (;;) {
        if (s.n == SIZES_MAX || one_size(&at, &s.v[s.n]) || (*at && *at != ','))
            return refuse(state, key, text, "a list of at most %d sizes such as 16,1K,1M",
                          SIZES_MAX);
        if (s.v[s.n] < from || s.v[s.n] % unit || s.v[s.n] > 1u << 30)
            return refuse(state, key, text, "multiples of %zu from %zu to 1G", unit, from);
        s.n++;
        if (!*at)
            break;
        at++;
    }
    *out = s;
    return 0;
}

static error_t unknown_name(const struct argp_state *state, int key, const char *text,
                            const char *const *names)
{
    char list[400];
    int used = 0;

    list[0] = '\0';
    for (int i = 0; names[i] && used >= 0 && (size_t)used < sizeof list; i++)
        used += snprintf(list + used, sizeof list - (size_t)used, "%s %s", i ? "," : "", names[i]);
    return refuse(state, key, text, "'all' or a list out of%s", list);
}

error_t value_names(const struct argp_state *state, int key, const char *text,
                    const char *const *names, unsigned *mask)
{
    unsigned m = 0;
    const char *at = text;

    if (!strcmp(text, "all")) {
        for (int i = 0; names[i]; i++)
            m |= 1u << i;
        *mask = m;
        return 0;
    }
    for (;;) {
        size_t n = strcspn(at, ",");
        int i = 0;

        while (names[i] && (strlen(names[i]) != n || strncmp(names[i], at, n)))
            i++;
        if (!names[i])
            return unknown_name(state, key, text, names);
        m |= 1u << i;
        if (!at[n])
            break;
        at += n + 1;
    }
    *mask = m;
    return 0;
}

error_t value_long(const struct argp_state *state, int key, const char *text, long low, long high,
                   long *out)
{
    char *end;

    errno = 0;
    long v = strtol(text, &end, 10);

    if (errno || end == text || *end || v < low || v > high)
        return refuse(state, key, text, "a whole number from %ld to %ld", low, high);
    *out = v;
    return 0;
}

error_t value_double(const struct argp_state *state, int key, const char *text, double low,
                     double high, double *out)
{
    char *end;

    errno = 0;
    double v = strtod(text, &end);

    if (errno || end == text || *end || !(v >= low && v <= high))
        return refuse(state, key, text, "a number from %g to %g", low, high);
    *out = v;
    return 0;
}
