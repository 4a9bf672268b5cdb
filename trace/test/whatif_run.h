/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whatif_run.h - what mpi-rma-trace says that changes save, for its tests. All failures end the
 * test.
 */
#ifndef MRMA_TRACE_TEST_WHATIF_RUN_H
#define MRMA_TRACE_TEST_WHATIF_RUN_H

#include "spool_make.h"

#define WORK 1000.0 /* us */

/* whatif_saves returns how much the best change of a kind saves, us; 0: there is none. */
double whatif_saves(const char *json, const char *kind);

/* assert_near_us: both are the same but for a twentieth. */
void assert_near_us(const char *what, double seen, double expected);

/* whatif_replayed returns the report on a job, which was replayed as it was; the caller frees it.
 */
char *whatif_replayed(struct made_job *job);

#endif
