/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * argcheck.h - the checks that are always on.
 *
 * They look at the arguments alone and cost a few instructions: counts, ranks, displacements,
 * datatypes, operations, asserts (MPI 4.1, 12.3, 12.5 and 12.7). src/rma checks what needs the
 * window's state. The inline parts only find out whether something is wrong; a cold call finds out
 * what is wrong.
 */
#ifndef MRMA_MPI_CALLS_ARGCHECK_H
#define MRMA_MPI_CALLS_ARGCHECK_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "mpi/process/errhan.h"
#include "mpi/process/state.h"
#include "mpi/process/win_table.h"
#include "rma/layer/fast.h"
#include "rma/rma.h"

/* args_verdict is called for arguments in op for which args_plain was false. It returns an enum
 * mrma_err, and reports its fault; OP_NOTHING for the target MPI_PROC_NULL; or MRMA_SUCCESS. counts
 * is negative if one of the call's counts is. back is the word with which the arguments of the side
 * begin to which data come back: "origin" or "result". */
int args_verdict(const struct win_rec *rec, const struct rma_op *op, const char *back,
                 int64_t counts) __attribute__((cold));

/* args_bad_type names the fault of a datatype that dtype_lookup has refused with err, which it
 * returns. what is the name of the argument. */
int args_bad_type(const char *what, MPI_Datatype type, int err) __attribute__((cold));

/* args_bad_rank reports that the argument rank of a synchronization is none of the window's, and
 * returns MRMA_ERR_RANK. */
int args_bad_rank(const struct win_rec *rec, int rank) __attribute__((cold));

/* args_plain returns true if these arguments are certainly right. counts is all counts of the call
 * or'ed together, so that one sign tells of all; target is a rank; disp is a displacement. False
 * means that something may be wrong: args_verdict says what. */
static inline bool args_plain(const struct win_rec *rec, int64_t counts, int target, MPI_Aint disp)
{
    return likely(counts >= 0 && (unsigned)target < (unsigned)rec->nproc &&
                  disp >= rec->lowest_disp);
}

/* args_target checks the arguments that every communication call has and sets op->target, disp,
 * tcount and ttype; the other counts are set before. counts is as in args_plain; back is as in
 * args_verdict. Returns MRMA_SUCCESS, OP_NOTHING or an error. */
static inline int args_target(const struct win_rec *rec, struct rma_op *op, const char *back,
                              int64_t counts, int target, MPI_Aint disp, int64_t tcount,
                              MPI_Datatype ttype)
{
    int err;

    op->target = target;
    op->disp = disp;
    op->tcount = (size_t)tcount;
    if (!args_plain(rec, counts, target, disp))
        return args_verdict(rec, op, back, counts);
    op->ttype = dtype_lookup(mpi_state.types, ttype, &err);
    return likely(op->ttype != NULL) ? MRMA_SUCCESS : args_bad_type("target_datatype", ttype, err);
}

/* args_bottom returns MRMA_SUCCESS if count of type can lie at the null address, else
 * MRMA_ERR_BUFFER. what is the name of the argument. It is the part of args_buffer that is out of
 * line. */
int args_bottom(const struct dtype *type, size_t count, const char *what) __attribute__((cold));

/* args_buffer checks the address of count of type on this process's side: MRMA_ERR_BUFFER where
 * data would lie at the null address. That address is MPI_BOTTOM, too, and is right with a datatype
 * whose displacements are addresses (MPI 4.1, 2.5.4). what is the name of the argument. */
static inline int args_buffer(const void *addr, const struct dtype *type, size_t count,
                              const char *what)
{
    return likely(addr != NULL) ? MRMA_SUCCESS : args_bottom(type, count, what);
}

/* args_transfer is args_target for a put or get, which has one side at the origin besides the
 * target: ocount of otype at oaddr. *otype_out becomes the datatype of that side. Returns
 * MRMA_SUCCESS, OP_NOTHING or an error. */
static inline int args_transfer(const struct win_rec *rec, struct rma_op *op, const void *oaddr,
                                const struct dtype **otype_out, int64_t ocount, MPI_Datatype otype,
                                int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype)
{
    int err = args_target(rec, op, "origin", ocount | tcount, target, disp, tcount, ttype);

    if (unlikely(err != MRMA_SUCCESS))
        return err;
    *otype_out = otype == ttype ? op->ttype : dtype_lookup(mpi_state.types, otype, &err);
    if (unlikely(err != MRMA_SUCCESS))
        return args_bad_type("origin_datatype", otype, err);
    return args_buffer(oaddr, *otype_out, (size_t)ocount, "origin_addr");
}

