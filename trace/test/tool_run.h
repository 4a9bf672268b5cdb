/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tool_run.h - runs mpi-rma-trace for its tests, and reads what it says. All failures end the test.
 */
#ifndef MRMA_TRACE_TEST_TOOL_RUN_H
#define MRMA_TRACE_TEST_TOOL_RUN_H

#include "spool_make.h"

/* Output of a shell command, in memory that the caller frees, its exit code in *status. */
char *run_command(const char *command, int *status);

/* Runs mpi-rma-trace with these arguments ("%s" is the job's directory); the output has standard
 * error too. */
char *run_tool(struct made_job *job, const char *arguments, int *status);

/* Writes the job's files and runs the tool, which must succeed. */
char *run_report(struct made_job *job, const char *arguments);

/* The number called name behind the begin of that object in the output of --json. */
double json_number(const char *json, const char *object, const char *name);

#endif
