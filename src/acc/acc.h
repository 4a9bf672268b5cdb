/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc.h - accumulate kernels: one loop per (operation, element type).
 *
 * MPI 4.1, 12.3.4: all predefined reduction operations plus MPI_REPLACE and MPI_NO_OP. An element
 * type here is a machine representation together with the category of types (6.9.2) that decides
 * which operations are allowed. The kernels are plain loops, which the compiler vectorises, most of
 * them twice: for every processor, and for those with wide vectors. Both give the same bits (but
 * for which of two NaNs). The caller makes them atomic, by a stripe lock or by a compare-and-swap
 * of their result (acc_atomic.c). There is no MPI here.
 */
#ifndef MRMA_ACC_ACC_H
#define MRMA_ACC_ACC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
enum acc_type {
    ACC_NONE = 0, /* mixed or unknown: no accumulate is possible */
    /* integers: C, Fortran, AINT, OFFSET, COUNT */
    ACC_I8, ACC_U8, ACC_I16, ACC_U16, ACC_I32, ACC_U32, ACC_I64, ACC_U64,
    ACC_I128, /* only Fortran INTEGER*16: MPI has no unsigned type of this size */
    /* Fortran REAL*2 (binary16), float, double, long double, Fortran REAL*16 (binary128), and
     * complex of the five */
    ACC_F16, ACC_F32, ACC_F64, ACC_F80, ACC_F128,
    ACC_C16, ACC_C32, ACC_C64, ACC_C80, ACC_C128,
    ACC_BOOL,                            /* C _Bool, C++ bool */
    /* Fortran LOGICAL, by the number of bits */
    ACC_LOGICAL8, ACC_LOGICAL16, ACC_LOGICAL32, ACC_LOGICAL64, ACC_LOGICAL128,
    ACC_BYTE,                            /* MPI_BYTE: bitwise only */
    ACC_CHAR, ACC_WCHAR,                 /* characters: REPLACE and NO_OP only */
    ACC_PAIR_F32_I32, ACC_PAIR_F64_I32, ACC_PAIR_I64_I32, ACC_PAIR_I16_I32, ACC_PAIR_I32_I32,
    ACC_PAIR_F80_I32, ACC_PAIR_F32_F32, ACC_PAIR_F64_F64, ACC_PAIR_I64_I64,
    ACC_TYPE_LAST
};
/* clang-format on */

/* clang-format off */
enum acc_op {
    ACC_OP_NONE = 0,
    ACC_SUM, ACC_PROD, ACC_MIN, ACC_MAX, ACC_LAND, ACC_LOR, ACC_LXOR, ACC_BAND, ACC_BOR, ACC_BXOR,
    ACC_MINLOC, ACC_MAXLOC, ACC_REPLACE, ACC_NO_OP,
    ACC_OP_LAST
};
/* clang-format on */

/* acc_extent returns the distance in bytes from one element to the next in memory (for a pair its
 * extent); 0 for ACC_NONE. */
size_t acc_extent(enum acc_type type);

/* acc_count returns how many elements of extent unit make len bytes. It uses a shift, since every
 * extent is a power of two and a division of 64 bits costs as much as the rest of a small
 * accumulate. */
static inline size_t acc_count(size_t len, size_t unit)
{
    return len >> __builtin_ctzll(unit);
}

/* acc_pad returns how many bytes at the end of an element are padding, as a pair has behind its
 * location. Padding is neither read nor written, so that an element may be the last thing in a
 * window or a page. */
size_t acc_pad(enum acc_type type);

/* acc_type_name returns the name of an element type for messages: a constant, never NULL. */
const char *acc_type_name(enum acc_type type);

/* acc_op_name returns the name of an operation for messages: a constant, never NULL. */
const char *acc_op_name(enum acc_op op);

/* acc_allowed returns whether op may be applied to type (MPI 4.1, 6.9.2 and 6.9.4). For element
 * types that the compiler does not know (base/ext_types.h) only ACC_REPLACE and ACC_NO_OP are
 * allowed. */
bool acc_allowed(enum acc_op op, enum acc_type type);

/* acc_apply does target[i] = target[i] op origin[i] (ACC_REPLACE: origin[i], ACC_NO_OP: unchanged)
 * for n elements; the two do not overlap or are the same. Addresses may be unaligned (windows may
 * start at an odd address). op must be allowed on type. Padding of pair types is neither read nor
 * written. Not atomic by itself. */
void acc_apply(enum acc_op op, enum acc_type type, void *target, const void *origin, size_t n);

/* acc_fetch does acc_apply, and stores the old contents of the n elements to old, where padding
 * gets any value. old overlaps neither of the others, and nothing is written behind the last
 * element's data. ACC_NO_OP only fetches, and origin may be NULL. */
void acc_fetch(enum acc_op op, enum acc_type type, void *target, const void *origin, void *old,
               size_t n);

/* acc_apply_strided is acc_apply for single elements that lie stride bytes apart at the target, and
 * one behind the other at origin. */
void acc_apply_strided(enum acc_op op, enum acc_type type, void *target, ptrdiff_t stride,
                       const void *origin, size_t n);

/* The kernels. A cell is empty where MPI does not allow the operation on the type; ACC_NO_OP has
 * none: it is allowed everywhere and does nothing. */
struct acc_kernel {
    void (*one)(void *target, const void *origin); /* a single element */
    void (*many[2])(void *target, const void *origin,
                    size_t n); /* n of them, vectorised: [cpu_wide()] */
    void (*apart)(void *target, ptrdiff_t stride, const void *origin,
                  size_t n); /* stride bytes apart */
};

extern const struct acc_kernel acc_kernels[ACC_OP_LAST][ACC_TYPE_LAST];

/* IEEE binary128 (gfortran's REAL(16)); the compiler's name for it differs
 * between machines, its machine mode does not. */
typedef float acc_f128 __attribute__((mode(TF)));

#endif
