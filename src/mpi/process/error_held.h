/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_held.h - what lower layers have said of the error that the present call of this thread will
 * return; errhan.h reports it.
 */
#ifndef MRMA_MPI_PROCESS_ERROR_HELD_H
#define MRMA_MPI_PROCESS_ERROR_HELD_H

#include <stdbool.h>

#include "base/fault.h"

/* error_hold is the hold of the engine's log (log.h): it keeps the text of log_fail, or the fault
 * with its text, until the present call of this thread reports its error. The first fault is kept.
 * Returns false for the agent's thread, which has no such call. */
bool error_hold(int fault, const char *text) __attribute__((cold));

/* error_forget drops what error_hold has kept for the present call. */
void error_forget(void) __attribute__((cold));

/* error_fault returns the fault of err that error_hold has kept, or FAULT_NONE. */
enum fault error_fault(int err) __attribute__((cold));

/* error_is_named returns whether error_hold has kept the reason for which the call returns err. */
bool error_is_named(int err) __attribute__((cold));

/* error_text returns the text of the fault that error_hold has kept; it means nothing where there
 * is no such fault. */
const char *error_text(void) __attribute__((cold));

/* error_causes returns what error_hold has kept beside a fault, a line each, which the caller may
 * cut up. "": nothing. */
char *error_causes(void) __attribute__((cold));

#endif
