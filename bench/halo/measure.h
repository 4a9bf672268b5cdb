/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.h - timing of the exchange: calibration, interleaving, checks.
 *
 * One row is one size in one kind of memory. Each mode's measurement is
 * preceded by one of isend/irecv, so that the ratio is taken between
 * neighbours in time and drift of the machine cancels. A measurement is a barrier and many
 * steps; its time per step is the largest of any rank's. The last step of
 * every measurement is checked in full, and a set of steps run at full speed
 * behind it, each by its stamps. A cell whose ghost cells were wrong has no times; the
 * others are measured all the same. Where the repetitions of a cell differ much, something else has
 * kept the processors busy: the cell is doubtful, and its times say little.
 */
#ifndef BENCH_HALO_MEASURE_H
#define BENCH_HALO_MEASURE_H

#include "bench/halo/modes.h"

#define HALO_MAX_REPS 101

struct halo_cell {
    bool ok;
    double us, us_min, us_max; /* per step: median and extremes */
    double ratio;              /* median of the ratios to isend/irecv; NaN for that itself */
    double ref_us;             /* median of the isend/irecv measurements beside it */
    double spread;             /* from the lower to the upper quartile of the ratios, over ratio */
    long steps;                /* per measurement */
    int reps;
    bool wrong;       /* not ok, since ghost cells were wrong */
    char reason[160]; /* when not ok */
};

struct halo_row {
    int kind; /* enum winmem_kind */
    size_t size;
    bool wanted[HALO_MODES];
    struct halo_cell cell[HALO_MODES];
};

/* halo_cell_doubtful says whether the repetitions of a cell that is ok differ too much. */
bool halo_cell_doubtful(const struct halo_cell *c);

struct halo_plan {
    int reps;         /* wanted; fewer where a row would take too long */
    double block_ms;  /* length of a measurement */
    unsigned timeout; /* seconds without progress that mean a hang */
};

/* Collective. Measure the wanted modes of one row within about `seconds`;
 * results are valid on rank 0. */
void halo_measure_row(struct halo *h, const struct halo_plan *plan, double seconds,
                      struct halo_row *row);

#endif
