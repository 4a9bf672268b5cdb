/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter_table.h - counters of several processes, as a table to be read, as CSV, and as JSON.
 *
 * Pure functions of their arguments: no state, no locks. Errors of writing stay in the stream,
 * where the caller looks for them.
 */
#ifndef MRMA_BASE_COUNTER_TABLE_H
#define MRMA_BASE_COUNTER_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct counter {
    const char *name;    /* name of its row or column; ends with the unit unless it counts things */
    const char *unit;    /* "", "bytes" or "ns" */
    const char *meaning; /* half a sentence */
};

/* One process. */
struct counter_row {
    int rank;
    const char *host;
    const char *routes;  /* routes of its operations; "" if it has no targets */
    const char *network; /* which network it has opened; "" if none */
    const uint64_t *values;
};

/* All that the table is made of; nothing of it is owned. */
struct counter_table {
    const char *title;
    const char *version;
    const struct counter *counters;
    size_t ncounters;
    const struct counter_row *rows; /* by rank, at least one */
    size_t nrows;
    const int *missing; /* ranks that have no row */
    size_t nmissing;
};

/* counter_table_text writes the title, then a row for each counter that is not 0 everywhere: its
 * sum, least and most, and the lowest rank that has the most. Then the routes, once for all
 * processes that have the same ones, and which network the first process that has one uses. */
void counter_table_text(const struct counter_table *table, FILE *out);

/* counter_table_csv writes a row for each process with a column for each counter; rank and host
 * come first, routes and network are last. */
void counter_table_csv(const struct counter_table *table, FILE *out);

/* counter_table_json writes one object: version, processes, missing, counters with their sums, and
 * ranks, an array with an object for each process that has the columns of the CSV form. */
void counter_table_json(const struct counter_table *table, FILE *out);

#endif
