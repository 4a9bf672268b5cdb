/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_fit.c - see clock_fit.h.
 *
 * A clock has an offset and a rate, and the rate wanders. What the points before a time tell about
 * both there is an estimate with its covariances (a Kalman filter); so is what the points behind it
 * tell, by the same filter run backwards. Both together say what the offset at a point is without
 * that point; then the point counts with its own error as the deviation.
 *
 * No state, no locks. Called by job_clock.c.
 */
#include "clock_fit.h"

#include <math.h>
#include <stdlib.h>

#include "util.h"

/* How fast clocks of machines go apart at first, and by how much that changes within a second: as
 * deviations, ns a second. Clocks are set by changes of their rate, so the latter is generous. */
#define RATE 50e3
#define WANDER 100e3

/* A rate may also change at once, just where it is measured: by so much, ns a second. */
#define STEP 100e3

/* A point contradicts the others where it is farther from them than its error and so many
 * deviations of what they tell. */
#define CONTRADICTS 4.0

/* A point is moved only where a neighbour's error is so many times smaller: of equally good ones
 * each knows its own time best. */
#define POOR 4

/* No offset is moved by more, ns: what a damaged file says may be beyond all numbers. */
#define MOST 1e18

/* The offset (ns) and the rate (ns a second) at a time, with their variances and covariance. */
struct estimate {
    double offset, rate;
    double oo, mix, rr; /* variance of offset, covariance, variance of rate */
};

/* From the first point's offset; damaged files have any. */
static double relative(const struct clock_point *point, size_t i)
{
    return (double)(int64_t)((uint64_t)point[i].offset - (uint64_t)point[0].offset);
}

static double variance(const struct clock_point *point)
{
    double error = (double)u64_max(point->error, 1);

    return error * error;
}

/* moved returns the same estimate dt seconds later. A negative dt is earlier. */
static struct estimate moved(struct estimate e, double dt)
{
    double t = fabs(dt), wander = WANDER * WANDER;

    e.offset += dt * e.rate;
    e.oo += 2 * dt * e.mix + dt * dt * e.rr + wander * t * t * t / 3;
    e.mix += dt * e.rr + (dt < 0 ? -1 : 1) * wander * t * t / 2;
    e.rr += wander * t;
    return e;
}

/* told returns the estimate after an offset was measured. */
static struct estimate told(struct estimate e, double offset, double r)
{
    double sum = e.oo + r, news = offset - e.offset;
    struct estimate after = {e.offset + e.oo / sum * news, e.rate + e.mix / sum * news,
                             e.oo * r / sum, e.mix * r / sum, e.rr - e.mix * e.mix / sum};

    return after;
}

/* both joins two estimates of independent origin. */
static struct estimate both(const struct estimate *a, const struct estimate *b)
{
    double oo = a->oo + b->oo, mix = a->mix + b->mix, rr = a->rr + b->rr;
    double determinant = oo * rr - mix * mix;
    if (!(determinant > 0)) /* by rounding: they are as good as one */
        return *a;
    double doffset = b->offset - a->offset, drate = b->rate - a->rate;
    /* The gain: a's covariance times the inverse of the sum. */
    double k00 = (a->oo * rr - a->mix * mix) / determinant;
    double k01 = (a->mix * oo - a->oo * mix) / determinant;

    return (struct estimate){.offset = a->offset + k00 * doffset + k01 * drate,
                             .oo = fabs(a->oo - k00 * a->oo - k01 * a->mix)};
}

/* one_side computes for each point what the points on one side of it tell: those before it (step
 * 1), or those behind it (-1). The outermost point has none on that side. */
static void one_side(const struct clock_point *point, size_t n, int step, struct estimate *side)
{
    size_t i = step > 0 ? 0 : n - 1;
    double base = (double)point[0].time;
    struct estimate e = {relative(point, i), 0, variance(&point[i]), 0, RATE * RATE};

    for (size_t done = 1; done < n; done++) {
        double from = (double)point[i].time - base;

        i += (size_t)step;
        e = moved(e, ((double)point[i].time - base - from) / 1e9);
        side[i] = e;
        e = told(e, relative(point, i), variance(&point[i]));
    }
}

/* What the points on either side tell at each, and a copy of them to try without one. */
struct sides {
    struct estimate *before, *behind;
    struct clock_point *without;
};

/* others_tell computes what all other points tell about the offset at a point, and the deviation of
 * that. */
