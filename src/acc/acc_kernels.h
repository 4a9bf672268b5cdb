/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_kernels.h - macros that write the accumulate kernels, for acc_table.c only.
 *
 * Memory is reached through types of alignment 1 that may alias anything: a
 * window may start at any byte, and such loads cost nothing extra where the
 * address happens to be aligned. Each kernel is made three times: _one for a single
 * element (fetch-and-op sized accumulates, no loop set-up), _many, a plain loop for
 * the compiler to vectorise, and _apart for elements with a stride at the target.
 * Where wide vectors help, _wide is _many once more, for processors that have them.
 *
 * Integer arithmetic is done on unsigned types, so that it wraps as the machine
 * does whatever the signedness; only MIN and MAX look at the sign. Reals of 16 bits are computed as
 * float, in which a sum or a product of two of them, rounded to 16 bits, is the exact one rounded.
 */
#ifndef MRMA_ACC_ACC_KERNELS_H
#define MRMA_ACC_ACC_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"
#include "base/ext_types.h"
#include "acc/acc.h"

/* clang-format off */
/* X(name, type in memory, type to compute in) */
#define ACC_UNSIGNED(X) \
    X(u8, uint8_t, uint32_t) X(u16, uint16_t, uint32_t) X(u32, uint32_t, uint32_t) \
    X(u64, uint64_t, uint64_t)
/* for kernels that do not look at the sign: MPI has no unsigned type of that size */
#define ACC_WIDE(X) IF_INT128(X(u128, ext_u128, ext_u128))
#define ACC_SIGNED(X) \
    X(i8, int8_t, int8_t) X(i16, int16_t, int16_t) X(i32, int32_t, int32_t) \
    X(i64, int64_t, int64_t) IF_INT128(X(i128, ext_i128, ext_i128))
#define ACC_REAL(X) \
    IF_FLOAT16(X(f16, ext_f16, float)) X(f32, float, float) X(f64, double, double) \
    X(f80, long double, long double) X(f128, acc_f128, acc_f128)

/* X(name, value, location): the two members of a MINLOC/MAXLOC pair, by the names above */
#define ACC_PAIRS(X) \
    X(f32_i32, f32, i32) X(f64_i32, f64, i32) X(i64_i32, i64, i32) X(i16_i32, i16, i32) \
    X(i32_i32, i32, i32) \
    X(f80_i32, f80, i32) X(f32_f32, f32, f32) X(f64_f64, f64, f64) X(i64_i64, i64, i64)
/* clang-format on */

#define ACC_MEM(N, T, W) \
    typedef T acc_##N;   \
    typedef T acc_##N##_mem __attribute__((aligned(1), may_alias));

#define ACC_APART(K, SIZE)                                                              \
    static void K##_apart(void *target, ptrdiff_t stride, const void *origin, size_t n) \
    {                                                                                   \
        char *t = target;                                                               \
        const char *o = origin;                                                         \
        for (; n; n--, t += stride, o += (SIZE))                                        \
            K##_one(t, o);                                                              \
    }

#define ACC_LOOP(TARGET, NAME, N, T, W, EXPR)                           \
    TARGET static void NAME(void *target, const void *origin, size_t n) \
    {                                                                   \
        acc_##N##_mem *t = target;                                      \
        const acc_##N##_mem *o = origin;                                \
        for (size_t i = 0; i < n; i++) {                                \
            W a = t[i], b = o[i];                                       \
            t[i] = (T)(EXPR);                                           \
        }                                                               \
    }

