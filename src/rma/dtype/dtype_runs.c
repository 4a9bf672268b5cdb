/*
 * dtype_runs.c - growing and compressing lists of runs (see dtype_runs.h).
 *
 * Pieces that touch are joined as they come in; equally spaced ones only by
 * runs_compress, because pairing them up early would hide a touching neighbour
 * that is still to come.
 */
#include "rma/dtype/dtype_runs.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"

static int reserve(struct run_list *list)
{
    if (list->n < list->cap)
        return MRMA_SUCCESS;
    size_t cap = list->cap ? 2 * list->cap : 4;
    struct dtype_run *v = realloc(list->v, cap * sizeof(*v));
    if (!v)
        return MRMA_ERR_NO_MEM;
    list->v = v;
    list->cap = cap;
    return MRMA_SUCCESS;
}

/* Pieces that touch, in order, are one piece. */
static struct dtype_run normal_run(struct dtype_run r)
{
    if (r.n > 1 && r.stride == (ptrdiff_t)r.len)
        r = (struct dtype_run){r.disp, r.len * r.n, 0, 1};
    if (r.n == 1)
        r.stride = 0;
    return r;
}

int runs_push(struct run_list *list, struct dtype_run run)
{
    run = normal_run(run);
    struct dtype_run *last = list->n ? &list->v[list->n - 1] : NULL;
    if (last && last->n == 1 && run.n == 1 && last->disp + (ptrdiff_t)last->len == run.disp) {
        last->len += run.len;
        return MRMA_SUCCESS;
    }
    int err = reserve(list);
    if (err == MRMA_SUCCESS)
        list->v[list->n++] = run;
    return err;
}

/* A single run repeated may still be a single run. */
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

int runs_repeat(struct run_list *out, const struct run_list *unit, ptrdiff_t disp, size_t count,
                ptrdiff_t stride)
{
    if (unit->n == 0 || count == 0)
        return MRMA_SUCCESS;
    if (unit->n == 1) {
        struct dtype_run r = unit->v[0];

        r.disp += disp;
        if (repeat_run(&r, count, stride))
            return runs_push(out, r);
    }
    for (size_t k = 0; k < count; k++, disp += stride) {
        for (size_t i = 0; i < unit->n; i++) {
            struct dtype_run r = unit->v[i];

            r.disp += disp;
            int err = runs_push(out, r);
            if (err != MRMA_SUCCESS)
                return err;
        }
    }
    return MRMA_SUCCESS;
}

/* Does next go on where last ends, with the same spacing? Then last takes it in. */
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

void runs_compress(struct run_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->n; i++) {
        if (kept && absorb(&list->v[kept - 1], &list->v[i]))
            continue;
        list->v[kept++] = list->v[i];
    }
    list->n = kept;
    if (list->cap > 2 * kept + 4) {
        struct dtype_run *v = realloc(list->v, (kept + 1) * sizeof(*v));
        if (v) {
            list->v = v;
            list->cap = kept + 1;
        }
    }
}

void runs_free(struct run_list *list)
{
    free(list->v);
    *list = (struct run_list){0};
}
