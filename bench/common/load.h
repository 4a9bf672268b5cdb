/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load.h - how busy the machine is with other work than this job.
 *
 * The average load of the last minute counts the run before this one as well, so what processors do
 * is looked at while all ranks sleep. Reads Linux's /proc/stat, whose times are of all processors
 * of the machine, those outside of a container included.
 */
#ifndef BENCH_COMMON_LOAD_H
#define BENCH_COMMON_LOAD_H

#include <mpi.h>
#include <stdbool.h>

/* load_foreign returns how many processors other work keeps busy, as a mean of about half a second
 * in which all ranks of comm sleep; NaN where the system does not tell. Collective; the result is
 * valid on rank 0. */
double load_foreign(MPI_Comm comm);

/* load_disturbs says whether so much other work makes measurements doubtful. */
bool load_disturbs(double busy);

#endif
