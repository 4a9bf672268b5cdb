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
#include <stdio.h>

#include "base/fault.h"
#include "engine/engine.h"
#include "rma/layer/fast.h"

typedef unsigned long long ull;

/* negative returns whether an operation's count was given as a negative one. */
static bool negative(size_t count)
{
    return (int64_t)count < 0;
}

static int negative_count(const struct rma_op *op, const char *back)
{
    char name[16];

    if (negative(op->ocount))
        return FAULT(engine_messages(), COUNT_NEGATIVE, "origin_count", (long long)op->ocount);
    if (negative(op->tcount))
        return FAULT(engine_messages(), COUNT_NEGATIVE, "target_count", (long long)op->tcount);
    snprintf(name, sizeof name, "%s_count", back);
    return FAULT(engine_messages(), COUNT_NEGATIVE, name, (long long)op->rcount);
}

int args_bad_rank(const struct win_rec *rec, int rank)
{
    return FAULT(engine_messages(), SYNC_RANK_OUTSIDE, rank, rec->nproc - 1);
}

int args_verdict(const struct win_rec *rec, const struct rma_op *op, const char *back,
                 int64_t counts)
{
    if (counts < 0)
        return negative_count(op, back);
    if (op->target == MPI_PROC_NULL)
        return OP_NOTHING;
    if (op->target < 0 || op->target >= rec->nproc)
        return FAULT(engine_messages(), RANK_OUTSIDE, op->target, rec->nproc - 1);
    return op->disp < rec->lowest_disp
               ? FAULT(engine_messages(), DISP_NEGATIVE, (long long)op->disp)
               : MRMA_SUCCESS;
}

/* name_of returns the name of a handle that may not be a datatype. */
static const char *name_of(MPI_Datatype type, char *name)
{
    int len = 0;

    *name = '\0';
    if (type == MPI_DATATYPE_NULL)
        return "MPI_DATATYPE_NULL";
    return PMPI_Type_get_name(type, name, &len) == MPI_SUCCESS && *name != '\0'
               ? name
               : "a derived datatype";
}

int args_bad_type(const char *what, MPI_Datatype type, int err)
{
    char name[MPI_MAX_OBJECT_NAME];

    if (err != MRMA_ERR_TYPE)
        return err;
    if (type == MPI_DATATYPE_NULL)
        return FAULT(engine_messages(), TYPE_NULL, what);
    return FAULT(engine_messages(), TYPE_UNUSABLE, what, name_of(type, name));
}

int args_derived(MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME];

    return FAULT(engine_messages(), TYPE_DERIVED, name_of(type, name));
}

int args_not_compared(MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME];

    return FAULT(engine_messages(), TYPE_NOT_COMPARED, name_of(type, name));
}

/* empty_side returns whether nothing is moved on this side, whatever its type. */
static bool empty_side(const struct dtype *type, size_t count)
{
    return count == 0 || type->size == 0;
}

/* No system maps memory below the first page's end, or gives a process negative addresses. */
int args_bottom(const struct dtype *type, size_t count, const char *what)
{
    enum { FIRST_PAGE = 4096 };
    ptrdiff_t lowest, end;

    if (empty_side(type, count) || (dtype_span(type, count, &lowest, &end) && lowest >= FIRST_PAGE))
        return MRMA_SUCCESS;
    return FAULT(engine_messages(), BUFFER_NULL, what, (ull)(count * type->size));
}

int args_no_place(const char *what)
{
    return FAULT(engine_messages(), PLACE_NULL, what);
}

/* Handles of predefined operations that no accumulate takes have no names: op is described. */
static const char *op_name(MPI_Op op)
{
    return op == MPI_OP_NULL ? "MPI_OP_NULL" : "an operation of the program";
}

static __attribute__((cold)) int bad_op(const struct rma_op *op, MPI_Op mpi_op)
{
    if (op->op == ACC_OP_NONE)
        return FAULT(engine_messages(), OP_UNKNOWN, op_name(mpi_op));
    if (op->op == ACC_NO_OP && op->rtype == NULL)
        return FAULT(engine_messages(), OP_FETCHES_NOTHING, acc_op_name(op->op));
    return FAULT(engine_messages(), OP_NOT_ON_TYPE, acc_op_name(op->op),
                 acc_type_name((enum acc_type)op->ttype->basic));
}

static __attribute__((cold)) int bad_elements(const struct rma_op *op, const char *what,
                                              const struct dtype *type)
{
    if (op->ttype->basic == ACC_NONE)
        return FAULT(engine_messages(), TYPE_MIXED, (ull)op->ttype->size);
    return FAULT(engine_messages(), TYPE_DIFFERS, what, acc_type_name((enum acc_type)type->basic),
                 acc_type_name((enum acc_type)op->ttype->basic));
}

int args_accumulate(struct rma_op *op, MPI_Op mpi_op)
{
    uint8_t basic = op->ttype->basic;

    op->op = acc_op_from_mpi(mpi_op);
    if (op->op == ACC_OP_NONE)
        return bad_op(op, mpi_op);
    /* allowed only where something is fetched: 12.3.4 */
    if (op->op == ACC_NO_OP && op->rtype == NULL)
        return bad_op(op, mpi_op);
    if (unlikely(empty_side(op->ttype, op->tcount)))
        return MRMA_SUCCESS;
    if (basic == ACC_NONE)
        return bad_elements(op, "target_datatype", op->ttype);
    if (op->otype != NULL && op->op != ACC_NO_OP && op->otype->basic != basic &&
        !empty_side(op->otype, op->ocount))
        return bad_elements(op, "origin_datatype", op->otype);
    if (op->rtype != NULL && op->rtype->basic != basic && !empty_side(op->rtype, op->rcount))
        return bad_elements(op, "result_datatype", op->rtype);
    return acc_allowed(op->op, (enum acc_type)basic) ? MRMA_SUCCESS : bad_op(op, mpi_op);
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

static const struct {
    int bit;
    const char *name;
} modes[] = {{MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK"},
             {MPI_MODE_NOSTORE, "MPI_MODE_NOSTORE"},
             {MPI_MODE_NOPUT, "MPI_MODE_NOPUT"},
             {MPI_MODE_NOPRECEDE, "MPI_MODE_NOPRECEDE"},
             {MPI_MODE_NOSUCCEED, "MPI_MODE_NOSUCCEED"}};

int args_bad_assert(int mpi_asserts, int allowed)
{
    char names[128] = "";
    size_t at = 0;

    for (size_t i = 0; i < sizeof modes / sizeof modes[0] && at < sizeof names; i++)
        if (allowed & modes[i].bit)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at > 0 ? ", " : "",
                                   modes[i].name);
    return FAULT(engine_messages(), ASSERT, (unsigned)mpi_asserts, names,
                 (unsigned)(mpi_asserts & ~allowed));
}

int args_window(int64_t size, int64_t disp_unit, const void *base, bool base_given)
{
    if (size < 0)
        return FAULT(engine_messages(), SIZE_NEGATIVE, (long long)size);
    if (disp_unit <= 0 || disp_unit > INT_MAX)
        return FAULT(engine_messages(), UNIT_RANGE, (long long)disp_unit);
    if (base_given && base == NULL && size > 0)
        return FAULT(engine_messages(), BASE_NULL, (long long)size);
    return MRMA_SUCCESS;
}
