/*
 * comm_request.c - see comm_request.h.
 *
 * An operation as in comm.c and comm_acc.c, with a request (request.h) that is made before it is
 * issued, since an operation cannot be taken back. No state, no locks.
 */
#include "mpi/comm_request.h"

#include "mpi/argcheck.h"
#include "mpi/comm_acc.h"
#include "mpi/request.h"

int comm_rput(const struct win_rec *rec, const void *oaddr, int64_t ocount, MPI_Datatype otype, int target,
              MPI_Aint disp, int64_t tcount, MPI_Datatype ttype, MPI_Request *request)
{
    struct mpi_request *r = request_new("MPI_Rput");
    struct rma_op op;
    int err;

    rma_op_clear(&op);
    op.oaddr = oaddr;
    op.ocount = (size_t)ocount;
    if (unlikely(r == NULL))
        return op_fail(rec, "MPI_Rput", MRMA_ERR_NO_MEM, &op);
    op.req = &r->req;
    err = args_transfer(rec, &op, &op.otype, ocount, otype, target, disp, tcount, ttype);
    if (likely(err == MRMA_SUCCESS))
        err = rma_put(rec->win, &op);
    return request_issued(r, rec, err, &op, request);
}

int comm_rget(const struct win_rec *rec, void *raddr, int64_t rcount, MPI_Datatype rtype, int target,
              MPI_Aint disp, int64_t tcount, MPI_Datatype ttype, MPI_Request *request)
{
    struct mpi_request *r = request_new("MPI_Rget");
    struct rma_op op;
    int err;

    rma_op_clear(&op);
    op.raddr = raddr;
    op.rcount = (size_t)rcount;
    if (unlikely(r == NULL))
        return op_fail(rec, "MPI_Rget", MRMA_ERR_NO_MEM, &op);
    op.req = &r->req;
    err = args_transfer(rec, &op, &op.rtype, rcount, rtype, target, disp, tcount, ttype);
    if (likely(err == MRMA_SUCCESS))
        err = rma_get(rec->win, &op);
    return request_issued(r, rec, err, &op, request);
}

int comm_raccumulate(const struct win_rec *rec, const void *oaddr, int64_t ocount, MPI_Datatype otype,
                     int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype, MPI_Op mpi_op,
                     MPI_Request *request)
{
    struct mpi_request *r = request_new("MPI_Raccumulate");
    struct rma_op op;
    int err;

    rma_op_clear(&op);
    if (unlikely(r == NULL))
        return op_fail(rec, "MPI_Raccumulate", MRMA_ERR_NO_MEM, &op);
    op.req = &r->req;
    err = comm_accumulate(rec, &op, oaddr, ocount, otype, target, disp, tcount, ttype, mpi_op);
    return request_issued(r, rec, err, &op, request);
}

int comm_rget_accumulate(const struct win_rec *rec, const void *oaddr, int64_t ocount, MPI_Datatype otype,
                         void *raddr, int64_t rcount, MPI_Datatype rtype, int target, MPI_Aint disp,
                         int64_t tcount, MPI_Datatype ttype, MPI_Op mpi_op, MPI_Request *request)
{
    struct mpi_request *r = request_new("MPI_Rget_accumulate");
    struct rma_op op;
    int err;

    rma_op_clear(&op);
    if (unlikely(r == NULL))
        return op_fail(rec, "MPI_Rget_accumulate", MRMA_ERR_NO_MEM, &op);
    op.req = &r->req;
    err = comm_get_accumulate(rec, &op, oaddr, ocount, otype, raddr, rcount, rtype, target, disp, tcount,
                              ttype, mpi_op);
    return request_issued(r, rec, err, &op, request);
}
