/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.c - notified access of mpi-rma.h (doc/notified.md): put, get and accumulate that raise a
 * notification. What a target does with it is in notified_take.c.
 *
 * The calls work as in put_get.c and accumulate.c; the number of the notification is checked first.
 * No state, no locks.
 *
 * Neighbours: transfer.h and accumulate.h, which check the other arguments; rma.h.
 */
#include <mpi-rma.h>

#include "mpi/calls/argcheck.h"
#include "mpi/calls/accumulate.h"
#include "mpi/calls/transfer.h"
#include "mpi/calls/extension.h"
#include "mpi/host/export.h"
#include "mpi/traced/traced.h"
#include "rma/layer/fast.h"

/* begin makes *op an operation that has only its notification yet. MRMA_ERR_ARG: there is no such
 * number. */
static int begin(const struct win_rec *rec, struct rma_op *op, int number)
{
    rma_op_clear(op);
    if (unlikely((unsigned)number >= rma_notify_numbers(rec->win)))
        return rma_notify_expect(
            rec->win, &(struct rma_notified){.source = RMA_NOTIFY_ANY, .first = number, .n = 1});
    op->notify = (uint32_t)number + 1;
    return MRMA_SUCCESS;
}

static __attribute__((noinline)) int put_general(const void *oaddr, MPI_Count ocount,
                                                 MPI_Datatype otype, int target, MPI_Aint disp,
                                                 MPI_Count tcount, MPI_Datatype ttype, MPI_Win win,
                                                 int number)
{
    TRACED_WIN(Put_notify, win);
    struct win_rec *rec = win_lookup(win);
    struct rma_op op;
    int err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = begin(rec, &op, number);
    if (likely(err == MRMA_SUCCESS))
        err = comm_put(rec, &op, oaddr, ocount, otype, target, disp, tcount, ttype);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPIRMA_Put_notify", err, &op);
}

/* With the short cut of MPI_Put (put_get.c). */
MRMA_PUBLIC int PMPIRMA_Put_notify(const void *oaddr, int ocount, MPI_Datatype otype, int target,
                                   MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win,
                                   int number)
{
    struct win_rec *rec = win_quick();
    const struct dtype *type;
    size_t len;

    if (args_quick(rec, win, oaddr, ocount, otype, target, disp, tcount, ttype, &type, &len) &&
        fast_put_notify(rec->win, oaddr, target, disp, len, number))
        return MPI_SUCCESS;
    return put_general(oaddr, ocount, otype, target, disp, tcount, ttype, win, number);
}
EXPORT_MPIRMA(Put_notify);

MRMA_PUBLIC int PMPIRMA_Put_notify_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype,
                                     int target, MPI_Aint disp, MPI_Count tcount,
                                     MPI_Datatype ttype, MPI_Win win, int number)
{
    return put_general(oaddr, ocount, otype, target, disp, tcount, ttype, win, number);
}
EXPORT_MPIRMA(Put_notify_c);

MRMA_PUBLIC int PMPIRMA_Get_notify_c(void *raddr, MPI_Count rcount, MPI_Datatype rtype, int target,
                                     MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype,
                                     MPI_Win win, int number)
{
    TRACED_WIN(Get_notify, win);
    struct win_rec *rec = win_lookup(win);
    struct rma_op op;
    int err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = begin(rec, &op, number);
    if (likely(err == MRMA_SUCCESS))
        err = comm_get(rec, &op, raddr, rcount, rtype, target, disp, tcount, ttype);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPIRMA_Get_notify", err, &op);
}
EXPORT_MPIRMA(Get_notify_c);

MRMA_PUBLIC int PMPIRMA_Get_notify(void *raddr, int rcount, MPI_Datatype rtype, int target,
                                   MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win,
                                   int number)
{
    return PMPIRMA_Get_notify_c(raddr, rcount, rtype, target, disp, tcount, ttype, win, number);
}
EXPORT_MPIRMA(Get_notify);

MRMA_PUBLIC int PMPIRMA_Accumulate_notify_c(const void *oaddr, MPI_Count ocount, MPI_Datatype otype,
                                            int target, MPI_Aint disp, MPI_Count tcount,
                                            MPI_Datatype ttype, MPI_Op mpi_op, MPI_Win win,
                                            int number)
{
    TRACED_WIN(Accumulate_notify, win);
    struct win_rec *rec = win_lookup(win);
    struct rma_op op;
    int err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = begin(rec, &op, number);
    if (likely(err == MRMA_SUCCESS))
        err = comm_accumulate(rec, &op, oaddr, ocount, otype, target, disp, tcount, ttype, mpi_op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS
                                       : op_fail(rec, "MPIRMA_Accumulate_notify", err, &op);
}
EXPORT_MPIRMA(Accumulate_notify_c);

MRMA_PUBLIC int PMPIRMA_Accumulate_notify(const void *oaddr, int ocount, MPI_Datatype otype,
                                          int target, MPI_Aint disp, int tcount, MPI_Datatype ttype,
                                          MPI_Op mpi_op, MPI_Win win, int number)
{
    return PMPIRMA_Accumulate_notify_c(oaddr, ocount, otype, target, disp, tcount, ttype, mpi_op,
                                       win, number);
}
EXPORT_MPIRMA(Accumulate_notify);
