/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archive_print.h - archives that mpi-rma-trace makes of a test's job, as otf2-print prints them,
 * which is not ours; a test that needs it is skipped where it is not. All failures end the test.
 */
#ifndef MRMA_TRACE_TEST_ARCHIVE_PRINT_H
#define MRMA_TRACE_TEST_ARCHIVE_PRINT_H

#include "spool_make.h"

/* archive_make writes the job's files and makes the archive of them. */
void archive_make(struct made_job *job);

/* archive_print returns the archive that was made of a job as text, which the caller frees. */
char *archive_print(struct made_job *job);

/* archive_lines returns how often a line of that text begins with this word and a blank, and
 * contains the part. */
int archive_lines(const char *output, const char *word, const char *part);

/* archive_assert_well_formed looks at that text: each location's times never go back, and its Leave
 * events match its Enter events. */
void archive_assert_well_formed(const char *output);

/* archive_make_and_print makes the archive, and returns its text, which is well formed; the caller
 * frees it. */
char *archive_make_and_print(struct made_job *job);

#endif
