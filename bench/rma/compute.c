/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compute.c - see compute.h. Each round needs the result of the one before, so that the time does
 * not depend on what else the processor could do meanwhile.
 */
#include "bench/rma/compute.h"

#include "bench/common/clock.h"

#define TRIALS 5
#define TRIAL_ROUNDS 100000

void compute(long rounds)
{
    double x = 1;

    for (long i = 0; i < rounds; i++) {
        x = x * 0.999999 + 1e-6;
        __asm__ volatile("" : "+x"(x)); /* the compiler shall not know the result */
    }
}

double compute_rate(void)
{
    double best = 0;

    for (int i = 0; i < TRIALS; i++) {
        const double start = clock_ns();

        compute(TRIAL_ROUNDS);
        const double rate = TRIAL_ROUNDS / (clock_ns() - start);

        best = rate > best ? rate : best;
    }
    return best;
}
