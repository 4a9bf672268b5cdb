/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transfer.h - what the int, the large-count and the request forms of MPI_Put and MPI_Get
 * share (MPI 4.1, 12.3.1, 12.3.2 and 12.3.5).
 *
 * rec is a window of ours. comm_put and comm_get fill in the operation, check the arguments and
 * hand it down: op is cleared but for req when it comes in, and describes the operation as far as
 * it got, for messages. They return MRMA_SUCCESS, OP_NOTHING or an error; comm_put_whole and
 * comm_get_whole, which have the operation to themselves, what the entry point returns.
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

/* comm_put_whole does all of MPI_Put. */
static inline int comm_put_whole(const struct win_rec *rec, const void *oaddr, int64_t ocount,
                                 MPI_Datatype otype, int target, MPI_Aint disp, int64_t tcount,
                                 MPI_Datatype ttype)
{
    struct rma_op op;
    int err;

    rma_op_clear(&op);
    err = comm_put(rec, &op, oaddr, ocount, otype, target, disp, tcount, ttype);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Put", err, &op);
}

/* comm_get_whole does all of MPI_Get. */
static inline int comm_get_whole(const struct win_rec *rec, void *raddr, int64_t rcount,
                                 MPI_Datatype rtype, int target, MPI_Aint disp, int64_t tcount,
                                 MPI_Datatype ttype)
{
    struct rma_op op;
    int err;

    rma_op_clear(&op);
    err = comm_get(rec, &op, raddr, rcount, rtype, target, disp, tcount, ttype);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Get", err, &op);
}

#endif
