/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errhan.h - from an internal error to an MPI error class and an error handler.
 *
 * Each function tells the error in one line, calls the error handler that MPI 4.1, 9.3 names and,
 * if that returns, gives back the class for the entry point to return. None of them is on a path
 * that succeeds.
 *
 * An error whose handler ends the job is written at error level, behind what lower layers said of
 * its cause. Any other is the program's to handle: it is written at level info only.
 */
#ifndef MRMA_MPI_PROCESS_ERRHAN_H
#define MRMA_MPI_PROCESS_ERRHAN_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

#include "mpi/process/win_table.h"

struct rma_op;

/* Not an error: the target is MPI_PROC_NULL and there is nothing to do. */
enum { OP_NOTHING = -1 };

/* The hold of the engine's log (base/log.h): keeps what log_fail says until the call of this thread
 * tells its error. False for the agent's thread, which has no such call. */
bool error_hold(const char *text) __attribute__((cold));

/* The operation of a request has failed; its wait will return that. */
void request_fail(const char *func, int err) __attribute__((cold));

/* The MPI error class of an enum mrma_err. */
int err_class(int err);

/* A window call without a target. Window's error handler. */
int win_fail(const struct win_rec *rec, const char *func, int err) __attribute__((cold));

/* Synchronization with one target. */
int win_fail_target(const struct win_rec *rec, const char *func, int err, int target)
    __attribute__((cold));

/* A communication call; what op holds of target, displacement and length is
 * named. OP_NOTHING gives MPI_SUCCESS. */
int op_fail(const struct win_rec *rec, const char *func, int err, const struct rma_op *op)
    __attribute__((cold));

/* Creation of a window: the communicator's error handler. detail: one line
 * without full stop, or "". */
int comm_fail(MPI_Comm comm, const char *func, int err, const char *detail) __attribute__((cold));

/* The same, written also where the program handles the error, or only at level info. */
enum told { TOLD_IF_FATAL, TOLD_ALWAYS, TOLD_NEVER };
int comm_fail_as(MPI_Comm comm, enum told told, const char *func, int err, const char *detail)
    __attribute__((cold));

/* No window and no communicator is concerned (MPI_Alloc_mem, requests): the
 * handler of MPI_COMM_WORLD, which both hosts take in that case. */
int plain_fail(const char *func, int err, const char *detail) __attribute__((cold));

#endif
