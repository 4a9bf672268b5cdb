/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compute.h - a computation of known length that touches no memory.
 */
#ifndef BENCH_RMA_COMPUTE_H
#define BENCH_RMA_COMPUTE_H

/* How many rounds of compute() take a nanosecond on this processor now. */
double compute_rate(void);

void compute(long rounds);

#endif
