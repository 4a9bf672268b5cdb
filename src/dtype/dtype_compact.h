/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_compact.h - the runs of a datatype that has very many, in a few bytes each.
 *
 * A list of items in typemap order. An item is a run, or another list that is repeated at a regular
 * distance; so a datatype has no more items than arguments with which it was made, however often
 * its components are repeated. An item is written as its difference from the one before. At certain
 * distances there is a mark, behind which items can be read without those before it.
 *
 * A list is filled by one thread, then closed, and never changes again. All lists of one
 * datatype hang on a chain, by which they are freed together.
 */
#ifndef MRMA_DTYPE_DTYPE_COMPACT_H
#define MRMA_DTYPE_DTYPE_COMPACT_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dtype/dtype.h"

/* A place from which items can be read: the bytes of data before it, and its place in the code. */
struct dtype_mark {
    size_t pos, at;
};

struct dtype_compact {
    uint8_t *code;
    size_t len; /* bytes of code */
    struct dtype_mark *marks;
    size_t nmarks;
    size_t size, pieces; /* bytes of data and number of pieces, repetitions included */
    ptrdiff_t lo, hi;    /* first byte touched, and the one behind the last */

    /* Used while the list is filled. */
    size_t room, marks_room, since; /* since: items from the last mark on */
    struct dtype_item last;
    struct dtype_compact *chain; /* the next list of the same datatype */
};

/* dtype_compact_create makes a list without items and puts it on the chain *all, by which it is
 * freed. NULL: no memory. */
struct dtype_compact *dtype_compact_create(struct dtype_compact **all);

/* dtype_compact_free frees all lists of a chain, which may be empty (NULL). */
void dtype_compact_free(struct dtype_compact *all);

/* dtype_compact_append appends an item, whose run has n > 0 and, if the item is no list, len > 0.
 * If the item is a list, that list is closed and has items; the len of its run is ignored. Returns
 * MRMA_SUCCESS or MRMA_ERR_NO_MEM, after which the list can only be freed. */
int dtype_compact_append(struct dtype_compact *list, const struct dtype_item *item);

/* dtype_compact_close is called when no more items come: it gives back the memory that was kept for
 * them. The list has items; it may be closed already. */
void dtype_compact_close(struct dtype_compact *list);

/* dtype_compact_find finds the item that has byte pos of the list's data, pos < size. Returns where
 * the next item begins; *before is the number of bytes in front of the item. */
const uint8_t *dtype_compact_find(const struct dtype_compact *list, size_t pos,
                                  struct dtype_item *item, size_t *before);

/* The first byte of an item: how many bytes its displacement has (less one), and flags. */
enum {
    DTYPE_CODE_BYTES = 7,
    DTYPE_CODE_FRESH = 8,   /* the displacement is the whole one, not a difference */
    DTYPE_CODE_LEN = 16,    /* the length differs from that of the item before */
    DTYPE_CODE_REPEAT = 32, /* n and stride follow; they are 1 and 0 else */
    DTYPE_CODE_LIST = 64,   /* it is a list, whose address follows */
    DTYPE_CODE_PAD = 8,     /* bytes behind the last item that may be read */
};

/* dtype_compact_rest reads what follows the displacement of an item; head is the item's first byte.
 * Returns where the next item begins. Only for dtype_compact_read. */
const uint8_t *dtype_compact_rest(const uint8_t *code, unsigned head, struct dtype_item *item);

/* dtype_compact_read reads the item at code; *item is the item before it, and becomes this one.
 * Returns where the next item begins. If the item is a list, the len of its run is the bytes of one
 * copy of the list. */
static inline const uint8_t *dtype_compact_read(const uint8_t *code, struct dtype_item *item)
{
    const unsigned head = *code++, bytes = (head & DTYPE_CODE_BYTES) + 1;
    uint64_t raw;

    memcpy(&raw, code, sizeof raw);
    code += bytes;
    const unsigned above = 64 - 8 * bytes;
    const int64_t disp = (int64_t)(le64toh(raw) << above) >> above;
    item->run.disp = head & DTYPE_CODE_FRESH ? disp : item->run.disp + disp;
    item->run.stride = 0;
    item->run.n = 1;
    item->list = NULL;
    if (head & (DTYPE_CODE_LEN | DTYPE_CODE_REPEAT | DTYPE_CODE_LIST))
        code = dtype_compact_rest(code, head, item);
    return code;
}

#endif
