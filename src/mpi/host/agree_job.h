/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree_job.h - a communicator of all processes of a job, and the end of a job.
 *
 * A variable that asks for something of the whole job, a trace or statistics, needs such a
 * communicator. A process cannot know whether the variable is set for the others, and whether they
 * have this library.
 */
#ifndef MRMA_MPI_HOST_AGREE_JOB_H
#define MRMA_MPI_HOST_AGREE_JOB_H

#include <mpi.h>

struct log;

enum job_use { JOB_TRACE, JOB_STATS };

/* job_meet is called right after the host's MPI_Init by each process for which the variable is set.
 * *job becomes a copy of MPI_COMM_WORLD, which the caller frees; MPI_COMM_NULL if the host refuses
 * it. It waits for the others: if not all processes come here within seconds, those that have end
 * the job with a message that names the variable. */
void job_meet(enum job_use use, const struct log *log, MPI_Comm *job);

/* job_let_messages_out waits a moment. It is called between the last message and the call that ends
 * the job: a launcher that hears of the end may drop what a process has written just before, as
 * Hydra does on a loaded machine. */
void job_let_messages_out(void);

#endif
