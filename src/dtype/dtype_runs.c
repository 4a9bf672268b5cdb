/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_runs.c - the runs of a datatype while it is flattened (dtype_runs.h).
 *
 * The way in which a repeated part is appended decides how much memory is needed: it is appended as
 * copies of its runs where these are few or join into few, else as one item that names a list.
 *
 * Invariant: v never has more runs than the bound, and what is in list comes before what is in v.
 * No locks: a list belongs to one thread. Neighbours: dtype_flatten.c above, dtype_compact.c below.
 */
#include "dtype/dtype_runs.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "dtype/dtype_compact.h"

/* So many runs take no more room than an item with a list. */
enum { FEW = 4 };

static int make_room(struct dtype_runs *runs)
{
    if (runs->n < runs->cap)
        return MRMA_SUCCESS;
    const size_t cap = runs->cap ? 2 * runs->cap : 4;
    struct dtype_run *v = realloc(runs->v, cap * sizeof(*v));
    if (!v)
        return MRMA_ERR_NO_MEM;
    runs->v = v;
    runs->cap = cap;
    return MRMA_SUCCESS;
}

/* absorb returns whether next goes on where last ends, with the same spacing; if so it adds next to
 * last. */
static bool absorb(struct dtype_run *last, const struct dtype_run *next)
{
    if (last->len != next->len)
        return false;
    ptrdiff_t stride = last->n > 1   ? last->stride
                       : next->n > 1 ? next->stride
                                     : next->disp - last->disp;
    if (next->n > 1 && next->stride != stride)
        return false;
    if (next->disp != last->disp + (ptrdiff_t)last->n * stride)
        return false;
    last->stride = stride;
    last->n += next->n;
    return true;
}

/* compress compresses the first n runs; those behind move up. */
static void compress(struct dtype_runs *runs, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < runs->n; i++) {
        if (kept && i < n && absorb(&runs->v[kept - 1], &runs->v[i]))
            continue;
        runs->v[kept++] = runs->v[i];
    }
    runs->n = kept;
}

void dtype_runs_compress(struct dtype_runs *runs)
{
    compress(runs, runs->n);
    if (runs->cap > 2 * runs->n + 4) {
        struct dtype_run *v = realloc(runs->v, (runs->n + 1) * sizeof(*v));
        if (v) {
            runs->v = v;
            runs->cap = runs->n + 1;
        }
    }
}

static int append(struct dtype_runs *runs, const struct dtype_item *item)
{
    if (!runs->list)
        runs->list = dtype_compact_create(&runs->bound->lists);
    return runs->list ? dtype_compact_append(runs->list, item) : MRMA_ERR_NO_MEM;
}

/* spill moves the first n runs into the compact list. */
static int spill(struct dtype_runs *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int err = append(runs, &(struct dtype_item){.run = runs->v[i]});
        if (err != MRMA_SUCCESS)
            return err;
    }
    for (size_t i = n; i < runs->n; i++)
        runs->v[i - n] = runs->v[i];
    runs->n -= n;
    return MRMA_SUCCESS;
}

/* spill_most is called when there are as many runs as allowed. The last run may still join the next
 * one, so it is not compressed yet, and the last two runs stay. */
static int spill_most(struct dtype_runs *runs)
{
    compress(runs, runs->n - 1);
    return runs->n > runs->bound->most / 2 ? spill(runs, runs->n - 2) : MRMA_SUCCESS;
}

/* normal_run turns pieces that touch, in order, into one piece. */
static struct dtype_run normal_run(struct dtype_run r)
{
    if (r.n > 1 && r.stride == (ptrdiff_t)r.len)
        r = (struct dtype_run){r.disp, r.len * r.n, 0, 1};
    if (r.n == 1)
        r.stride = 0;
    return r;
}

int dtype_runs_push(struct dtype_runs *out, struct dtype_run run)
{
    int err = MRMA_SUCCESS;

    run = normal_run(run);
    struct dtype_run *last = out->n ? &out->v[out->n - 1] : NULL;
    if (last && last->n == 1 && run.n == 1 && last->disp + (ptrdiff_t)last->len == run.disp) {
        last->len += run.len;
        return MRMA_SUCCESS;
    }
    if (out->n >= out->bound->most)
        err = spill_most(out);
    if (err == MRMA_SUCCESS)
        err = make_room(out);
    if (err == MRMA_SUCCESS)
        out->v[out->n++] = run;
    return err;
}

