/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accumulate.h - what the int and the large-count forms of accumulates share.
 *
 * rec is a window of this library. Each function returns MRMA_SUCCESS, OP_NOTHING or an error. op
 * is cleared except for req when the function is called, and afterwards describes the operation as
 * far as it was checked, for messages.
 */
#ifndef MRMA_MPI_CALLS_ACCUMULATE_H
#define MRMA_MPI_CALLS_ACCUMULATE_H

#include <mpi.h>

#include "mpi/calls/argcheck.h"

/* comm_accumulate checks the arguments of an accumulate (MPI 4.1, 12.3.4.1) and hands it down. */
static inline int comm_accumulate(const struct win_rec *rec, struct rma_op *op, const void *oaddr,
                                  int64_t ocount, MPI_Datatype otype, int target, MPI_Aint disp,
                                  int64_t tcount, MPI_Datatype ttype, MPI_Op mpi_op)
{
    int err;

    op->oaddr = oaddr;
    op->ocount = (size_t)ocount;
    err = args_transfer(rec, op, oaddr, &op->otype, ocount, otype, target, disp, tcount, ttype);
    if (likely(err == MRMA_SUCCESS))
        err = args_accumulate(op, mpi_op);
    return likely(err == MRMA_SUCCESS) ? rma_accumulate(rec->win, op) : err;
}

/* comm_get_accumulate checks the arguments of a get-accumulate (MPI 4.1, 12.3.4.2) and hands it
 * down. With MPI_NO_OP the origin's three arguments mean nothing and are not looked at. */
static inline int comm_get_accumulate(const struct win_rec *rec, struct rma_op *op,
                                      const void *oaddr, int64_t ocount, MPI_Datatype otype,
                                      void *raddr, int64_t rcount, MPI_Datatype rtype, int target,
                                      MPI_Aint disp, int64_t tcount, MPI_Datatype ttype,
                                      MPI_Op mpi_op)
{
    bool origin = mpi_op != MPI_NO_OP;
    int64_t counts = rcount | tcount | (origin ? ocount : 0);
    int err;

    op->raddr = raddr;
    op->rcount = (size_t)rcount;
    op->ocount = origin ? (size_t)ocount : 0;
    err = args_target(rec, op, "result", counts, target, disp, tcount, ttype);
    if (unlikely(err != MRMA_SUCCESS))
        return err;
    op->rtype = rtype == ttype ? op->ttype : dtype_lookup(mpi_state.types, rtype, &err);
    if (unlikely(err != MRMA_SUCCESS))
        return args_bad_type("result_datatype", rtype, err);
    if (origin) {
        op->oaddr = oaddr;
        op->otype = otype == ttype ? op->ttype : dtype_lookup(mpi_state.types, otype, &err);
        if (unlikely(err != MRMA_SUCCESS))
            return args_bad_type("origin_datatype", otype, err);
    }
    err = args_accumulate(op, mpi_op);
    if (likely(err == MRMA_SUCCESS))
        err = args_buffer(raddr, op->rtype, op->rcount, "result_addr");
    if (likely(err == MRMA_SUCCESS) && origin)
        err = args_buffer(oaddr, op->otype, op->ocount, "origin_addr");
    return likely(err == MRMA_SUCCESS) ? rma_get_accumulate(rec->win, op) : err;
}

#endif
