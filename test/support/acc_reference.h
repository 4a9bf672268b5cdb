/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_reference.h - what accumulate kernels are compared with, written another way: integers are
 * computed in 128 bits and cut off; reals and complex numbers with the compiler's own arithmetic,
 * one element at a time, those of 16 bits taken apart and put together bit by bit; which operation
 * goes with which type is taken from a list of categories.
 */
#ifndef MRMA_TEST_ACC_REFERENCE_H
#define MRMA_TEST_ACC_REFERENCE_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acc/acc.h"

/* The first bytes of a long double, which have its value: of the x87's 16 bytes 6 are padding. */
enum { LDOUBLE_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

/* i: integer, f: real, c: complex, l: logical, b: byte, x: character, p: pair */
char category(enum acc_type type);
/* The categories that go with an operation, MPI 4.1, 6.9.2, 6.9.4 and 12.3.4. */
extern const char *const categories_of[ACC_OP_LAST];

/* Whether the compiler can compute with it: else only ACC_REPLACE and ACC_NO_OP go with it. */
bool computes(enum acc_type type);

struct pair_layout {
    char value;
    size_t value_size, loc_offset, loc_size, extent;
};

struct pair_layout layout_of(enum acc_type type);

/* One element: *t = *t op *o. */
void ref_element(enum acc_op op, enum acc_type type, unsigned char *t, const unsigned char *o);
/* An element with a value that its type can have; equal ones are frequent in pairs. */
void put_random(enum acc_type type, unsigned char *p);
uint64_t random_bits(void);

#endif
