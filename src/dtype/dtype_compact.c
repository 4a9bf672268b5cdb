/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_compact.c - writing and reading compact lists of runs (dtype_compact.h).
 *
 * Displacements are little endian two's complement numbers of as many bytes as they need; lengths,
 * numbers and strides have seven bits a byte, the last byte without the eighth bit.
 *
 * Invariant: the item at a mark can be read without the ones before it. No locks: a list is filled
 * by one thread, and only read once it is closed. Neighbours: dtype_runs.c fills, dtype_cursor.c
 * reads.
 */
#include "dtype/dtype_compact.h"

#include <stdlib.h>

#include "base/err.h"

/* ITEM_MAX: bytes of the longest item. MARK_EVERY: how many items find reads at most; the marks
 * cost half a byte for each item. */
enum { ITEM_MAX = 1 + 8 + 3 * 10 + sizeof(void *), MARK_EVERY = 32 };

struct dtype_compact *dtype_compact_create(struct dtype_compact **all)
{
    struct dtype_compact *list = malloc(sizeof *list);

    if (!list)
        return NULL;
    *list = (struct dtype_compact){
        .lo = PTRDIFF_MAX, .hi = PTRDIFF_MIN, .since = MARK_EVERY, .chain = *all};
    *all = list;
    return list;
}

void dtype_compact_free(struct dtype_compact *all)
{
    while (all) {
        struct dtype_compact *next = all->chain;

        free(all->code);
        free(all->marks);
        free(all);
        all = next;
    }
}

static int make_room(struct dtype_compact *list)
{
    if (list->room < list->len + ITEM_MAX + DTYPE_CODE_PAD) {
        const size_t room = list->room + list->room / 2 + 2 * (ITEM_MAX + DTYPE_CODE_PAD);
        uint8_t *code = realloc(list->code, room);

        if (!code)
            return MRMA_ERR_NO_MEM;
        list->code = code;
        list->room = room;
    }
    if (list->nmarks == list->marks_room) {
        const size_t room = list->marks_room + list->marks_room / 2 + 1;
        struct dtype_mark *marks = realloc(list->marks, room * sizeof *marks);

        if (!marks)
            return MRMA_ERR_NO_MEM;
        list->marks = marks;
        list->marks_room = room;
    }
    return MRMA_SUCCESS;
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
    for (; number > 127; number >>= 7)
        *at++ = (uint8_t)(number | 128);
    *at++ = (uint8_t)number;
    return at;
}

static const uint8_t *get_number(const uint8_t *at, uint64_t *number)
{
    unsigned shift = 0;

    *number = 0;
    do {
        *number |= (uint64_t)(*at & 127) << shift;
        shift += 7;
    } while (*at++ & 128);
    return at;
}

/* fold_sign maps small numbers of either sign to small unsigned numbers. */
static uint64_t fold_sign(int64_t number)
{
    return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

static int64_t unfold_sign(uint64_t folded)
{
    return (int64_t)(folded >> 1 ^ -(folded & 1));
}

static unsigned bytes_of(int64_t number)
{
    const uint64_t magnitude = (uint64_t)(number < 0 ? ~number : number);

    return magnitude < 128 ? 1 : (unsigned)(64 - __builtin_clzl(magnitude)) / 8 + 1;
}

static void put_item(struct dtype_compact *list, const struct dtype_item *item, bool fresh)
{
    const struct dtype_run *r = &item->run;
    const int64_t disp = fresh ? r->disp : r->disp - list->last.run.disp;
    const unsigned bytes = bytes_of(disp);
    const bool repeat = r->n != 1;
    /* An item that is a list has no length that could be repeated. */
    const bool len = !item->list && (fresh || list->last.list || r->len != list->last.run.len);
    uint8_t *at = list->code + list->len;
    const uint64_t raw = htole64((uint64_t)disp);

    *at++ = (uint8_t)((bytes - 1) | (fresh ? DTYPE_CODE_FRESH : 0) | (len ? DTYPE_CODE_LEN : 0) |
                      (repeat ? DTYPE_CODE_REPEAT : 0) | (item->list ? DTYPE_CODE_LIST : 0));
    memcpy(at, &raw, sizeof raw);
    at += bytes;
    if (len)
        at = put_number(at, r->len);
    if (repeat) {
        at = put_number(at, r->n);
        at = put_number(at, fold_sign(r->stride));
    }
    if (item->list) {
        memcpy(at, &item->list, sizeof item->list);
        at += sizeof item->list;
    }
    list->len = (size_t)(at - list->code);
}

const uint8_t *dtype_compact_rest(const uint8_t *code, unsigned head, struct dtype_item *item)
{
    uint64_t number;

    if (head & DTYPE_CODE_LEN) {
        code = get_number(code, &number);
        item->run.len = number;
    }
    if (head & DTYPE_CODE_REPEAT) {
        code = get_number(code, &number);
        item->run.n = number;
        code = get_number(code, &number);
        item->run.stride = unfold_sign(number);
    }
    if (head & DTYPE_CODE_LIST) {
        memcpy(&item->list, code, sizeof item->list);
        code += sizeof item->list;
        item->run.len = item->list->size;
    }
    return code;
}

/* measure adds up the bytes that the item touches. */
static void measure(struct dtype_compact *list, const struct dtype_item *item)
{
    const struct dtype_run *r = &item->run;
    const struct dtype_compact *in = item->list;
    const ptrdiff_t first = r->disp, last = r->disp + (ptrdiff_t)(r->n - 1) * r->stride;
    const ptrdiff_t low = (first < last ? first : last) + (in ? in->lo : 0);
    const ptrdiff_t high = (first < last ? last : first) + (in ? in->hi : (ptrdiff_t)r->len);

    list->lo = low < list->lo ? low : list->lo;
    list->hi = high > list->hi ? high : list->hi;
    list->size += r->n * (in ? in->size : r->len);
    list->pieces += r->n * (in ? in->pieces : 1);
}

int dtype_compact_append(struct dtype_compact *list, const struct dtype_item *item)
{
    const bool fresh = list->since == MARK_EVERY;

    if (make_room(list) != MRMA_SUCCESS)
        return MRMA_ERR_NO_MEM;
    if (fresh) {
        list->marks[list->nmarks++] = (struct dtype_mark){.pos = list->size, .at = list->len};
        list->since = 0;
    }
    put_item(list, item, fresh);
    list->since++;
    list->last = *item;
    measure(list, item);
    return MRMA_SUCCESS;
}

void dtype_compact_close(struct dtype_compact *list)
{
    if (list->room == list->len + DTYPE_CODE_PAD)
        return; /* it is closed */
    memset(list->code + list->len, 0, DTYPE_CODE_PAD);
    list->room = list->len + DTYPE_CODE_PAD;
    uint8_t *code = realloc(list->code, list->room);
    struct dtype_mark *marks = realloc(list->marks, list->nmarks * sizeof *marks);

    if (code)
        list->code = code;
    if (marks)
        list->marks = marks;
}

const uint8_t *dtype_compact_find(const struct dtype_compact *list, size_t pos,
                                  struct dtype_item *item, size_t *before)
{
    size_t low = 0, high = list->nmarks;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (list->marks[middle].pos <= pos)
            low = middle;
        else
            high = middle;
    }
    const uint8_t *code = list->code + list->marks[low].at;
    for (*before = list->marks[low].pos;; *before += item->run.len * item->run.n) {
        code = dtype_compact_read(code, item);
        if (pos - *before < item->run.len * item->run.n)
            return code;
    }
}
