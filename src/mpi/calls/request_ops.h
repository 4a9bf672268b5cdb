/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_ops.h - the request-based operations (MPI 4.1, 12.3.5), whose int and large-count forms
 * differ only in the type of their counts.
 *
 * rec is a window of this library. Each function returns what the entry point returns; *request is
 * set if there is no error.
 */
#ifndef MRMA_MPI_CALLS_REQUEST_OPS_H
#define MRMA_MPI_CALLS_REQUEST_OPS_H

#include <mpi.h>

#include <stdint.h>

#include "mpi/process/win_table.h"

/* comm_rput does MPI_Rput. */
int comm_rput(const struct win_rec *rec, const void *oaddr, int64_t ocount, MPI_Datatype otype,
              int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype, MPI_Request *request);

/* comm_rget does MPI_Rget. */
int comm_rget(const struct win_rec *rec, void *raddr, int64_t rcount, MPI_Datatype rtype,
              int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype, MPI_Request *request);

/* comm_raccumulate does MPI_Raccumulate. */
int comm_raccumulate(const struct win_rec *rec, const void *oaddr, int64_t ocount,
                     MPI_Datatype otype, int target, MPI_Aint disp, int64_t tcount,
                     MPI_Datatype ttype, MPI_Op mpi_op, MPI_Request *request);

/* comm_rget_accumulate does MPI_Rget_accumulate. */
int comm_rget_accumulate(const struct win_rec *rec, const void *oaddr, int64_t ocount,
                         MPI_Datatype otype, void *raddr, int64_t rcount, MPI_Datatype rtype,
                         int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype,
                         MPI_Op mpi_op, MPI_Request *request);

#endif
