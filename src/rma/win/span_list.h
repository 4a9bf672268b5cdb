/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * span_list.h - stretches of addresses that do not overlap, sorted, each found by an address in it:
 * the regions of other processes whose keys this one knows.
 *
 * A look-up, which every operation makes, halves what is left. An addition or a removal moves all
 * pointers behind its place in one piece: each comes with a question and an answer over the
 * network, which take longer. The entries of a list belong to its user and begin with a struct
 * span. Locks: the user's.
 */
#ifndef MRMA_RMA_WIN_SPAN_LIST_H
#define MRMA_RMA_WIN_SPAN_LIST_H

#include <stdint.h>

struct span {
    uint64_t addr, len; /* bytes, not 0; they do not reach beyond the last address */
};

struct span_list {
    struct span **at; /* n pointers, by addr; room for more */
    uint32_t n, room;
};

/* span_list_find returns the span in which addr lies; NULL: none. */
struct span *span_list_find(const struct span_list *list, uint64_t addr);

/* span_list_add enters a span, which stays the caller's. MRMA_ERR_RMA_ATTACH: it overlaps with one
 * that is there, has no byte, or reaches beyond the last address; MRMA_ERR_NO_MEM. Then nothing has
 * changed. */
int span_list_add(struct span_list *list, struct span *span);

/* span_list_remove takes a span out that is in the list. */
void span_list_remove(struct span_list *list, const struct span *span);

/* span_list_end calls end for each span, in no particular order, and leaves an empty list. */
void span_list_end(struct span_list *list, void (*end)(void *arg, struct span *span), void *arg);

#endif
