/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * argcheck.c - the out-of-line part of the argument checks.
 *
 * No state but one remembered handle: the last datatype that was found to be
 * predefined. Predefined types are never freed, so a remembered one stays true;
 * anything else is asked of the host each time.
 *
 * No locks: whichever datatype is remembered, it is predefined. Neighbours: the entry points of
 * communication; errhan.c, which reports what is wrong.
 */
#include "mpi/calls/argcheck.h"

#include <limits.h>

#include "base/log.h"
#include "engine.h"
#include "rma/fast.h"

int args_verdict(const struct win_rec *rec, int64_t counts, int target, int64_t disp)
{
    if (counts < 0)
        return MRMA_ERR_COUNT;
    if (target == MPI_PROC_NULL)
        return OP_NOTHING;
    if (target < 0 || target >= rec->nproc)
        return MRMA_ERR_RANK;
    return disp < rec->lowest_disp ? MRMA_ERR_DISP : MRMA_SUCCESS;
}

/* Nothing is moved on this side, whatever its type. */
static bool empty_side(const struct dtype *type, size_t count)
{
    return count == 0 || type->size == 0;
}

/* No system maps memory below the first page's end, nor gives a process addresses that are
 * negative. */
int args_bottom(const struct dtype *type, size_t count, const char *what)
{
    enum { FIRST_PAGE = 4096 };
    ptrdiff_t lowest, end;

    if (empty_side(type, count) || (dtype_span(type, count, &lowest, &end) && lowest >= FIRST_PAGE))
        return MRMA_SUCCESS;
    return log_fail(engine_messages(), MRMA_ERR_BUFFER,
                    "the %s address is NULL, and the datatype has no absolute addresses", what);
}

int args_no_place(const char *what)
{
    return log_fail(engine_messages(), MRMA_ERR_ARG, "there is no address for the %s", what);
}

int args_accumulate(struct rma_op *op, MPI_Op mpi_op)
{
    uint8_t basic = op->ttype->basic;

    op->op = acc_op_from_mpi(mpi_op);
    if (op->op == ACC_OP_NONE)
        return MRMA_ERR_OP;
    if (op->op == ACC_NO_OP && op->rtype == NULL) /* only where something is fetched: 12.3.4 */
        return MRMA_ERR_OP;
    if (unlikely(empty_side(op->ttype, op->tcount)))
        return MRMA_SUCCESS;
    if (basic == ACC_NONE)
        return MRMA_ERR_TYPE;
    if (op->otype != NULL && op->op != ACC_NO_OP && op->otype->basic != basic &&
        !empty_side(op->otype, op->ocount))
        return MRMA_ERR_TYPE;
    if (op->rtype != NULL && op->rtype->basic != basic && !empty_side(op->rtype, op->rcount))
        return MRMA_ERR_TYPE;
    return acc_allowed(op->op, (enum acc_type)basic) ? MRMA_SUCCESS : MRMA_ERR_OP;
}

/* Types made by MPI_Type_create_f90_* count as predefined (MPI 4.1, 19.1.9). */
static bool named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;

    if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
        return false;
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
           combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
}

/* Called with a type that the cache has accepted. */
int args_predefined(MPI_Datatype type)
{
    static _Atomic(MPI_Datatype) remembered;

    if (likely(atomic_load_explicit(&remembered, memory_order_relaxed) == type))
        return MRMA_SUCCESS;
    if (!named(type))
        return MRMA_ERR_TYPE;
    atomic_store_explicit(&remembered, type, memory_order_relaxed);
    return MRMA_SUCCESS;
}

bool args_cas_type(const struct dtype *type)
{
    enum acc_type basic = (enum acc_type)type->basic;

    return (basic >= ACC_I8 && basic <= ACC_I128) ||
           (basic >= ACC_BOOL && basic <= ACC_LOGICAL128) || basic == ACC_BYTE;
}

int args_asserts_translate(int mpi_asserts, int allowed)
{
    int asserts = 0;

    if (mpi_asserts & ~allowed)
        return -1;
    asserts |= mpi_asserts & MPI_MODE_NOCHECK ? RMA_NOCHECK : 0;
    asserts |= mpi_asserts & MPI_MODE_NOSTORE ? RMA_NOSTORE : 0;
    asserts |= mpi_asserts & MPI_MODE_NOPUT ? RMA_NOPUT : 0;
    asserts |= mpi_asserts & MPI_MODE_NOPRECEDE ? RMA_NOPRECEDE : 0;
    asserts |= mpi_asserts & MPI_MODE_NOSUCCEED ? RMA_NOSUCCEED : 0;
    return asserts;
}

int args_window(int64_t size, int64_t disp_unit, const void *base, bool base_given)
{
    if (size < 0)
        return MRMA_ERR_SIZE;
    if (disp_unit <= 0 || disp_unit > INT_MAX)
        return MRMA_ERR_DISP;
    if (base_given && base == NULL && size > 0)
        return MRMA_ERR_BASE;
    return MRMA_SUCCESS;
}
