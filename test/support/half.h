/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * half.h - IEEE binary16 taken apart and put together bit by bit, for the tests of accumulates on
 * MPI_REAL2 and MPI_COMPLEX4: it shares nothing with the compiler's own type.
 */
#ifndef MRMA_TEST_HALF_H
#define MRMA_TEST_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* get_half returns the binary16 at p, which needs no alignment, as the float of its value. */
static inline float get_half(const void *p)
{
    uint16_t bits;
    memcpy(&bits, p, sizeof bits);
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexpf((float)fraction, -24)
                                       : ldexpf((float)(1024 + fraction), exponent - 25);
    return bits >> 15 ? -size : size;
}

/* put_half stores the binary16 nearest to x at p, the even one of two. */
static inline void put_half(void *p, float x)
{
    int above;
    (void)frexpf(x, &above); /* 2 to the power of above is larger than x */
    const int power = x == 0 || above <= -14 ? -14 : above - 1;
    uint32_t bits = 0x7e00;
    if (!isnan(x)) {
        const float steps = isinf(x) ? INFINITY : rintf(ldexpf(fabsf(x), 10 - power));
        bits = steps == INFINITY ? 0x7c00 : ((uint32_t)(power + 14) << 10) + (uint32_t)steps;
        bits = bits > 0x7c00 ? 0x7c00 : bits;
    }
    const uint16_t half = (uint16_t)(bits | (signbit(x) ? 0x8000u : 0));
    memcpy(p, &half, sizeof half);
}

#endif
