/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put_get.c - MPI_Put, MPI_Get and their request forms (MPI 4.1, 12.3.1, 12.3.2 and
 * 12.3.5).
 *
 * Look up the window, check, describe the operation on the stack, hand it down.
 * Buffers belong to the caller until the operation is complete; datatypes may be
 * freed at once. Displacements count in the target's displacement unit, in
 * dynamic windows they are addresses of the target. Errors: MPI_ERR_WIN (said by
 * the host), _COUNT, _RANK, _DISP, _TYPE, _RMA_SYNC, _RMA_RANGE.
 * The large-count forms are in large_ops.c. No state, no locks.
 *
 * Neighbours: transfer.h, what the forms of a call share; rma/layer/fast.h, the short cuts.
 */
#include <mpi.h>

#include "mpi/calls/argcheck.h"
#include "mpi/calls/request_ops.h"
#include "mpi/calls/transfer.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/traced/traced.h"
#include "rma/layer/fast.h"

static __attribute__((noinline)) int put_general(const void *oaddr, int ocount, MPI_Datatype otype,
                                                 int target, MPI_Aint disp, int tcount,
                                                 MPI_Datatype ttype, MPI_Win win)
{
    TRACED_WIN(Put, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Put(oaddr, ocount, otype, target, disp, tcount, ttype, win);
    return comm_put_whole(rec, oaddr, ocount, otype, target, disp, tcount, ttype);
}

/* The same count of a known contiguous type on both sides, len bytes, and nothing is wrong with the
 * arguments. */
static __attribute__((noinline)) int put_known(struct win_rec *rec, const void *oaddr, size_t count,
                                               const struct dtype *type, int target, MPI_Aint disp,
                                               size_t len)
{
    struct rma_op op;
    int err;

    if (fast_put_packed(rec->win, oaddr, target, disp, len))
        return MPI_SUCCESS;
    rma_op_clear(&op);
    op.oaddr = oaddr;
    op.otype = op.ttype = type;
    op.ocount = op.tcount = count;
    op.target = target;
    op.disp = disp;
    err = rma_put(rec->win, &op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Put", err, &op);
}

/* Put and get have a short cut, for the window used last, the same known contiguous
 * datatype and count on both sides, and mapped memory (rma/layer/fast.h). */
MRMA_PUBLIC int PMPI_Put(const void *oaddr, int ocount, MPI_Datatype otype, int target,
                         MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win)
{
    struct win_rec *rec = win_quick();
    const struct dtype *type;
    size_t len;

    if (likely(oaddr != NULL && win_is(rec, win) &&
               args_plain(rec, ocount | tcount, target, disp) && otype == ttype &&
               ocount == tcount && args_known_type(ttype, &type) && type->contig &&
               !__builtin_mul_overflow((size_t)tcount, type->size, &len))) {
        if (likely(fast_put(rec->win, oaddr, target, disp, len)))
            return MPI_SUCCESS;
        return put_known(rec, oaddr, (size_t)tcount, type, target, disp, len);
    }
    return put_general(oaddr, ocount, otype, target, disp, tcount, ttype, win);
}
MRMA_EXPORT_MPI(Put);

static __attribute__((noinline)) int get_general(void *raddr, int rcount, MPI_Datatype rtype,
                                                 int target, MPI_Aint disp, int tcount,
                                                 MPI_Datatype ttype, MPI_Win win)
{
    TRACED_WIN(Get, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Get(raddr, rcount, rtype, target, disp, tcount, ttype, win);
    return comm_get_whole(rec, raddr, rcount, rtype, target, disp, tcount, ttype);
}

MRMA_PUBLIC int PMPI_Get(void *raddr, int rcount, MPI_Datatype rtype, int target, MPI_Aint disp,
                         int tcount, MPI_Datatype ttype, MPI_Win win)
{
    struct win_rec *rec = win_quick();
    const struct dtype *type;
    size_t len;

    if (likely(raddr != NULL && win_is(rec, win) &&
               args_plain(rec, rcount | tcount, target, disp) && rtype == ttype &&
               rcount == tcount && args_known_type(ttype, &type) && type->contig &&
               !__builtin_mul_overflow((size_t)tcount, type->size, &len)) &&
        fast_get(rec->win, raddr, target, disp, len))
        return MPI_SUCCESS;
    return get_general(raddr, rcount, rtype, target, disp, tcount, ttype, win);
}
MRMA_EXPORT_MPI(Get);

MRMA_PUBLIC int PMPI_Rput(const void *oaddr, int ocount, MPI_Datatype otype, int target,
                          MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win,
                          MPI_Request *request)
{
    TRACED_WIN(Rput, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Rput(oaddr, ocount, otype, target, disp, tcount, ttype, win, request);
    return comm_rput(rec, oaddr, ocount, otype, target, disp, tcount, ttype, request);
}
MRMA_EXPORT_MPI(Rput);

MRMA_PUBLIC int PMPI_Rget(void *raddr, int rcount, MPI_Datatype rtype, int target, MPI_Aint disp,
                          int tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request)
{
    TRACED_WIN(Rget, win);
    struct win_rec *rec = win_lookup(win);

    if (unlikely(rec == NULL))
        return mpi_host.Rget(raddr, rcount, rtype, target, disp, tcount, ttype, win, request);
    return comm_rget(rec, raddr, rcount, rtype, target, disp, tcount, ttype, request);
}
MRMA_EXPORT_MPI(Rget);
