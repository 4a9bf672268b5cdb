/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arg.c - see arg.h.
 */
#include "arg.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int arg_sizes(const char *text, struct arg_sizes *out, char *msg, size_t len)
{
    struct arg_sizes s = {.n = 0};
    const char *at = text;

    for (;;) {
        if (s.n == ARG_MAX_SIZES || one_size(&at, &s.v[s.n]) || (*at && *at != ',')) {
            snprintf(msg, len, "'%s' is not a list of at most %d sizes such as 16,1K,1M", text,
                     ARG_MAX_SIZES);
            return -1;
        }
        s.n++;
        if (!*at)
            break;
        at++;
    }
    *out = s;
    return 0;
}

void arg_size_range(struct arg_sizes *out, size_t from, size_t to, size_t factor)
{
    out->n = 0;
    for (size_t s = from; s <= to && out->n < ARG_MAX_SIZES; s *= factor)
        out->v[out->n++] = s;
}

static int unknown_name(const char *text, const char *const *names, char *msg, size_t len)
{
    int used = snprintf(msg, len, "'%s' is not 'all' or a list out of", text);

    for (int i = 0; names[i] && used > 0 && (size_t)used < len; i++)
        used += snprintf(msg + used, len - (size_t)used, "%s %s", i ? "," : "", names[i]);
    return -1;
}

int arg_names(const char *text, const char *const *names, unsigned *mask, char *msg, size_t len)
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
            return unknown_name(text, names, msg, len);
        m |= 1u << i;
        if (!at[n])
            break;
        at += n + 1;
    }
    *mask = m;
    return 0;
}

int arg_long(const char *text, long low, long high, long *out, char *msg, size_t len)
{
    char *end;

    errno = 0;
    long v = strtol(text, &end, 10);

    if (errno || end == text || *end || v < low || v > high) {
        snprintf(msg, len, "'%s' is not a whole number from %ld to %ld", text, low, high);
        return -1;
    }
    *out = v;
    return 0;
}

int arg_double(const char *text, double low, double high, double *out, char *msg, size_t len)
{
    char *end;

    errno = 0;
    double v = strtod(text, &end);

    if (errno || end == text || *end || !(v >= low && v <= high)) {
        snprintf(msg, len, "'%s' is not a number from %g to %g", text, low, high);
        return -1;
    }
    *out = v;
    return 0;
}
