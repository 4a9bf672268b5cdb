/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print_stats.h - the tables of MPIRMA_STATS: what the engines of a job have counted.
 *
 * Processes that begin by MPI_Init have one table for their MPI_COMM_WORLD, which its rank 0 writes
 * in MPI_Finalize. A process without such a job (since it uses only sessions, or has loaded this
 * library after MPI_Init) writes a table of its own, when its engine ends.
 */
#ifndef MRMA_MPI_PROCESS_PRINT_STATS_H
#define MRMA_MPI_PROCESS_PRINT_STATS_H

struct conf;
struct engine;

/* stats_begin_job is called after the host's MPI_Init. Collective over MPI_COMM_WORLD where
 * MPIRMA_STATS is set, which it must then be for all processes (agree_job.h); else nothing is
 * done. */
void stats_begin_job(const struct conf *conf);

/* stats_take takes what the engine has counted, if MPIRMA_STATS is set; a process without a job
 * writes its table now. Called when the engine is about to end and nothing uses it any more, while
 * the communicator of own_comm.h is still there. */
void stats_take(struct engine *e);

/* stats_end_job is called in MPI_Finalize, when no thread is in a call any more and the engine has
 * ended. Rank 0 waits for the counts of the others and writes the table, with a message where that
 * takes long. It does without the counts of processes that have ended, and of processes from which
 * nothing comes for a minute. */
void stats_end_job(void);

#endif
