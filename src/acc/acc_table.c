/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_table.c - instances of the accumulate kernels and the table of them.
 *
 * MPI 4.1, 6.9.2 (table of operations and types) and 6.9.4 (MINLOC, MAXLOC), says which cells are
 * filled. Where an element type stands for several MPI types, the most permissive one decides;
 * there are two such places: Fortran INTEGER and the multi-language types share the C integers'
 * representation and so also take the logical operations, as both hosts accept.
 *
 * The loops are written to be vectorised: gcc does that with a run-time overlap
 * check only from -O3 on, which the pragma asks for (clang does it at -O2). Loops start at
 * multiples of 32 bytes, because one that happens to lie across two cache lines is much slower.
 *
 * A product and a sum are rounded one after the other also where the processor could do both with
 * one rounding (ARM64; gcc's pragma and the standard's): the kernels for one element and for many
 * then give the same number, whichever way the compiler has chosen for each.
 *
 * Constant data: no state, no locks. Neighbours: acc_kernels.h, the macros; acc.c, the only way in.
 */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC optimize("O3", "align-loops=32", "fp-contract=off")
#pragma STDC FP_CONTRACT OFF

#include "acc/acc_kernels.h"

ACC_UNSIGNED(ACC_MEM)
ACC_WIDE(ACC_MEM)
ACC_SIGNED(ACC_MEM)
ACC_REAL(ACC_MEM)

ACC_UNSIGNED(ACC_SUM_OF)
ACC_WIDE(ACC_SUM_OF)
ACC_UNSIGNED(ACC_PROD_OF)
ACC_WIDE(ACC_PROD_OF)
ACC_UNSIGNED(ACC_MIN_OF)
ACC_UNSIGNED(ACC_MAX_OF)
ACC_UNSIGNED(ACC_LAND_OF)
ACC_WIDE(ACC_LAND_OF)
ACC_UNSIGNED(ACC_LOR_OF)
ACC_WIDE(ACC_LOR_OF)
ACC_UNSIGNED(ACC_LXOR_OF)
ACC_WIDE(ACC_LXOR_OF)
ACC_UNSIGNED(ACC_BAND_OF)
ACC_WIDE(ACC_BAND_OF)
ACC_UNSIGNED(ACC_BOR_OF)
ACC_WIDE(ACC_BOR_OF)
ACC_UNSIGNED(ACC_BXOR_OF)
ACC_WIDE(ACC_BXOR_OF)
ACC_SIGNED(ACC_MIN_OF)
ACC_SIGNED(ACC_MAX_OF)
ACC_REAL(ACC_SUM_OF)
ACC_REAL(ACC_PROD_OF)
ACC_REAL(ACC_MIN_OF)
ACC_REAL(ACC_MAX_OF)
ACC_REAL(ACC_COMPLEX_OF)
ACC_PAIRS(ACC_PAIR_TYPE)
ACC_PAIRS(ACC_MINLOC_OF)
ACC_PAIRS(ACC_MAXLOC_OF)
ACC_PAIRS(ACC_PAIR_REPLACE_OF)
ACC_COPY_OF(1)
ACC_COPY_OF(2)
ACC_COPY_OF(4)
ACC_COPY_OF(8)
ACC_COPY_OF(16)
ACC_COPY_OF(32)

/* clang-format off */
#define CELL(K) { .one = K##_one, .many = {K##_many, K##_wide}, .apart = K##_apart }
/* For copies, which the C library makes in the best way for this processor, and for kernels without
 * vectors. */
#define NARROW(K) { .one = K##_one, .many = {K##_many, K##_many}, .apart = K##_apart }

