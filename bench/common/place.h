/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.h - where the ranks run: processors, pinning, how to wait.
 *
 * The benchmarks run on one node; a rank's place on it is its rank in
 * MPI_COMM_WORLD.
 */
#ifndef BENCH_COMMON_PLACE_H
#define BENCH_COMMON_PLACE_H

#include <stdbool.h>

struct place {
    int cpus;            /* processors on line */
    bool pinned;         /* this run pinned each rank to one processor */
    bool oversubscribed; /* more ranks than processors */
    char text[96];       /* for the heading, e.g. "ranks pinned" */
};

/* Fill *place; with pin, pin rank to processor rank modulo cpus if there are
 * enough of them. */
void place_init(struct place *place, int rank, int nprocs, bool pin);

/* Pin the caller to the i-th processor, or give it all of them again. Returns
 * 0 or -1 with errno. */
int place_pin_to(int i);
int place_unpin(void);

/* One turn of a waiting loop: yields where another rank may need the
 * processor. */
void place_relax(bool oversubscribed);

#endif