/* repeat_run returns whether a repeated run is still a single run, and makes it that. */
static bool repeat_run(struct dtype_run *r, size_t count, ptrdiff_t stride)
{
    if (count == 1)
        return true;
    if (r->n == 1)
        r->stride = stride;
    else if (stride != r->stride * (ptrdiff_t)r->n)
        return false;
    r->n *= count;
    return true;
}

static int push_copies(struct dtype_runs *out, const struct dtype_runs *unit, ptrdiff_t disp,
                       size_t count, ptrdiff_t stride)
{
    for (size_t k = 0; k < count; k++, disp += stride) {
        for (size_t i = 0; i < unit->n; i++) {
            struct dtype_run r = unit->v[i];

            r.disp += disp;
            int err = dtype_runs_push(out, r);
            if (err != MRMA_SUCCESS)
                return err;
        }
    }
    return MRMA_SUCCESS;
}

/* copies_length returns how many runs so many copies of unit have when they are compressed.
 * SIZE_MAX without memory. */
static size_t copies_length(const struct dtype_runs *unit, size_t count, ptrdiff_t stride)
{
    struct dtype_runs_bound bound = {.most = SIZE_MAX};
    struct dtype_runs out = {.bound = &bound};
    const int err = push_copies(&out, unit, 0, count, stride);

    compress(&out, out.n);
    const size_t n = err == MRMA_SUCCESS ? out.n : SIZE_MAX;
    dtype_runs_free(&out);
    return n;
}

/* copies_join returns whether neighbouring copies of unit join, so that any number of copies has as
 * many runs as two. */
static bool copies_join(struct dtype_runs *unit, ptrdiff_t stride)
{
    if (!unit->asked || unit->asked_stride != stride) {
        unit->asked = true;
        unit->asked_stride = stride;
        unit->join =
            unit->n <= FEW && copies_length(unit, 3, stride) <= copies_length(unit, 2, stride);
    }
    return unit->join;
}

/* as_copies returns whether copies of unit's runs should be appended. */
static bool as_copies(const struct dtype_runs *out, struct dtype_runs *unit, size_t count,
                      ptrdiff_t stride)
{
    if (unit->list)
        return false;
    if (count <= FEW && unit->n * count <= FEW)
        return true;
    const size_t most = out->bound->most;
    if (!out->list && count <= most && unit->n <= (most - out->n) / count)
        return true;
    return copies_join(unit, stride);
}

int dtype_runs_repeat(struct dtype_runs *out, struct dtype_runs *unit, ptrdiff_t disp, size_t count,
                      ptrdiff_t stride)
{
    if ((unit->n == 0 && !unit->list) || count == 0)
        return MRMA_SUCCESS;
    if (unit->n == 1 && !unit->list) {
        struct dtype_run r = unit->v[0];

        r.disp += disp;
        if (repeat_run(&r, count, stride))
            return dtype_runs_push(out, r);
    }
    if (as_copies(out, unit, count, stride))
        return push_copies(out, unit, disp, count, stride);

    struct dtype_item item = {.run = {.disp = disp, .n = count, .stride = stride}};
    int err = MRMA_SUCCESS;
    if (unit->n)
        err = spill(unit, unit->n);
    if (err == MRMA_SUCCESS) {
        dtype_compact_close(unit->list);
        item.list = unit->list;
        compress(out, out->n);
        err = spill(out, out->n);
    }
    return err == MRMA_SUCCESS ? append(out, &item) : err;
}

int dtype_runs_finish(struct dtype_runs *runs)
{
    dtype_runs_compress(runs);
    if (!runs->list && runs->n <= runs->bound->most)
        return MRMA_SUCCESS;
    const int err = spill(runs, runs->n);
    if (err == MRMA_SUCCESS)
        dtype_compact_close(runs->list);
    return err;
}

void dtype_runs_free(struct dtype_runs *runs)
{
    free(runs->v);
    *runs = (struct dtype_runs){.bound = runs->bound};
}
