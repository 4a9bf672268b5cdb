/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transfer.h - what all forms of a put and of a get share, with or without a request or a
 * notification (MPI 4.1, 12.3.1, 12.3.2 and 12.3.5).
 *
 * rec is a window of this library. op is cleared except for req and notify when the function is
 * called, and afterwards describes the operation as far as it was checked, for messages. Both
 * return MRMA_SUCCESS, OP_NOTHING or an error.
 */
#ifndef MRMA_MPI_CALLS_TRANSFER_H
#define MRMA_MPI_CALLS_TRANSFER_H

#include <mpi.h>

#include "mpi/calls/argcheck.h"

/* comm_put checks the arguments of a put, of which op->req may be set, and hands it down. */
static inline int comm_put(const struct win_rec *rec, struct rma_op *op, const void *oaddr,
                           int64_t ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                           int64_t tcount, MPI_Datatype ttype)
{
    int err;

    op->oaddr = oaddr;
    op->ocount = (size_t)ocount;
    err = args_transfer(rec, op, oaddr, &op->otype, ocount, otype, target, disp, tcount, ttype);
    return likely(err == MRMA_SUCCESS) ? rma_put(rec->win, op) : err;
}

/* comm_get checks the arguments of a get, of which op->req may be set, and hands it down. */
static inline int comm_get(const struct win_rec *rec, struct rma_op *op, void *raddr,
                           int64_t rcount, MPI_Datatype rtype, int target, MPI_Aint disp,
                           int64_t tcount, MPI_Datatype ttype)
{
    int err;

    op->raddr = raddr;
    op->rcount = (size_t)rcount;
    err = args_transfer(rec, op, raddr, &op->rtype, rcount, rtype, target, disp, tcount, ttype);
    return likely(err == MRMA_SUCCESS) ? rma_get(rec->win, op) : err;
}

#endif
