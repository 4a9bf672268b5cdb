/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notified.c - notified access of mpi-rma.h (doc/notified.md): put, get and accumulate that raise a
 * notification, and the calls by which a target counts and awaits them.
 *
 * As comm.c and comm_acc.c, and the number of the notification is checked first. No state, no
 * locks.
 *
 * Neighbours: comm_transfer.h and comm_acc.h, which check the other arguments; notify_request.h,
 * the requests; rma.h, which counts.
 */
#include <mpi-rma.h>

#include "mpi/calls/argcheck.h"
#include "mpi/calls/comm_acc.h"
#include "mpi/calls/comm_transfer.h"
#include "mpi/calls/extension.h"
#include "mpi/host/export.h"
#include "mpi/requests/notify_request.h"
#include "mpi/traced/traced.h"
#include "rma/fast.h"

/* Make *op an operation that has nothing yet but its notification. MRMA_ERR_ARG: there is no such
 * number. */
static int begin(const struct win_rec *rec, struct rma_op *op, int number)
{
    rma_op_clear(op);
    if (unlikely((unsigned)number >= rma_notify_numbers(rec->win)))
        return rma_notify_expect(rec->win, RMA_NOTIFY_ANY, number);
    op->notify = (uint32_t)number + 1;
    return MRMA_SUCCESS;
}

static __attribute__((noinline)) int put_general(const void *oaddr, int ocount, MPI_Datatype otype,
                                                 int target, MPI_Aint disp, int tcount,
                                                 MPI_Datatype ttype, int number, MPI_Win win)
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

/* With the short cut of MPI_Put (comm.c). */
MRMA_PUBLIC int PMPIRMA_Put_notify(const void *oaddr, int ocount, MPI_Datatype otype, int target,
                                   MPI_Aint disp, int tcount, MPI_Datatype ttype, int number,
                                   MPI_Win win)
{
    struct win_rec *rec = win_quick();
    const struct dtype *type;
    size_t len;

    if (likely(oaddr != NULL && win_is(rec, win) &&
               args_plain(rec, ocount | tcount, target, disp) && otype == ttype &&
               ocount == tcount && args_known_type(ttype, &type) && type->contig &&
               !__builtin_mul_overflow((size_t)tcount, type->size, &len)) &&
        fast_put_notify(rec->win, oaddr, target, disp, len, number))
        return MPI_SUCCESS;
    return put_general(oaddr, ocount, otype, target, disp, tcount, ttype, number, win);
}
EXPORT_MPIRMA(Put_notify);

MRMA_PUBLIC int PMPIRMA_Get_notify(void *raddr, int rcount, MPI_Datatype rtype, int target,
                                   MPI_Aint disp, int tcount, MPI_Datatype ttype, int number,
                                   MPI_Win win)
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
EXPORT_MPIRMA(Get_notify);

MRMA_PUBLIC int PMPIRMA_Accumulate_notify(const void *oaddr, int ocount, MPI_Datatype otype,
                                          int target, MPI_Aint disp, int tcount, MPI_Datatype ttype,
                                          MPI_Op mpi_op, int number, MPI_Win win)
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
EXPORT_MPIRMA(Accumulate_notify);

/* ---- at the target ---- */

/* The source, as src/rma takes it, in *rank. */
static int check_source(const struct win_rec *rec, int source, int *rank)
{
    *rank = source == MPI_ANY_SOURCE ? RMA_NOTIFY_ANY : source;
    return source == MPI_ANY_SOURCE || args_rank_ok(rec, source) ? MRMA_SUCCESS : MRMA_ERR_RANK;
}

static int ended(const struct win_rec *rec, const char *func, int err, int source)
{
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : win_fail_target(rec, func, err, source);
}

MRMA_PUBLIC int PMPIRMA_Notify_read(MPI_Win win, int source, int number, MPI_Count *value)
{
    TRACED_TARGET(Notify_read, win, source == MPI_ANY_SOURCE ? -1 : source);
    struct win_rec *rec = win_lookup(win);
    uint64_t come = 0;
    int rank, err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = check_source(rec, source, &rank);
    if (likely(err == MRMA_SUCCESS))
        err = args_place(value, "value");
    if (likely(err == MRMA_SUCCESS))
        err = rma_notify_read(rec->win, rank, number, &come);
    if (likely(err == MRMA_SUCCESS))
        *value = (MPI_Count)come;
    return ended(rec, "MPIRMA_Notify_read", err, source);
}
EXPORT_MPIRMA(Notify_read);

MRMA_PUBLIC int PMPIRMA_Notify_wait(MPI_Win win, int source, int number, MPI_Count count)
{
    TRACED_TARGET(Notify_wait, win, source == MPI_ANY_SOURCE ? -1 : source);
    struct win_rec *rec = win_lookup(win);
    int rank, err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = count < 0 ? MRMA_ERR_ARG : check_source(rec, source, &rank);
    if (likely(err == MRMA_SUCCESS))
        err = rma_notify_wait(rec->win, rank, number, (uint64_t)count);
    return ended(rec, "MPIRMA_Notify_wait", err, source);
}
EXPORT_MPIRMA(Notify_wait);

MRMA_PUBLIC int PMPIRMA_Notify_reset(MPI_Win win, int source, int number, MPI_Count *value)
{
    TRACED_TARGET(Notify_reset, win, source == MPI_ANY_SOURCE ? -1 : source);
    struct win_rec *rec = win_lookup(win);
    uint64_t come = 0;
    int rank, err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = check_source(rec, source, &rank);
    if (likely(err == MRMA_SUCCESS))
        err = rma_notify_reset(rec->win, rank, number, &come);
    if (likely(err == MRMA_SUCCESS) && value != NULL)
        *value = (MPI_Count)come;
    return ended(rec, "MPIRMA_Notify_reset", err, source);
}
EXPORT_MPIRMA(Notify_reset);

MRMA_PUBLIC int PMPIRMA_Notify_init(MPI_Win win, int source, int number, MPI_Count count,
                                    MPI_Request *request)
{
    struct win_rec *rec = win_lookup(win);
    int rank, err;

    if (unlikely(rec == NULL))
        return MPI_ERR_WIN;
    err = count < 0 ? MRMA_ERR_ARG : check_source(rec, source, &rank);
    if (likely(err == MRMA_SUCCESS))
        err = args_place(request, "request");
    if (likely(err == MRMA_SUCCESS))
        err = rma_notify_expect(rec->win, rank, number);
    if (likely(err == MRMA_SUCCESS))
        err = notify_request_new(rec, rank, number, (uint64_t)count, request);
    return ended(rec, "MPIRMA_Notify_init", err, source);
}
EXPORT_MPIRMA(Notify_init);
