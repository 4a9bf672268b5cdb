/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pieces.h - which accesses there have been to the bytes of one process's memory.
 *
 * Memory is cut into pieces that do not overlap, in order of their addresses; all bytes of a piece
 * have seen the same accesses, which are numbers here. A skip list: what is looked up or added
 * costs the logarithm of the number of pieces, and one step for each piece that it covers.
 */
#ifndef MRMA_TRACE_PIECES_H
#define MRMA_TRACE_PIECES_H

#include <stddef.h>
#include <stdint.h>

enum { PIECES_LEVELS = 20 };

struct piece {
    uint64_t begin, end; /* the byte behind its last */
    uint32_t *access;
    uint32_t n, cap;
    struct piece *next[]; /* on each of its levels */
};

/* Without any piece the struct is all zeros. */
struct pieces {
    struct piece *head[PIECES_LEVELS];
    uint64_t random; /* for the levels of new pieces */
    size_t n;
};

/* What to do with a piece that an access covers: piece->access may be changed by piece_keep alone,
 * and the access itself is added afterwards. */
typedef void piece_visit(void *arg, struct piece *piece);

/* pieces_add calls visit for each piece of the bytes from begin to end - 1, cut so that none
 * reaches beyond, and adds the access to it; bytes that were in no piece become pieces, for which
 * visit is not called. Neighbours that have this access alone become one. */
void pieces_add(struct pieces *pieces, uint64_t begin, uint64_t end, uint32_t access,
                piece_visit *visit, void *arg);

/* piece_keep removes those of a piece's accesses for which keep[i] is not set. */
void piece_keep(struct piece *piece, const unsigned char *keep);

void pieces_free(struct pieces *pieces);

#endif
