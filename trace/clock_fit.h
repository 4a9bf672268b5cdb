/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_fit.h - finds the course of one machine's clock from measurements that are not equally
 * good.
 */
#ifndef MRMA_TRACE_CLOCK_FIT_H
#define MRMA_TRACE_CLOCK_FIT_H

#include <stddef.h>
#include <stdint.h>

struct clock_point {
    uint64_t time;
    int64_t offset; /* to add to the machine's clock for that of the machine of rank 0 */
    uint64_t error; /* half the round trip in which it was measured */
};

/* What clock_fit has left out: how many points, and by how much the worst of them differs from what
 * the others tell, ns. */
struct clock_left_out {
    size_t n;
    uint64_t worst;
};

/* clock_fit replaces, of n points in order of time and no two at one, the offsets that are known
 * much worse than a neighbour's by what all points tell about the clock at that time, and returns
 * how many points are left. Each counts by the square of its error, and less the farther away it
 * is. No offset is moved by more than its error. A point that contradicts the others is taken out,
 * and counted in *out; of two points neither is. */
size_t clock_fit(struct clock_point *point, size_t n, struct clock_left_out *out);

#endif
