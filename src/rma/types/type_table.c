/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * type_table.c - see type_table.h.
 *
 * What comes from a peer is checked so that no later walk over it can overflow: every run and their
 * sum lie in the range of ptrdiff_t (got), and so do all instances of an operation (range). The
 * bytes may not be more than the range in which they lie, which bounds what one record can make the
 * target do.
 */
#include "rma/types/type_table.h"

#include <stdlib.h>
#include <string.h>

#include "acc/acc.h"
#include "base/copy.h"
#include "base/err.h"

static struct type_entry *held(const struct type_table *tt, unsigned i)
{
    return (struct type_entry *)&tt->held[(tt->first + i) % PKT_TYPES];
}

static void drop_oldest(struct type_table *tt)
{
    const struct dtype *type = held(tt, 0)->type;
    tt->runs -= type->nruns;
    tt->first = (tt->first + 1) % PKT_TYPES;
    tt->n--;
    dtype_unref(type);
}

/* Takes over the reference. */
static void enter(struct type_table *tt, uint32_t id, const struct dtype *type)
{
    while (tt->n && (tt->n == PKT_TYPES || tt->runs + type->nruns > PKT_TYPES_RUNS))
        drop_oldest(tt);
    *held(tt, tt->n) = (struct type_entry){.id = id, .type = type};
    tt->n++;
    tt->runs += type->nruns;
    tt->last_id = id;
}

struct type_table *type_table_new(uint32_t first)
{
    struct type_table *tt = calloc(1, sizeof *tt);
    if (tt)
        tt->last_id = first;
    return tt;
}

void type_table_forget(struct type_table *tt)
{
    while (tt && tt->n)
        drop_oldest(tt);
}

void type_table_free(struct type_table *tt)
{
    type_table_forget(tt);
    free(tt);
}

bool type_table_range(const struct dtype *type, uint64_t count, int64_t disp, int64_t *lo,
                      int64_t *hi)
{
    ptrdiff_t end, from, to, span;
    size_t bytes;
    return type->size && count && count <= PTRDIFF_MAX &&
           !__builtin_mul_overflow((ptrdiff_t)count, type->extent, &end) &&
           !__builtin_mul_overflow((size_t)count, type->size, &bytes) &&
           dtype_span(type, count, &from, &to) && !__builtin_sub_overflow(to, from, &span) &&
           bytes <= (size_t)span && !__builtin_add_overflow(disp, from, lo) &&
           !__builtin_add_overflow(disp, to, hi);
}

uint32_t type_table_find(const struct type_table *tt, const struct dtype *type)
{
    for (unsigned i = tt ? tt->n : 0; i--;)
        if (held(tt, i)->type == type)
            return held(tt, i)->id;
    return 0;
}

size_t type_table_size(const struct dtype *type)
{
    return sizeof(struct pkt_op) + type->nruns * sizeof(struct pkt_run);
}

uint32_t type_table_add(struct type_table *tt, const struct dtype *type)
{
    uint32_t id = tt->last_id + 1;
    id += id == 0;
    enter(tt, id, dtype_ref(type));
    return id;
}

void type_table_define(void *room, uint32_t id, const struct dtype *type)
{
    struct pkt_op *op = room;
    struct pkt_run *runs = (struct pkt_run *)(void *)(op + 1);
    *op = (struct pkt_op){.kind = PKT_OP_TYPE,
                          .request = id,
                          .offset = (uint64_t)type->extent,
                          .data_len = (uint16_t)(type->nruns * sizeof *runs)};
    for (size_t i = 0; i < type->nruns; i++)
        runs[i] = (struct pkt_run){.disp = type->runs[i].disp,
                                   .len = type->runs[i].len,
                                   .stride = type->runs[i].stride,
                                   .n = type->runs[i].n};
}

/* run_sound returns whether the run's pieces can be walked over. It widens [*lo, *hi) and adds to
 * *size. */
static bool run_sound(const struct pkt_run *r, int64_t *lo, int64_t *hi, size_t *size)
{
    int64_t far, last, end;
    size_t bytes;
    if (!r->len || !r->n || r->len > PTRDIFF_MAX || r->n > PTRDIFF_MAX ||
        __builtin_mul_overflow((int64_t)r->n - 1, r->stride, &far) ||
        __builtin_add_overflow(r->disp, far, &last))
        return false;
    const int64_t low = last < r->disp ? last : r->disp, high = last < r->disp ? r->disp : last;
    if (__builtin_add_overflow(high, (int64_t)r->len, &end) ||
        __builtin_mul_overflow(r->len, r->n, &bytes) || __builtin_add_overflow(*size, bytes, size))
        return false;
    *lo = low < *lo ? low : *lo;
    *hi = end > *hi ? end : *hi;
    return *size <= PTRDIFF_MAX;
}

/* make_type makes the datatype of n runs, which it copies into list. MRMA_ERR_TYPE: the runs cannot
 * be walked over. */
static int make_type(struct dtype_run *list, const char *runs, size_t n, ptrdiff_t extent,
                     struct dtype **type)
{
    struct dtype form = {
        .basic = ACC_NONE, .extent = extent, .runs = list, .eruns = list, .nruns = n, .neruns = n};
    int64_t lo = INT64_MAX, hi = INT64_MIN, span;
    for (size_t i = 0; i < n; i++) {
        struct pkt_run r;
        copy_once(&r, runs + i * sizeof r, sizeof r);
        if (!run_sound(&r, &lo, &hi, &form.size))
            return MRMA_ERR_TYPE;
        list[i] = (struct dtype_run){.disp = r.disp, .len = r.len, .stride = r.stride, .n = r.n};
    }
    if (__builtin_sub_overflow(hi, lo, &span))
        return MRMA_ERR_TYPE;
    return dtype_create(&form, type) == MRMA_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
}

int type_table_got(struct type_table *tt, const struct pkt_op *op, const void *runs)
{
    const size_t n = op->data_len / sizeof(struct pkt_run);
    struct dtype *type;
    if (op->form != PKT_FORM_SEGS || op->nseg || op->op || op->type || !n || n > PKT_TYPE_RUNS ||
        op->data_len % sizeof(struct pkt_run) || !op->request ||
        (int32_t)(op->request - tt->last_id) <= 0)
        return MRMA_ERR_TYPE;
    struct dtype_run *list = malloc(n * sizeof *list);
    const int err = list ? make_type(list, runs, n, (ptrdiff_t)op->offset, &type) : MRMA_ERR_NO_MEM;
    free(list);
    if (err)
        return err;
    enter(tt, op->request, type);
    return MRMA_SUCCESS;
}

const struct dtype *type_table_get(const struct type_table *tt, uint32_t id)
{
    for (unsigned i = tt ? tt->n : 0; i--;)
        if (held(tt, i)->id == id)
            return held(tt, i)->type;
    return NULL;
}
