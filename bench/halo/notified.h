/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.h - the mode of notified puts, which need the functions of mpi-rma.h: looked up when it
 * begins, since the program runs on the host alone, too.
 */
#ifndef BENCH_HALO_NOTIFIED_H
#define BENCH_HALO_NOTIFIED_H

#include "bench/halo/grid.h"

/* notified_begin finds the functions and opens an epoch of lock_all. MPI_ERR_UNSUPPORTED_OPERATION:
 * there is no libmpi-rma, or it is disabled. As the functions of struct halo_mode. */
int notified_begin(struct halo *h);

/* notified_step puts each strip with a notification, and waits for those of all sides. */
int notified_step(struct halo *h);

/* notified_end closes the epoch. */
int notified_end(struct halo *h);

#endif
