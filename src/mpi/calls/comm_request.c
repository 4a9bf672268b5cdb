/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_request.c - see comm_request.h.
 *
 * An operation as in comm.c and comm_acc.c, with a request (request.h) that is made before it is
 * issued, since an operation cannot be taken back. No state, no locks.
 *
 * Neighbours: comm_transfer.h and comm_acc.h, the operations; request.c, the requests.
 */
#include "mpi/calls/comm_request.h"

#include "mpi/calls/argcheck.h"
#include "mpi/calls/comm_acc.h"
#include "mpi/calls/comm_transfer.h"
#include "mpi/requests/request.h"

/* A cleared operation and its request, or NULL (MRMA_ERR_NO_MEM). */
static struct mpi_request *request_for(struct rma_op *op, const char *func)
{
    struct mpi_request *r = request_new(func);

    rma_op_clear(op);
    if (likely(r != NULL))
        op->req = &r->req;
    return r;
}

int comm_rput(const struct win_rec *rec, const void *oaddr, int64_t ocount, MPI_Datatype otype,
              int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype, MPI_Request *request)
{
    struct rma_op op;
    struct mpi_request *r = request_for(&op, "MPI_Rput");
    int err;

    if (unlikely(r == NULL))
        return op_fail(rec, "MPI_Rput", MRMA_ERR_NO_MEM, &op);
    err = comm_put(rec, &op, oaddr, ocount, otype, target, disp, tcount, ttype);
    return request_issued(r, rec, err, &op, request);
}

int comm_rget(const struct win_rec *rec, void *raddr, int64_t rcount, MPI_Datatype rtype,
              int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype, MPI_Request *request)
{
    struct rma_op op;
    struct mpi_request *r = request_for(&op, "MPI_Rget");
    int err;

    if (unlikely(r == NULL))
        return op_fail(rec, "MPI_Rget", MRMA_ERR_NO_MEM, &op);
    err = comm_get(rec, &op, raddr, rcount, rtype, target, disp, tcount, ttype);
    return request_issued(r, rec, err, &op, request);
}

int comm_raccumulate(const struct win_rec *rec, const void *oaddr, int64_t ocount,
                     MPI_Datatype otype, int target, MPI_Aint disp, int64_t tcount,
                     MPI_Datatype ttype, MPI_Op mpi_op, MPI_Request *request)
{
    struct rma_op op;
    struct mpi_request *r = request_for(&op, "MPI_Raccumulate");
    int err;

    if (unlikely(r == NULL))
        return op_fail(rec, "MPI_Raccumulate", MRMA_ERR_NO_MEM, &op);
    err = comm_accumulate(rec, &op, oaddr, ocount, otype, target, disp, tcount, ttype, mpi_op);
    return request_issued(r, rec, err, &op, request);
}

int comm_rget_accumulate(const struct win_rec *rec, const void *oaddr, int64_t ocount,
                         MPI_Datatype otype, void *raddr, int64_t rcount, MPI_Datatype rtype,
                         int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype,
                         MPI_Op mpi_op, MPI_Request *request)
{
    struct rma_op op;
    struct mpi_request *r = request_for(&op, "MPI_Rget_accumulate");
    int err;

    if (unlikely(r == NULL))
        return op_fail(rec, "MPI_Rget_accumulate", MRMA_ERR_NO_MEM, &op);
    err = comm_get_accumulate(rec, &op, oaddr, ocount, otype, raddr, rcount, rtype, target, disp,
                              tcount, ttype, mpi_op);
    return request_issued(r, rec, err, &op, request);
}
