/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * results.h - what was measured, printed and written as CSV.
 *
 * A result is named by suite, operation, window kind, synchronization and
 * size. Only rank 0 keeps results.
 */
#ifndef BENCH_COMMON_RESULTS_H
#define BENCH_COMMON_RESULTS_H

#include <stddef.h>
#include <stdio.h>

#include "bench/common/host.h"

struct result {
    const char *suite, *op, *kind, *sync; /* "" where it does not apply; not owned */
    size_t size;
    double ns;       /* median; NaN when it could not be measured */
    double min, max; /* of the repetitions; for passive: 99th percentile as max */
    double line; /* ns that a cache line took one way between the two ranks, before it or behind it,
                  * whichever is more; 0: not known. The distance of processors changes on some
                  * machines */
    double of, bare; /* measured beside an anchor, or beside send and receive: the pair of blocks
                      * with the median ratio of this to that; else 0 */
    char note[160];  /* why NaN, or what else there is to say */
};

struct results {
    struct result *v;
    size_t n, room;
    const struct host *host;
    int nprocs;
    FILE *csv; /* or NULL */
};

/* Writes the CSV heading when csv is not NULL. */
void results_init(struct results *r, const struct host *host, int nprocs, FILE *csv);
void results_free(struct results *r);

/* Copy *one to the end, and to the CSV file. */
void results_add(struct results *r, const struct result *one);

/* Print the results of a suite one a line, from the given one on. */
void results_lines(const struct results *r, const char *suite, size_t from);

/* Print the results of a suite and operation in one kind of window: sizes
 * down, synchronization across; with op NULL the operations across. */
void results_table(const struct results *r, const char *suite, const char *op, const char *kind);

#endif