/* args_no_place reports the fault and returns MRMA_ERR_ARG; what is the name of the argument. It is
 * the part of args_place that is out of line.
 */
int args_no_place(const char *what) __attribute__((cold));

/* args_place checks the address at which a call stores a result, before it does anything:
 * MRMA_ERR_ARG where it is NULL. what is the name of the argument. */
static inline int args_place(const void *addr, const char *what)
{
    return likely(addr != NULL) ? MRMA_SUCCESS : args_no_place(what);
}

/* args_known_type returns whether the datatype was used lately, and then sets *out to its flattened
 * form. False says nothing about the datatype: dtype_lookup knows more. */
static inline bool args_known_type(MPI_Datatype type, const struct dtype **out)
{
    struct dtype_cache *cache = mpi_state.types;
    uintptr_t key = dtype_key(type);
    struct dtype_record *rec =
        atomic_load_explicit(&cache->slot[dtype_slot(key)], memory_order_acquire);

    if (unlikely(atomic_load_explicit(&rec->key, memory_order_acquire) != key))
        return false;
    *out = rec->dtype;
    return true;
}

/* args_accumulate checks operation and datatypes of an accumulate (12.3.4) and sets op->op: the
 * operation is predefined and allowed on the element type, which is the same on every side.
 * op->otype, rtype and ttype are set; a side that is not used has NULL. Returns MRMA_SUCCESS,
 * MRMA_ERR_OP or MRMA_ERR_TYPE. */
int args_accumulate(struct rma_op *op, MPI_Op mpi_op);

/* args_predefined returns MRMA_SUCCESS if the datatype, which dtype_lookup has accepted, is a
 * predefined one (12.3.4.3, 12.3.4.4), else MRMA_ERR_TYPE. It reports no fault: args_derived
 * does. */
int args_predefined(MPI_Datatype type);

/* args_derived reports a datatype that args_predefined has refused, and returns MRMA_ERR_TYPE. */
int args_derived(MPI_Datatype type) __attribute__((cold));

/* args_not_compared reports a datatype that args_cas_type has refused, and returns
 * MRMA_ERR_TYPE. */
int args_not_compared(MPI_Datatype type) __attribute__((cold));

/* args_cas_type returns whether MPI_Compare_and_swap takes elements of this type: C and Fortran
 * integers, logicals, multi-language types and MPI_BYTE. */
bool args_cas_type(const struct dtype *type);

/* args_asserts_translate returns the RMA_* bits (rma.h) of the MPI_MODE_* bits in mpi_asserts; -1:
 * one of them is not among those that the call takes, which are allowed. */
int args_asserts_translate(int mpi_asserts, int allowed);

/* args_bad_assert reports asserts that are not among allowed, and returns MRMA_ERR_ASSERT. */
int args_bad_assert(int mpi_asserts, int allowed) __attribute__((cold));

/* args_asserts is args_asserts_translate, quicker where there are no asserts. */
static inline int args_asserts(int mpi_asserts, int allowed)
{
    return likely(mpi_asserts == 0) ? 0 : args_asserts_translate(mpi_asserts, allowed);
}

/* args_rank_ok returns whether rank is a rank of the window. */
static inline bool args_rank_ok(const struct win_rec *rec, int rank)
{
    return likely((unsigned)rank < (unsigned)rec->nproc);
}

/* args_window checks the size (bytes), displacement unit and base of a window that is to be created
 * (12.2.1 to 12.2.3). base_given says that the base is the caller's, which may be NULL only if size
 * is 0. Returns MRMA_SUCCESS, MRMA_ERR_SIZE, MRMA_ERR_DISP or MRMA_ERR_BASE. */
int args_window(int64_t size, int64_t disp_unit, const void *base, bool base_given);

/* args_quick returns true if a call may take a short cut: win is the window that was used last and
 * has the record rec, the arguments are certainly right, and both sides are as many elements of one
 * known contiguous type. addr, count and type are those of this process's side. Sets *known, the
 * type, and *len, the bytes of a side. False: one of these is not so; *known and *len mean nothing
 * then. */
static inline __attribute__((always_inline)) bool args_quick(
    struct win_rec *rec, MPI_Win win, const void *addr, int count, MPI_Datatype type, int target,
    MPI_Aint disp, int tcount, MPI_Datatype ttype, const struct dtype **known, size_t *len)
{
    return likely(addr != NULL && win_is(rec, win) &&
                  args_plain(rec, count | tcount, target, disp) && type == ttype &&
                  count == tcount && args_known_type(ttype, known) && (*known)->contig &&
                  !__builtin_mul_overflow((size_t)tcount, (*known)->size, len));
}

#endif