/* Signed and unsigned types with the unsigned kernel. */
#define INTEGERS(OP) \
    IF_INT128([ACC_I128] = CELL(OP##_u128),) \
    [ACC_I8] = CELL(OP##_u8), [ACC_U8] = CELL(OP##_u8), \
    [ACC_I16] = CELL(OP##_u16), [ACC_U16] = CELL(OP##_u16), \
    [ACC_I32] = CELL(OP##_u32), [ACC_U32] = CELL(OP##_u32), \
    [ACC_I64] = CELL(OP##_u64), [ACC_U64] = CELL(OP##_u64)
#define INTEGERS_BY_SIGN(OP) \
    IF_INT128([ACC_I128] = CELL(OP##_i128),) \
    [ACC_I8] = CELL(OP##_i8), [ACC_U8] = CELL(OP##_u8), \
    [ACC_I16] = CELL(OP##_i16), [ACC_U16] = CELL(OP##_u16), \
    [ACC_I32] = CELL(OP##_i32), [ACC_U32] = CELL(OP##_u32), \
    [ACC_I64] = CELL(OP##_i64), [ACC_U64] = CELL(OP##_u64)
#define REALS(OP) \
    IF_FLOAT16([ACC_F16] = CELL(OP##_f16),) \
    [ACC_F32] = CELL(OP##_f32), [ACC_F64] = CELL(OP##_f64), \
    [ACC_F80] = CELL(OP##_f80), [ACC_F128] = CELL(OP##_f128)
#define COMPLEXES(OP) \
    IF_FLOAT16([ACC_C16] = CELL(OP##_f16),) \
    [ACC_C32] = CELL(OP##_f32), [ACC_C64] = CELL(OP##_f64), \
    [ACC_C80] = CELL(OP##_f80), [ACC_C128] = CELL(OP##_f128)
#define LOGICALS(OP) \
    IF_INT128([ACC_LOGICAL128] = CELL(OP##_u128),) \
    [ACC_BOOL] = CELL(OP##_u8), [ACC_LOGICAL8] = CELL(OP##_u8), [ACC_LOGICAL16] = CELL(OP##_u16), \
    [ACC_LOGICAL32] = CELL(OP##_u32), [ACC_LOGICAL64] = CELL(OP##_u64)
#define BYTES(OP) [ACC_BYTE] = CELL(OP##_u8)
#define PAIRS(OP) \
    [ACC_PAIR_F32_I32] = NARROW(OP##_f32_i32), [ACC_PAIR_F64_I32] = NARROW(OP##_f64_i32), \
    [ACC_PAIR_I64_I32] = NARROW(OP##_i64_i32), [ACC_PAIR_I16_I32] = NARROW(OP##_i16_i32), \
    [ACC_PAIR_I32_I32] = NARROW(OP##_i32_i32), [ACC_PAIR_F80_I32] = NARROW(OP##_f80_i32), \
    [ACC_PAIR_F32_F32] = NARROW(OP##_f32_f32), [ACC_PAIR_F64_F64] = NARROW(OP##_f64_f64), \
    [ACC_PAIR_I64_I64] = NARROW(OP##_i64_i64)

_Static_assert(sizeof(wchar_t) == 4, "MPI_WCHAR is replaced as four bytes");
_Static_assert(sizeof(long double) == 16, "long double is replaced as sixteen bytes");
_Static_assert(sizeof(acc_f128) == 16, "binary128");

const struct acc_kernel acc_kernels[ACC_OP_LAST][ACC_TYPE_LAST] = {
    [ACC_SUM] = { INTEGERS(sum), REALS(sum), COMPLEXES(csum) },
    [ACC_PROD] = { INTEGERS(prod), REALS(prod), COMPLEXES(cprod) },
    [ACC_MIN] = { INTEGERS_BY_SIGN(min), REALS(min) },
    [ACC_MAX] = { INTEGERS_BY_SIGN(max), REALS(max) },
    [ACC_LAND] = { INTEGERS(land), LOGICALS(land) },
    [ACC_LOR] = { INTEGERS(lor), LOGICALS(lor) },
    [ACC_LXOR] = { INTEGERS(lxor), LOGICALS(lxor) },
    [ACC_BAND] = { INTEGERS(band), BYTES(band) },
    [ACC_BOR] = { INTEGERS(bor), BYTES(bor) },
    [ACC_BXOR] = { INTEGERS(bxor), BYTES(bxor) },
    [ACC_MINLOC] = { PAIRS(minloc) },
    [ACC_MAXLOC] = { PAIRS(maxloc) },
    [ACC_REPLACE] = {
        [ACC_I8] = NARROW(copy_1), [ACC_U8] = NARROW(copy_1),
        [ACC_I16] = NARROW(copy_2), [ACC_U16] = NARROW(copy_2),
        [ACC_I32] = NARROW(copy_4), [ACC_U32] = NARROW(copy_4),
        [ACC_I64] = NARROW(copy_8), [ACC_U64] = NARROW(copy_8),
        [ACC_I128] = NARROW(copy_16), [ACC_F16] = NARROW(copy_2),
        [ACC_C16] = NARROW(copy_4), [ACC_LOGICAL128] = NARROW(copy_16),
        [ACC_F32] = NARROW(copy_4), [ACC_F64] = NARROW(copy_8),
        [ACC_F80] = NARROW(copy_16), [ACC_F128] = NARROW(copy_16),
        [ACC_C32] = NARROW(copy_8), [ACC_C64] = NARROW(copy_16),
        [ACC_C80] = NARROW(copy_32), [ACC_C128] = NARROW(copy_32),
        [ACC_BOOL] = NARROW(copy_1), [ACC_LOGICAL8] = NARROW(copy_1),
        [ACC_LOGICAL16] = NARROW(copy_2), [ACC_LOGICAL32] = NARROW(copy_4),
        [ACC_LOGICAL64] = NARROW(copy_8),
        [ACC_BYTE] = NARROW(copy_1), [ACC_CHAR] = NARROW(copy_1), [ACC_WCHAR] = NARROW(copy_4),
        PAIRS(replace),
    },
};
/* clang-format on */
