/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fetch_op.c - MPI_Fetch_and_op and MPI_Compare_and_swap (MPI 4.1, 12.3.4.3 and
 * 12.3.4.4): one element of a predefined type.
 *
 * Errors as in accumulate.c; a derived type is MPI_ERR_TYPE, and so is a type that
 * compare-and-swap does not take (floating point, complex, pairs, characters).
 * No state, no locks.
 *
 * Neighbours: window_call.h; argcheck.c; rma/layer/fast.h, the short cuts; rma.h.
 */
#include <mpi.h>

#include "mpi/calls/argcheck.h"
#include "mpi/calls/window_call.h"
#include "rma/layer/fast.h"

/* The predefined integer of 8 bytes that was used last: such handles are never freed. */
static _Atomic(MPI_Datatype) word_type;

static inline bool is_word(MPI_Datatype type)
{
    return likely(atomic_load_explicit(&word_type, memory_order_relaxed) == type);
}

/* remember_word remembers the type, which was found valid, if it is an integer of 8 bytes, so that
 * it is quickly recognized from now on. */
static void remember_word(const struct dtype *known, MPI_Datatype type)
{
    if ((known->basic == ACC_I64 || known->basic == ACC_U64) &&
        args_predefined(type) == MRMA_SUCCESS)
        atomic_store_explicit(&word_type, type, memory_order_relaxed);
}

/* fast_fetch treats the sum, which counters use, apart from the others, so that the operation is
 * not looked at again later. */
static inline bool fast_fetch(struct win *w, MPI_Op op, const void *oaddr, void *raddr, int target,
                              MPI_Aint disp)
{
    if (unlikely(raddr == NULL || (oaddr == NULL && op != MPI_NO_OP)))
        return false;
    if (likely(op == MPI_SUM))
        return fast_fetch_op(w, ACC_SUM, oaddr, raddr, target, disp);
    return (op == MPI_REPLACE || op == MPI_NO_OP) &&
           fast_fetch_op(w, op == MPI_NO_OP ? ACC_NO_OP : ACC_REPLACE, oaddr, raddr, target, disp);
}

/* one_element turns op, which is cleared, into an operation on one element of type on every side,
 * as far as nothing is wrong. */
static inline int one_element(const struct win_rec *rec, struct rma_op *op, const void *oaddr,
                              void *raddr, MPI_Datatype type, int target, MPI_Aint disp)
{
    int err;

    op->oaddr = oaddr;
    op->raddr = raddr;
    op->ocount = op->rcount = 1;
    err = args_target(rec, op, "result", 0, target, disp, 1, type);
    if (unlikely(err != MRMA_SUCCESS))
        return err;
    op->rtype = op->otype = op->ttype;
    remember_word(op->ttype, type);
    err = args_predefined(type);
    return likely(err == MRMA_SUCCESS) ? err : args_derived(type);
}

/* With MPI_NO_OP the origin's buffer is not read. */
static inline int fetch_and_op(const struct win_rec *rec, const void *oaddr, void *raddr,
                               MPI_Datatype type, int target, MPI_Aint disp, MPI_Op mpi_op)
{
    struct rma_op op;
    int err;

    rma_op_clear(&op);
    err = one_element(rec, &op, oaddr, raddr, type, target, disp);
    if (likely(err == MRMA_SUCCESS))
        err = args_accumulate(&op, mpi_op);
    if (likely(err == MRMA_SUCCESS))
        err = args_buffer(raddr, op.ttype, 1, "result_addr");
    if (likely(err == MRMA_SUCCESS) && op.op != ACC_NO_OP)
        err = args_buffer(oaddr, op.ttype, 1, "origin_addr");
    if (likely(err == MRMA_SUCCESS))
        err = rma_get_accumulate(rec->win, &op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : op_fail(rec, "MPI_Fetch_and_op", err, &op);
}

/* The general way of MPI_Fetch_and_op, in which PMPI_Fetch_and_op ends with its own arguments, so
 * that it need not save any. The same holds for MPI_Compare_and_swap. */
WINDOW_GENERAL(Fetch_and_op, TRACED_WIN(Fetch_and_op, win),
               (const void *oaddr, void *raddr, MPI_Datatype type, int target, MPI_Aint disp,
                MPI_Op op, MPI_Win win),
               (oaddr, raddr, type, target, disp, op, win),
               fetch_and_op(rec, oaddr, raddr, type, target, disp, op));

MRMA_PUBLIC int PMPI_Fetch_and_op(const void *oaddr, void *raddr, MPI_Datatype type, int target,
                                  MPI_Aint disp, MPI_Op op, MPI_Win win)
{
    struct win_rec *rec = win_quick();

    if (likely(win_is(rec, win) && args_plain(rec, 0, target, disp) && is_word(type) &&
               fast_fetch(rec->win, op, oaddr, raddr, target, disp)))
        return MPI_SUCCESS;
    return Fetch_and_op_general(oaddr, raddr, type, target, disp, op, win);
}
MRMA_EXPORT_MPI(Fetch_and_op);

static inline int compare_and_swap(const struct win_rec *rec, const void *oaddr, const void *caddr,
                                   void *raddr, MPI_Datatype type, int target, MPI_Aint disp)
{
    struct rma_op op;
    int err;

    rma_op_clear(&op);
    op.caddr = caddr;
    err = one_element(rec, &op, oaddr, raddr, type, target, disp);
    if (likely(err == MRMA_SUCCESS) && unlikely(!args_cas_type(op.ttype)))
        err = args_not_compared(type);
    if (likely(err == MRMA_SUCCESS))
        err = args_buffer(oaddr, op.ttype, 1, "origin_addr");
    if (likely(err == MRMA_SUCCESS))
        err = args_buffer(caddr, op.ttype, 1, "compare_addr");
    if (likely(err == MRMA_SUCCESS))
        err = args_buffer(raddr, op.ttype, 1, "result_addr");
    if (likely(err == MRMA_SUCCESS))
        err = rma_compare_and_swap(rec->win, &op);
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS
                                       : op_fail(rec, "MPI_Compare_and_swap", err, &op);
}

WINDOW_GENERAL(Compare_and_swap, TRACED_WIN(Compare_and_swap, win),
               (const void *oaddr, const void *caddr, void *raddr, MPI_Datatype type, int target,
                MPI_Aint disp, MPI_Win win),
               (oaddr, caddr, raddr, type, target, disp, win),
               compare_and_swap(rec, oaddr, caddr, raddr, type, target, disp));

MRMA_PUBLIC int PMPI_Compare_and_swap(const void *oaddr, const void *caddr, void *raddr,
                                      MPI_Datatype type, int target, MPI_Aint disp, MPI_Win win)
{
    struct win_rec *rec = win_quick();

    if (likely(win_is(rec, win) && args_plain(rec, 0, target, disp) && is_word(type) &&
               oaddr != NULL && caddr != NULL && raddr != NULL &&
               fast_cas(rec->win, oaddr, caddr, raddr, target, disp)))
        return MPI_SUCCESS;
    return Compare_and_swap_general(oaddr, caddr, raddr, type, target, disp, win);
}
MRMA_EXPORT_MPI(Compare_and_swap);
