/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool_dir.h - the directory of a job's files (spool.h): which names in it belong to the trace.
 */
#ifndef MRMA_TRACE_SPOOL_DIR_H
#define MRMA_TRACE_SPOOL_DIR_H

#define SPOOL_DIR "spool"

/* spool_dir_clear removes the files of an earlier job: everything named RANK-THREAD in the
 * directory path, and nothing else. Files that can't be removed stay. */
void spool_dir_clear(const char *path);

#endif
