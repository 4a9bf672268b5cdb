/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_ref.h - the predefined types and operations, and what they must give.
 *
 * A table of every predefined type that the host declares for C, with its
 * category (MPI 4.1, 6.9.2), and a reference implementation of every operation
 * that works through wide intermediate values, so that it shares nothing with
 * typed kernels.
 */
#ifndef MRMA_TEST_ACC_REF_H
#define MRMA_TEST_ACC_REF_H

#include "mtcomm.h"

enum acc_cat {
    CAT_CINT,  /* C integer */
    CAT_FINT,  /* Fortran integer */
    CAT_MULTI, /* MPI_AINT, MPI_OFFSET, MPI_COUNT */
    CAT_FLOAT,
    CAT_COMPLEX,
    CAT_LOGICAL, /* MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL and its sizes */
    CAT_BYTE,
    CAT_PAIR, /* for MINLOC and MAXLOC */
    CAT_CHAR  /* characters: no operation but REPLACE and NO_OP */
};

struct acc_type {
    const char *name;
    MPI_Datatype type;
    enum acc_cat cat;
    bool is_signed;  /* integers; of a pair: its value is an integer */
    int size;        /* bytes of one value; of a pair, of its first part */
    int second;      /* pairs: offset of the second part */
    int second_size; /* pairs: bytes of the second part */
    int extent;
};

/* The types that exist here; fills *n. */
const struct acc_type *acc_types(int *n);

struct acc_oper {
    const char *name;
    MPI_Op op;
};
#define ACC_OPERS 14
extern const struct acc_oper *acc_opers(void); /* ACC_OPERS of them, predefined handles */

/* May op be applied to elements of t? The standard leaves no third case, but both hosts (and we)
 * also take logical operations on Fortran and multi-language integers: ACC_EITHER. */
enum acc_allowed { ACC_NO, ACC_YES, ACC_EITHER };
enum acc_allowed acc_ref_allowed(MPI_Op op, const struct acc_type *t);

/* May MPI_Compare_and_swap work on it (12.3.4)? */
bool acc_ref_cas(const struct acc_type *t);

/* A small value (0..9, or a truth value), the whole extent zeroed first. */
void acc_ref_draw(struct mt_rng *rng, const struct acc_type *t, void *element);

/* target = target op origin, one element. */
void acc_ref_apply(MPI_Op op, const struct acc_type *t, void *target, const void *origin);

/* Same value? Padding (pairs, long double) does not count. */
bool acc_ref_same(const struct acc_type *t, const void *a, const void *b);

#endif
