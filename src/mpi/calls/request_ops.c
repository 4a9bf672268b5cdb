/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_ops.c - see request_ops.h.
 *
 * The operations are those of put_get.c and accumulate.c, with a request (request.h) that is made
 * before the operation is issued, since an operation cannot be taken back. No state, no locks.
 *
 * Neighbours: transfer.h and accumulate.h, the operations; request.c, the requests.
 */
#include "mpi/calls/request_ops.h"

#include "mpi/calls/argcheck.h"
#include "mpi/calls/accumulate.h"
#include "mpi/calls/transfer.h"
#include "mpi/requests/request.h"

/* request_for makes a cleared operation and its request, *out, which the application gets at the
 * address place. MRMA_ERR_ARG (place is NULL), MRMA_ERR_NO_MEM. */
static int request_for(struct rma_op *op, const char *func, const MPI_Request *place,
                       struct mpi_request **out)
{
    const int err = args_place(place, "request");

    rma_op_clear(op);
    if (unlikely(err != MRMA_SUCCESS))
        return err;
    *out = request_new(func);
    if (unlikely(*out == NULL))
        return MRMA_ERR_NO_MEM;
    op->req = &(*out)->req;
    return MRMA_SUCCESS;
}

int comm_rput(const struct win_rec *rec, const void *oaddr, int64_t ocount, MPI_Datatype otype,
              int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype, MPI_Request *request)
{
    struct rma_op op;
    struct mpi_request *r;
    int err = request_for(&op, "MPI_Rput", request, &r);

    if (unlikely(err != MRMA_SUCCESS))
        return op_fail(rec, "MPI_Rput", err, &op);
    err = comm_put(rec, &op, oaddr, ocount, otype, target, disp, tcount, ttype);
    return request_issued(r, rec, err, &op, request);
}

int comm_rget(const struct win_rec *rec, void *raddr, int64_t rcount, MPI_Datatype rtype,
              int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype, MPI_Request *request)
{
    struct rma_op op;
    struct mpi_request *r;
    int err = request_for(&op, "MPI_Rget", request, &r);

    if (unlikely(err != MRMA_SUCCESS))
        return op_fail(rec, "MPI_Rget", err, &op);
    err = comm_get(rec, &op, raddr, rcount, rtype, target, disp, tcount, ttype);
    return request_issued(r, rec, err, &op, request);
}

int comm_raccumulate(const struct win_rec *rec, const void *oaddr, int64_t ocount,
                     MPI_Datatype otype, int target, MPI_Aint disp, int64_t tcount,
                     MPI_Datatype ttype, MPI_Op mpi_op, MPI_Request *request)
{
    struct rma_op op;
    struct mpi_request *r;
    int err = request_for(&op, "MPI_Raccumulate", request, &r);

    if (unlikely(err != MRMA_SUCCESS))
        return op_fail(rec, "MPI_Raccumulate", err, &op);
    err = comm_accumulate(rec, &op, oaddr, ocount, otype, target, disp, tcount, ttype, mpi_op);
    return request_issued(r, rec, err, &op, request);
}

int comm_rget_accumulate(const struct win_rec *rec, const void *oaddr, int64_t ocount,
                         MPI_Datatype otype, void *raddr, int64_t rcount, MPI_Datatype rtype,
                         int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype,
                         MPI_Op mpi_op, MPI_Request *request)
{
    struct rma_op op;
    struct mpi_request *r;
    int err = request_for(&op, "MPI_Rget_accumulate", request, &r);

    if (unlikely(err != MRMA_SUCCESS))
        return op_fail(rec, "MPI_Rget_accumulate", err, &op);
    err = comm_get_accumulate(rec, &op, oaddr, ocount, otype, raddr, rcount, rtype, target, disp,
                              tcount, ttype, mpi_op);
    return request_issued(r, rec, err, &op, request);
}
