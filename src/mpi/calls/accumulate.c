/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accumulate.c - MPI_Accumulate, MPI_Get_accumulate, their request forms and the large-count forms
 * of these (MPI 4.1, 12.3.4.1, 12.3.4.2 and 12.3.5).
 *
 * The same checks as in put_get.c are made, and further ones: the operation is a predefined one,
 * MPI_REPLACE or MPI_NO_OP (else MPI_ERR_OP) and allowed on the type; all elements on every side
 * are of one predefined type (else MPI_ERR_TYPE). Elements are updated atomically against every
 * other accumulate on the window. No state, no locks.
 *
 * Neighbours: window_call.h, the frame of each call; accumulate.h, which notified operations share;
 * rma/layer/fast.h, the short cuts.
 */
#include "mpi/calls/accumulate.h"

#include "mpi/calls/request_ops.h"
#include "mpi/calls/window_call.h"
#include "rma/layer/fast.h"

/* The parameters of both calls, with counts of one type. */
#define ACC_PARAMS(count_type)                                                           \
    const void *oaddr, count_type ocount, MPI_Datatype otype, int target, MPI_Aint disp, \
        count_type tcount, MPI_Datatype ttype, MPI_Op op
#define ACC_ARGS oaddr, ocount, otype, target, disp, tcount, ttype, op
#define GET_ACC_PARAMS(count_type)                                                            \
    const void *oaddr, count_type ocount, MPI_Datatype otype, void *raddr, count_type rcount, \
        MPI_Datatype rtype, int target, MPI_Aint disp, count_type tcount, MPI_Datatype ttype, \
        MPI_Op op
#define GET_ACC_ARGS oaddr, ocount, otype, raddr, rcount, rtype, target, disp, tcount, ttype, op

/* quick_op returns a predefined operation that is known, for a short cut; ACC_OP_NONE:
 * args_accumulate must be asked. */
static inline enum acc_op quick_op(MPI_Op op)
{
    return likely(op == MPI_SUM) ? ACC_SUM : acc_op_from_mpi(op);
}

static inline int accumulate(const struct win_rec *rec, ACC_PARAMS(int64_t))
{
    struct rma_op what;
    int err;

    rma_op_clear(&what);
    err = comm_accumulate(rec, &what, ACC_ARGS);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Accumulate", err, &what);
}

#define ACCUMULATE(form, name, count_type)                                         \
    form(name, TRACED_WIN(Accumulate, win), (ACC_PARAMS(count_type), MPI_Win win), \
         (ACC_ARGS, win), accumulate(rec, ACC_ARGS))
ACCUMULATE(WINDOW_GENERAL, Accumulate, int);
ACCUMULATE(WINDOW_ENTRY, Accumulate_c, MPI_Count);

/* Both have a short cut, for the window used last, the same known contiguous datatype and count on
 * all sides, and mapped memory (rma/layer/fast.h). */
MRMA_PUBLIC int PMPI_Accumulate(ACC_PARAMS(int), MPI_Win win)
{
    struct win_rec *rec = win_quick();
    const enum acc_op quick = quick_op(op);
    const struct dtype *type;
    size_t len;

    if (likely(quick != ACC_NO_OP) &&
        args_quick(rec, win, oaddr, ocount, otype, target, disp, tcount, ttype, &type, &len) &&
        fast_acc(rec->win, quick, type, (size_t)tcount, oaddr, NULL, target, disp, len))
        return MPI_SUCCESS;
    return Accumulate_general(ACC_ARGS, win);
}
MRMA_EXPORT_MPI(Accumulate);

#define RACCUMULATE(name, count_type)                                          \
    WINDOW_ENTRY(name, TRACED_WIN(Raccumulate, win),                           \
                 (ACC_PARAMS(count_type), MPI_Win win, MPI_Request * request), \
                 (ACC_ARGS, win, request), comm_raccumulate(rec, ACC_ARGS, request))
RACCUMULATE(Raccumulate, int);
RACCUMULATE(Raccumulate_c, MPI_Count);

static inline int get_accumulate(const struct win_rec *rec, GET_ACC_PARAMS(int64_t))
{
    struct rma_op what;
    int err;

    rma_op_clear(&what);
    err = comm_get_accumulate(rec, &what, GET_ACC_ARGS);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS
                                       : op_fail(rec, "MPI_Get_accumulate", err, &what);
}

#define GET_ACCUMULATE(form, name, count_type)                                             \
    form(name, TRACED_WIN(Get_accumulate, win), (GET_ACC_PARAMS(count_type), MPI_Win win), \
         (GET_ACC_ARGS, win), get_accumulate(rec, GET_ACC_ARGS))
GET_ACCUMULATE(WINDOW_GENERAL, Get_accumulate, int);
GET_ACCUMULATE(WINDOW_ENTRY, Get_accumulate_c, MPI_Count);

/* With MPI_NO_OP the origin's three arguments are not read. */
MRMA_PUBLIC int PMPI_Get_accumulate(GET_ACC_PARAMS(int), MPI_Win win)
{
    struct win_rec *rec = win_quick();
    const enum acc_op quick = quick_op(op);
    const struct dtype *type;
    size_t len;

    if (likely(quick == ACC_NO_OP || (otype == ttype && ocount == tcount && oaddr != NULL)) &&
        args_quick(rec, win, raddr, rcount, rtype, target, disp, tcount, ttype, &type, &len) &&
        fast_acc(rec->win, quick, type, (size_t)tcount, oaddr, raddr, target, disp, len))
        return MPI_SUCCESS;
    return Get_accumulate_general(GET_ACC_ARGS, win);
}
MRMA_EXPORT_MPI(Get_accumulate);

#define RGET_ACCUMULATE(name, count_type)                                          \
    WINDOW_ENTRY(name, TRACED_WIN(Rget_accumulate, win),                           \
                 (GET_ACC_PARAMS(count_type), MPI_Win win, MPI_Request * request), \
                 (GET_ACC_ARGS, win, request), comm_rget_accumulate(rec, GET_ACC_ARGS, request))
RGET_ACCUMULATE(Rget_accumulate, int);
RGET_ACCUMULATE(Rget_accumulate_c, MPI_Count);
