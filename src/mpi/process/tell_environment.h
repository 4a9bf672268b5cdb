/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tell_environment.h - tells what is wrong with the MPIRMA_* variables, once for a job, and where
 * MPIRMA_LOG asks for information that the library is in use.
 *
 * Rank 0 of MPI_COMM_WORLD tells this for its own environment, which launchers make the same for
 * all processes. It does so when MPI has been initialised, since it may never create a window
 * itself.
 */
#ifndef MRMA_MPI_PROCESS_TELL_ENVIRONMENT_H
#define MRMA_MPI_PROCESS_TELL_ENVIRONMENT_H

#include <stdbool.h>

#include "base/log.h"

/* environment_tell looks, in the first call of a process only, for variables with a value that is
 * not understood and for names that no variable has, and writes to log what it finds; at level info
 * also the version, the host and the paths. first: this process speaks for the job; nothing is
 * written if it is false. MPI has been initialised, or is about to be. Any thread. */
void environment_tell(const struct log *log, bool first);

/* environment_preloads returns whether this library, or the one that shares blocks of malloc, is
 * among the files that are named in files, the value of LD_PRELOAD. Any thread. */
bool environment_preloads(const char *files);

#endif
