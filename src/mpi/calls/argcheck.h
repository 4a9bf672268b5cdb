/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * argcheck.h - the checks that are always on.
 *
 * What can be told from the arguments alone and costs a few instructions: counts,
 * ranks, displacements, datatypes, operations, asserts (MPI 4.1, 12.3, 12.5 and
 * 12.7). What needs the window's state is checked in src/rma. The inline parts
 * only find out whether something is wrong; finding out what is a cold call.
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
#include "rma/fast.h"
#include "rma/rma.h"

/* What is wrong with them: an enum mrma_err, or OP_NOTHING for MPI_PROC_NULL.
 * counts is negative if one of them is. */
int args_verdict(const struct win_rec *rec, int64_t counts, int target, int64_t disp)
    __attribute__((cold));

/* Is nothing wrong with these? If there may be, ask args_target. */
static inline bool args_plain(const struct win_rec *rec, int64_t counts, int target, MPI_Aint disp)
{
    return likely(counts >= 0 && (unsigned)target < (unsigned)rec->nproc &&
                  disp >= rec->lowest_disp);
}

/* The arguments that every communication call has; op->target, disp, tcount and
 * ttype are set. Returns MRMA_SUCCESS, OP_NOTHING or an error. counts: all counts
 * or'ed, so that one sign tells of all. */
static inline int args_target(const struct win_rec *rec, struct rma_op *op, int64_t counts,
                              int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype)
{
    int err;

    op->target = target;
    op->disp = disp;
    op->tcount = (size_t)tcount;
    if (!args_plain(rec, counts, target, disp))
        return args_verdict(rec, counts, target, disp);
    op->ttype = dtype_lookup(mpi_state.types, ttype, &err);
    return likely(op->ttype != NULL) ? MRMA_SUCCESS : err;
}

/* Put and get: one side at the origin besides the target. */
static inline int args_transfer(const struct win_rec *rec, struct rma_op *op,
                                const struct dtype **otype_out, int64_t ocount, MPI_Datatype otype,
                                int target, MPI_Aint disp, int64_t tcount, MPI_Datatype ttype)
{
    int err = args_target(rec, op, ocount | tcount, target, disp, tcount, ttype);

    if (unlikely(err != MRMA_SUCCESS))
        return err;
    *otype_out = otype == ttype ? op->ttype : dtype_lookup(mpi_state.types, otype, &err);
    return err;
}

/* The flattened form of a datatype if it is known already. */
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

/* Accumulates (12.3.4): operation predefined and allowed on the element type,
 * which is the same on every side. op->otype, rtype and ttype are set; a side
 * that is not used has NULL. */
int args_accumulate(struct rma_op *op, MPI_Op mpi_op);

/* One element of a predefined type (12.3.4.3, 12.3.4.4). */
int args_predefined(MPI_Datatype type);

/* May compare-and-swap be done on it? C and Fortran integers, logicals,
 * multi-language types and MPI_BYTE. */
bool args_cas_type(const struct dtype *type);

/* MPI_MODE_* to RMA_*. -1: a bit that this call does not take. */
int args_asserts_translate(int mpi_asserts, int allowed);

static inline int args_asserts(int mpi_asserts, int allowed)
{
    return likely(mpi_asserts == 0) ? 0 : args_asserts_translate(mpi_asserts, allowed);
}

static inline bool args_rank_ok(const struct win_rec *rec, int rank)
{
    return likely((unsigned)rank < (unsigned)rec->nproc);
}

/* Size, displacement unit and base of a window to be created (12.2.1 to 12.2.3). */
int args_window(int64_t size, int64_t disp_unit, const void *base, bool base_given);

#endif