/* t = EXPR(t, o), element by element. */
#define ACC_DEFINE(OP, N, T, W, EXPR)                                       \
    static void OP##_##N##_one(void *target, const void *origin)            \
    {                                                                       \
        W a = *(acc_##N##_mem *)target, b = *(const acc_##N##_mem *)origin; \
        *(acc_##N##_mem *)target = (T)(EXPR);                               \
    }                                                                       \
    ACC_LOOP(, OP##_##N##_many, N, T, W, EXPR)                              \
    ACC_LOOP(CPU_WIDE, OP##_##N##_wide, N, T, W, EXPR)                      \
    ACC_APART(OP##_##N, sizeof(T))

#define ACC_SUM_OF(N, T, W) ACC_DEFINE(sum, N, T, W, a + b)
#define ACC_PROD_OF(N, T, W) ACC_DEFINE(prod, N, T, W, a *b)
#define ACC_MIN_OF(N, T, W) ACC_DEFINE(min, N, T, W, b < a ? b : a)
#define ACC_MAX_OF(N, T, W) ACC_DEFINE(max, N, T, W, b > a ? b : a)
#define ACC_LAND_OF(N, T, W) ACC_DEFINE(land, N, T, W, (a != 0) & (b != 0))
#define ACC_LOR_OF(N, T, W) ACC_DEFINE(lor, N, T, W, (a | b) != 0)
#define ACC_LXOR_OF(N, T, W) ACC_DEFINE(lxor, N, T, W, (a != 0) ^ (b != 0))
#define ACC_BAND_OF(N, T, W) ACC_DEFINE(band, N, T, W, a &b)
#define ACC_BOR_OF(N, T, W) ACC_DEFINE(bor, N, T, W, a | b)
#define ACC_BXOR_OF(N, T, W) ACC_DEFINE(bxor, N, T, W, a ^ b)

#define ACC_CPROD_LOOP(TARGET, NAME, N, T, W)                           \
    TARGET static void NAME(void *target, const void *origin, size_t n) \
    {                                                                   \
        acc_##N##_mem *t = target;                                      \
        const acc_##N##_mem *o = origin;                                \
        for (size_t i = 0; i < 2 * n; i += 2) {                         \
            W a = t[i], b = t[i + 1], c = o[i], d = o[i + 1];           \
            t[i] = (T)(a * c - b * d);                                  \
            t[i + 1] = (T)(a * d + b * c);                              \
        }                                                               \
    }

/* A complex number is two reals; its sum is the sum of twice as many reals. */
#define ACC_COMPLEX_OF(N, T, W)                                                      \
    static void csum_##N##_one(void *target, const void *origin)                     \
    {                                                                                \
        sum_##N##_many(target, origin, 2);                                           \
    }                                                                                \
    static void csum_##N##_many(void *target, const void *origin, size_t n)          \
    {                                                                                \
        sum_##N##_many(target, origin, 2 * n);                                       \
    }                                                                                \
    CPU_WIDE static void csum_##N##_wide(void *target, const void *origin, size_t n) \
    {                                                                                \
        sum_##N##_wide(target, origin, 2 * n);                                       \
    }                                                                                \
    ACC_APART(csum_##N, 2 * sizeof(T))                                               \
    ACC_CPROD_LOOP(, cprod_##N##_many, N, T, W)                                      \
    ACC_CPROD_LOOP(CPU_WIDE, cprod_##N##_wide, N, T, W)                              \
    static void cprod_##N##_one(void *target, const void *origin)                    \
    {                                                                                \
        cprod_##N##_many(target, origin, 1);                                         \
    }                                                                                \
    ACC_APART(cprod_##N, 2 * sizeof(T))

/* Pairs (MPI 4.1, 6.9.4): only the two members are written, never the padding.
 * TAKE says when the origin's pair wins; on equal values the lower location does. */
#define ACC_PAIR_TYPE(N, V, L) \
    struct acc_pair_##N {      \
        acc_##V value;         \
        acc_##L location;      \
    };

#define ACC_PAIR_DEFINE(OP, N, V, L, TAKE)                                                      \
    static inline void OP##_##N##_one(void *target, const void *origin)                         \
    {                                                                                           \
        acc_##V##_mem *tv = target;                                                             \
        const acc_##V##_mem *ov = origin;                                                       \
        acc_##L##_mem *tl = (void *)((char *)target + offsetof(struct acc_pair_##N, location)); \
        const acc_##L##_mem *ol =                                                               \
            (const void *)((const char *)origin + offsetof(struct acc_pair_##N, location));     \
        if (TAKE) {                                                                             \
            *tv = *ov;                                                                          \
            *tl = *ol;                                                                          \
        }                                                                                       \
    }                                                                                           \
    static void OP##_##N##_many(void *target, const void *origin, size_t n)                     \
    {                                                                                           \
        const size_t step = sizeof(struct acc_pair_##N);                                        \
        for (size_t i = 0; i < n; i++)                                                          \
            OP##_##N##_one((char *)target + i * step, (const char *)origin + i * step);         \
    }                                                                                           \
    ACC_APART(OP##_##N, sizeof(struct acc_pair_##N))

#define ACC_MINLOC_OF(N, V, L) \
    ACC_PAIR_DEFINE(minloc, N, V, L, *ov < *tv || (*ov == *tv && *ol < *tl))
#define ACC_MAXLOC_OF(N, V, L) \
    ACC_PAIR_DEFINE(maxloc, N, V, L, *ov > *tv || (*ov == *tv && *ol < *tl))
#define ACC_PAIR_REPLACE_OF(N, V, L) ACC_PAIR_DEFINE(replace, N, V, L, 1)

/* MPI_REPLACE of elements without padding. */
#define ACC_COPY_OF(SIZE)                                                      \
    static void copy_##SIZE##_one(void *target, const void *origin)            \
    {                                                                          \
        memmove(target, origin, SIZE);                                         \
    }                                                                          \
    static void copy_##SIZE##_many(void *target, const void *origin, size_t n) \
    {                                                                          \
        memmove(target, origin, SIZE *n);                                      \
    }                                                                          \
    ACC_APART(copy_##SIZE, SIZE)

#endif
