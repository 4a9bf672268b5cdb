/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_checks.h - for tests of flattened datatypes: make one, and hold it against the host and
 * against its definition (dtype_sample.h).
 */
#ifndef MRMA_TEST_SUPPORT_DTYPE_CHECKS_H
#define MRMA_TEST_SUPPORT_DTYPE_CHECKS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <mpi.h>

#include "base/err.h"
#include "dtype_sample.h"
#include "dtype/dtype_flatten.h"

static inline struct dtype *flattened(MPI_Datatype type)
{
    struct dtype *flat = NULL;

    assert_int_equal(dtype_flatten(type, &flat), MRMA_SUCCESS);
    return flat;
}

/* Against the host. (Not its true extent: MPICH counts empty components in it.) */
static inline void check_measures(MPI_Datatype type, const struct dtype *flat)
{
    MPI_Count size, lb, extent;

    MPI_Type_size_x(type, &size);
    MPI_Type_get_extent_x(type, &lb, &extent);
    assert_int_equal(flat->size, size);
    assert_int_equal(flat->extent, extent);
}

/* Every byte where the definitions say, in their order, for some instances. */
static inline void check_bytes(const struct dtype_sample *sample, const struct dtype *flat,
                               size_t count)
{
    struct dtype_cursor cur;
    ptrdiff_t disp, lo = sample->n ? PTRDIFF_MAX : 0, hi = sample->n ? PTRDIFF_MIN : 0;
    size_t at = 0, len;

    for (size_t i = 0; i < sample->n; i++) {
        lo = sample->at[i] < lo ? sample->at[i] : lo;
        hi = sample->at[i] + 1 > hi ? sample->at[i] + 1 : hi;
    }
    assert_int_equal(flat->true_lb, lo);
    assert_int_equal(flat->true_extent, hi - lo);
    dtype_cursor_init(&cur, flat, count, DTYPE_BYTES);
    while ((len = dtype_cursor_next(&cur, SIZE_MAX, &disp)) != 0) {
        assert_true(at + len <= count * sample->n);
        for (size_t i = 0; i < len; i++, at++) {
            ptrdiff_t expect =
                sample->at[at % sample->n] + (ptrdiff_t)(at / sample->n) * sample->extent;
            assert_int_equal(disp + (ptrdiff_t)i, expect);
        }
    }
    assert_int_equal(at, count * sample->n);
}

#endif
