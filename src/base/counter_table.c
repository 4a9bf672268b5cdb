/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter_table.c - the three forms of a table of counters (counter_table.h). No state, no locks.
 */
#include "base/counter_table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

struct summary {
    uint64_t sum, least, most;
    int rank; /* the lowest rank that has the most */
};

static struct summary summary_of(const struct counter_table *table, size_t counter)
{
    const struct counter_row *row = table->rows;
    struct summary s = {.least = row->values[counter], .rank = row->rank};

    for (; row < table->rows + table->nrows; row++) {
        const uint64_t value = row->values[counter];

        s.sum += value;
        if (value < s.least)
            s.least = value;
        if (value > s.most) {
            s.most = value;
            s.rank = row->rank;
        }
    }
    return s;
}

/* routes_are_new returns whether no row before row i has the same routes. Most rows have those of
 * the first. */
static bool routes_are_new(const struct counter_table *table, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(table->rows[k].routes, table->rows[i].routes) == 0)
            return false;
    return *table->rows[i].routes != '\0';
}

/* Columns are two blanks apart, and wide enough for all but the largest numbers of bytes. */
void counter_table_text(const struct counter_table *table, FILE *out)
{
    static const char *const form = "%-20s  %15s  %15s  %15s  %s\n";
    char number[3][24], rank[16];
    size_t shown = 0;

    fprintf(out, "%s\n", table->title);
    for (size_t i = 0; i < table->ncounters; i++) {
        const struct summary s = summary_of(table, i);

        if (s.most == 0)
            continue;
        if (shown++ == 0)
            fprintf(out, form, "counter", "sum", "least", "most", "rank with most");
        snprintf(number[0], sizeof number[0], "%" PRIu64, s.sum);
        snprintf(number[1], sizeof number[1], "%" PRIu64, s.least);
        snprintf(number[2], sizeof number[2], "%" PRIu64, s.most);
        snprintf(rank, sizeof rank, "%d", s.rank);
        fprintf(out, form, table->counters[i].name, number[0], number[1], number[2], rank);
    }
    if (shown == 0)
        fprintf(out, "all counters are 0\n");
    for (size_t i = 0; i < table->nrows; i++)
        if (routes_are_new(table, i))
            fprintf(out, "routes of rank %d: %s\n", table->rows[i].rank, table->rows[i].routes);
    for (size_t i = 0; i < table->nrows; i++)
        if (*table->rows[i].network != '\0') {
            fprintf(out, "network of rank %d: %s\n", table->rows[i].rank, table->rows[i].network);
            break;
        }
}

/* csv_field writes a field, in quotes where it needs them (RFC 4180). */
static void csv_field(FILE *out, const char *text)
{
    const char *at = text;

    while (*at != '\0' && *at != ',' && *at != '"' && *at != '\n' && *at != '\r')
        at++;
    if (*at == '\0') {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void counter_table_csv(const struct counter_table *table, FILE *out)
{
    fputs("rank,host", out);
    for (size_t i = 0; i < table->ncounters; i++)
        fprintf(out, ",%s", table->counters[i].name);
    fputs(",routes,network\n", out);
    for (size_t r = 0; r < table->nrows; r++) {
        const struct counter_row *row = &table->rows[r];

        fprintf(out, "%d,", row->rank);
        csv_field(out, row->host);
        for (size_t i = 0; i < table->ncounters; i++)
            fprintf(out, ",%" PRIu64, row->values[i]);
        fputc(',', out);
        csv_field(out, row->routes);
        fputc(',', out);
        csv_field(out, row->network);
        fputc('\n', out);
    }
}

/* The names of machines and networks are ASCII. Any other byte is written as a letter of Latin-1,
 * so that the text is valid whatever they are. */
static void json_member(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\": \"", name);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < ' ' || *c >= 0x7f)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    fputc('"', out);
}

static void json_counter(const struct counter_table *table, size_t i, FILE *out)
{
    const struct counter *c = &table->counters[i];
    const struct summary s = summary_of(table, i);

    fputs("    {", out);
    json_member(out, "name", c->name);
    fputs(", ", out);
    json_member(out, "unit", c->unit);
    fputs(", ", out);
    json_member(out, "meaning", c->meaning);
    fprintf(out,
            ", \"sum\": %" PRIu64 ", \"least\": %" PRIu64 ", \"most\": %" PRIu64
            ", \"rank_with_most\": %d}",
            s.sum, s.least, s.most, s.rank);
}

static void json_row(const struct counter_table *table, const struct counter_row *row, FILE *out)
{
    fprintf(out, "    {\"rank\": %d, ", row->rank);
    json_member(out, "host", row->host);
    for (size_t i = 0; i < table->ncounters; i++)
        fprintf(out, ", \"%s\": %" PRIu64, table->counters[i].name, row->values[i]);
    fputs(", ", out);
    json_member(out, "routes", row->routes);
    fputs(", ", out);
    json_member(out, "network", row->network);
    fputc('}', out);
}

void counter_table_json(const struct counter_table *table, FILE *out)
{
    fputs("{\n  ", out);
    json_member(out, "version", table->version);
    fprintf(out, ",\n  \"processes\": %zu,\n  \"missing\": [", table->nrows + table->nmissing);
    for (size_t i = 0; i < table->nmissing; i++)
        fprintf(out, "%s%d", i > 0 ? ", " : "", table->missing[i]);
    fputs("],\n  \"counters\": [\n", out);
    for (size_t i = 0; i < table->ncounters; i++) {
        json_counter(table, i, out);
        fputs(i + 1 < table->ncounters ? ",\n" : "\n", out);
    }
    fputs("  ],\n  \"ranks\": [\n", out);
    for (size_t i = 0; i < table->nrows; i++) {
        json_row(table, &table->rows[i], out);
        fputs(i + 1 < table->nrows ? ",\n" : "\n", out);
    }
    fputs("  ]\n}\n", out);
}
