/*
 * atomic.c - MPI_Fetch_and_op and MPI_Compare_and_swap (MPI 4.1, 12.3.4.3 and
 * 12.3.4.4): one element of a predefined type.
 *
 * Errors as in comm_acc.c; a derived type is MPI_ERR_TYPE, and so is a type that
 * compare-and-swap does not take (floating point, complex, pairs, characters).
 * No state, no locks.
 */
#include <mpi.h>

#include "mpi/argcheck.h"
#include "mpi/export.h"
#include "mpi/host.h"

/* With MPI_NO_OP the origin's buffer is not looked at. */
static inline int fetch_and_op(struct win_rec *rec, struct rma_op *op, MPI_Datatype type, int target,
                               MPI_Aint disp, MPI_Op mpi_op)
{
    int err = args_target(rec, op, 0, target, disp, 1, type);

    if (unlikely(err != MRMA_SUCCESS))
        return err;
    op->rtype = op->ttype;
    op->otype = op->ttype;
    err = args_predefined(type);
    if (likely(err == MRMA_SUCCESS))
        err = args_accumulate(op, mpi_op);
    return likely(err == MRMA_SUCCESS) ? rma_get_accumulate(rec->win, op) : err;
}

MRMA_PUBLIC int PMPI_Fetch_and_op(const void *oaddr, void *raddr, MPI_Datatype type, int target,
                                  MPI_Aint disp, MPI_Op op, MPI_Win win)
{
    struct win_rec *rec = win_lookup(win);
    struct rma_op what = { .oaddr = oaddr, .ocount = 1, .raddr = raddr, .rcount = 1 };
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Fetch_and_op(oaddr, raddr, type, target, disp, op, win);
    err = fetch_and_op(rec, &what, type, target, disp, op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Fetch_and_op", err, &what);
}
MRMA_EXPORT_MPI(Fetch_and_op);

static inline int compare_and_swap(struct win_rec *rec, struct rma_op *op, MPI_Datatype type, int target,
                                   MPI_Aint disp)
{
    int err = args_target(rec, op, 0, target, disp, 1, type);

    if (unlikely(err != MRMA_SUCCESS))
        return err;
    op->rtype = op->ttype;
    op->otype = op->ttype;
    err = args_predefined(type);
    if (unlikely(err != MRMA_SUCCESS))
        return err;
    return likely(args_cas_type(op->ttype)) ? rma_compare_and_swap(rec->win, op) : MRMA_ERR_TYPE;
}

MRMA_PUBLIC int PMPI_Compare_and_swap(const void *oaddr, const void *caddr, void *raddr, MPI_Datatype type,
                                      int target, MPI_Aint disp, MPI_Win win)
{
    struct win_rec *rec = win_lookup(win);
    struct rma_op what = { .oaddr = oaddr, .ocount = 1, .raddr = raddr, .rcount = 1, .caddr = caddr };
    int err;

    if (unlikely(rec == NULL))
        return mpi_host.Compare_and_swap(oaddr, caddr, raddr, type, target, disp, win);
    err = compare_and_swap(rec, &what, type, target, disp);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Compare_and_swap", err, &what);
}
MRMA_EXPORT_MPI(Compare_and_swap);
