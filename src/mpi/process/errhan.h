/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errhan.h - turns an internal error into an MPI error class, and calls an error handler.
 *
 * Each function writes the error in two lines, calls the error handler that MPI 4.1, 9.3 names and,
 * if that returns, returns the code that the entry point returns, whose text MPI_Error_string gives
 * (error_code.h). None of them is called on a path that succeeds.
 *
 * An error whose handler ends the job is written at error level, behind what lower layers have said
 * of its cause. The program handles any other error: that is written at level info only.
 */
#ifndef MRMA_MPI_PROCESS_ERRHAN_H
#define MRMA_MPI_PROCESS_ERRHAN_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

#include "mpi/process/win_table.h"
#include "rma/rma.h"

/* Not an error: the target is MPI_PROC_NULL and there is nothing to do. */
enum { OP_NOTHING = -1 };

/* No rank that a program could give by mistake. */
enum { NO_TARGET = INT32_MIN };

/* request_fail reports that the operation of a request, which func has made, has failed with err.
 * No handler is called: the wait will return the error. */
void request_fail(const char *func, int err) __attribute__((cold));

/* err_class returns the MPI error class of an enum mrma_err. */
int err_class(int err);

/* win_fail is for an error of a window call without a target: the window's error handler is called.
 */
int win_fail(const struct win_rec *rec, const char *func, int err) __attribute__((cold));

/* win_maker returns the name of the call that has made the window, a constant. */
const char *win_maker(const struct win_rec *rec);

/* win_fail_target is for an error of a call that concerns one target, such as a lock: the window's
 * error handler is called. target need not be a rank of the window. */
int win_fail_target(const struct win_rec *rec, const char *func, int err, int target)
    __attribute__((cold));

/* sync_fail is for an error of a synchronization call: it is win_fail_target, or win_fail for
 * NO_TARGET, and finds out what is wrong if no layer has said it. */
int sync_fail(const struct win_rec *rec, const char *func, enum rma_call call, int err, int target)
    __attribute__((cold));

/* op_fail is for an error of a communication call: the window's error handler is called. It finds
 * out from op what is wrong if no layer has said it. OP_NOTHING is no error and gives
 * MPI_SUCCESS. */
int op_fail(const struct win_rec *rec, const char *func, int err, const struct rma_op *op)
    __attribute__((cold));

/* comm_fail is for an error in the creation of a window: the communicator's error handler is
 * called. detail is one line without a full stop, or "". */
int comm_fail(MPI_Comm comm, const char *func, int err, const char *detail) __attribute__((cold));

/* When comm_fail_as writes an error at error level. */
enum report_when { REPORT_IF_FATAL, REPORT_ALWAYS, REPORT_NEVER };

/* comm_fail_as is comm_fail that also says when the line is written at error level: only if the
 * handler ends the job, always, or never; otherwise it is written at level info. */
int comm_fail_as(MPI_Comm comm, enum report_when when, const char *func, int err,
                 const char *detail) __attribute__((cold));

/* plain_fail is for an error that concerns no window and no communicator (MPI_Alloc_mem, requests):
 * the handler of MPI_COMM_WORLD is called, as both hosts do in that case. detail is as in
 * comm_fail. */
int plain_fail(const char *func, int err, const char *detail) __attribute__((cold));

#endif
