/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load.c - see load.h.
 */
#define _GNU_SOURCE 1
#include "bench/common/load.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "bench/common/clock.h"

#define LOOKED_AT_NS 500000000L
#define SETTLE_NS 100000000L /* until the processes of the launcher have gone to sleep as well */
#define DISTURBING 0.3       /* processors */

/* Ticks in which processors did something, since the machine was started. */
static double busy_ticks(void)
{
    FILE *file = fopen("/proc/stat", "r");
    double user, nice, system, idle, wait, irq, softirq, steal = 0;

    if (!file)
        return NAN;
    const int n = fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle,
                         &wait, &irq, &softirq, &steal);

    fclose(file);
    return n < 7 ? NAN : user + nice + system + irq + softirq + steal;
}

static void sleep_ns(long ns)
{
    struct timespec left = {ns / 1000000000L, ns % 1000000000L};

    while (nanosleep(&left, &left)) /* a signal has interrupted it */
        ;
}

double load_foreign(MPI_Comm comm)
{
    MPI_Barrier(comm);
    sleep_ns(SETTLE_NS);
    const double start = clock_ns(), before = busy_ticks();

    sleep_ns(LOOKED_AT_NS);
    const double ticks = busy_ticks() - before, seconds = (clock_ns() - start) / 1e9;

    /* Nobody goes on, and is counted, before rank 0 has looked. */
    sleep_ns(SETTLE_NS);
    MPI_Barrier(comm);
    return ticks / (double)sysconf(_SC_CLK_TCK) / seconds;
}

bool load_disturbs(double busy)
{
    return busy > DISTURBING;
}