static double others_tell(const struct clock_point *point, const struct sides *sides, size_t i,
                          size_t n, double *deviation)
{
    struct estimate e = i == 0       ? sides->behind[0]
                        : i == n - 1 ? sides->before[i]
                                     : both(&sides->before[i], &sides->behind[i]);

    const uint64_t left = i ? point[i].time - point[i - 1].time : UINT64_MAX;
    const uint64_t right = i + 1 < n ? point[i + 1].time - point[i].time : UINT64_MAX;
    *deviation = sqrt(e.oo) + STEP * (double)u64_min(left, right) / 1e9;
    return e.offset;
}

static void both_sides(const struct clock_point *point, size_t n, struct sides *sides)
{
    one_side(point, n, 1, sides->before);
    one_side(point, n, -1, sides->behind);
}

/* find_worst returns the point that contradicts the others most, or n if none does. *by tells how
 * much it contradicts them, in deviations. */
static size_t find_worst(const struct clock_point *point, size_t n, struct sides *sides, double *by)
{
    size_t found = n;

    *by = CONTRADICTS;
    both_sides(point, n, sides);
    for (size_t i = 0; i < n && n > 2; i++) {
        double deviation, tell = others_tell(point, sides, i, n, &deviation);
        double off = fabs(relative(point, i) - tell);

        if (off - (double)point[i].error <= *by * deviation)
            continue;
        *by = (off - (double)point[i].error) / deviation;
        found = i;
    }
    return found;
}

static void take_out(struct clock_point *point, size_t n, size_t which)
{
    for (size_t i = which; i + 1 < n; i++)
        point[i] = point[i + 1];
}

/* A wrong point makes its neighbours look wrong, too. So find_wrong returns, of the point that
 * looks worst and its neighbours, the one without which the least contradiction remains. */
static size_t find_wrong(const struct clock_point *point, size_t n, struct sides *sides,
                         size_t worst)
{
    double least = INFINITY, by;
    size_t found = worst;

    for (size_t i = worst ? worst - 1 : 0; i <= worst + 1 && i < n; i++) {
        for (size_t k = 0; k < n; k++)
            sides->without[k] = point[k];
        take_out(sides->without, n, i);
        if (find_worst(sides->without, n - 1, sides, &by) == n - 1)
            by = 0;
        if (by < least || (i == worst && by <= least)) {
            least = by;
            found = i;
        }
    }
    return found;
}

/* is_poor returns whether a neighbour is known so much better that the point has nothing to say
 * against it. */
static bool is_poor(const struct clock_point *point, size_t i, size_t n)
{
    const uint64_t left = i ? point[i - 1].error : UINT64_MAX;
    const uint64_t right = i + 1 < n ? point[i + 1].error : UINT64_MAX;

    return point[i].error / POOR > u64_min(left, right);
}

static void move_offsets(struct clock_point *point, size_t n, struct sides *sides)
{
    const uint64_t base = (uint64_t)point[0].offset;

    both_sides(point, n, sides);
    for (size_t i = 0; i < n; i++) {
        if (!is_poor(point, i, n))
            continue;
        double deviation, tell = others_tell(point, sides, i, n, &deviation);
        double mine = (double)(int64_t)((uint64_t)point[i].offset - base);
        double r = variance(&point[i]), most = fmin((double)point[i].error, MOST);
        double shift = (tell - mine) * r / (r + deviation * deviation);

        point[i].offset = (int64_t)((uint64_t)point[i].offset +
                                    (uint64_t)llround(fmax(-most, fmin(most, shift))));
    }
}

size_t clock_fit(struct clock_point *point, size_t n, struct clock_left_out *out)
{
    struct sides sides = {zalloc(n, sizeof(struct estimate)), zalloc(n, sizeof(struct estimate)),
                          zalloc(n, sizeof *point)};
    double by, deviation;
    size_t worst;

    *out = (struct clock_left_out){0};
    while (n > 2 && (worst = find_worst(point, n, &sides, &by)) < n) {
        worst = find_wrong(point, n, &sides, worst);
        both_sides(point, n, &sides);
        double tell = others_tell(point, &sides, worst, n, &deviation);
        out->worst = u64_max(out->worst, (uint64_t)fmin(MOST, fabs(relative(point, worst) - tell)));
        out->n++;
        take_out(point, n--, worst);
    }
    if (n > 1)
        move_offsets(point, n, &sides);
    free(sides.before);
    free(sides.behind);
    free(sides.without);
    return n;
}
