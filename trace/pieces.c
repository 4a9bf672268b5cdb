/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pieces.c - see pieces.h.
 */
#include "pieces.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

/* On each level the link behind which a place in the list lies. */
struct place {
    struct piece **link[PIECES_LEVELS];
};

/* find finds the place in front of the first piece that ends behind the address. */
static void find(struct pieces *pieces, uint64_t address, struct place *place)
{
    struct piece *before = NULL;

    for (int level = PIECES_LEVELS - 1; level >= 0; level--) {
        struct piece **link = before ? &before->next[level] : &pieces->head[level];

        while (*link && (*link)->end <= address) {
            before = *link;
            link = &before->next[level];
        }
        place->link[level] = link;
    }
}

/* One in four of each level is on the next, too. */
static int new_levels(struct pieces *pieces)
{
    int levels = 1;

    pieces->random = pieces->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    for (uint64_t bits = pieces->random >> 24; levels < PIECES_LEVELS && (bits & 3) == 0;
         bits >>= 2)
        levels++;
    return levels;
}

/* insert adds a new piece at a place, which is behind the piece from then on. */
static struct piece *insert(struct pieces *pieces, struct place *place, uint64_t begin,
                            uint64_t end)
{
    const int levels = new_levels(pieces);
    struct piece *piece = zalloc(1, sizeof *piece + (size_t)levels * sizeof *piece->next);

    piece->begin = begin;
    piece->end = end;
    for (int level = 0; level < levels; level++) {
        piece->next[level] = *place->link[level];
        *place->link[level] = piece;
        place->link[level] = &piece->next[level];
    }
    pieces->n++;
    return piece;
}

static void add_access(struct piece *piece, uint32_t access)
{
    if (piece->n == piece->cap) {
        piece->cap = piece->cap ? 2 * piece->cap : 1;
        piece->access = realloc(piece->access, piece->cap * sizeof *piece->access);
        if (!piece->access)
            out_of_memory();
    }
    piece->access[piece->n++] = access;
}

void piece_keep(struct piece *piece, const unsigned char *keep)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < piece->n; i++)
        if (keep[i])
            piece->access[kept++] = piece->access[i];
    piece->n = kept;
}

/* cut cuts the piece behind the place at an address in it. The first part stays in front of the
 * place, which is behind that part then. */
static void cut(struct pieces *pieces, struct place *place, uint64_t at)
{
    struct piece *whole = *place->link[0];
    struct piece *first = insert(pieces, place, whole->begin, at);

    whole->begin = at;
    first->access = zalloc(whole->n, sizeof *first->access);
    first->n = first->cap = whole->n;
    if (whole->n)
        memcpy(first->access, whole->access, whole->n * sizeof *first->access);
}

/* step moves the place behind the piece that follows it. */
static void step(struct place *place, int top)
{
    struct piece *piece = *place->link[0];

    for (int level = 0; level < top && *place->link[level] == piece; level++)
        place->link[level] = &piece->next[level];
}

static bool has_only(const struct piece *piece, uint32_t access)
{
    return piece->n == 1 && piece->access[0] == access;
}

/* Removes the piece behind the place. */
static void take_out(struct pieces *pieces, struct place *place)
{
    struct piece *piece = *place->link[0];

    for (int level = 0; level < PIECES_LEVELS && *place->link[level] == piece; level++)
        *place->link[level] = piece->next[level];
    free(piece->access);
    free(piece);
    pieces->n--;
}

/* From the place on, up to end: neighbours with this access alone are one. */
static void join(struct pieces *pieces, uint64_t begin, uint64_t end, uint32_t access)
{
    struct place place;

    find(pieces, begin, &place);
    struct piece *last = *place.link[0];
    step(&place, PIECES_LEVELS);
    while (last && *place.link[0] && (*place.link[0])->begin < end) {
        struct piece *piece = *place.link[0];

        if (last->end == piece->begin && has_only(last, access) && has_only(piece, access)) {
            last->end = piece->end;
            take_out(pieces, &place);
        } else {
            last = piece;
            step(&place, PIECES_LEVELS);
        }
    }
}

void pieces_add(struct pieces *pieces, uint64_t begin, uint64_t end, uint32_t access,
                piece_visit *visit, void *arg)
{
    struct place place;
    size_t covered = 0;

    find(pieces, begin, &place);
    if (*place.link[0] && (*place.link[0])->begin < begin)
        cut(pieces, &place, begin);
    for (uint64_t at = begin; at < end; covered++) {
        struct piece *piece = *place.link[0];

        if (!piece || piece->begin > at) {
            const uint64_t until = piece ? u64_min(piece->begin, end) : end;

            add_access(insert(pieces, &place, at, until), access);
            at = until;
            continue;
        }
        if (piece->end > end) {
            cut(pieces, &place, end);
            find(pieces, at, &place);
            piece = *place.link[0];
        }
        visit(arg, piece);
        add_access(piece, access);
        at = piece->end;
        step(&place, PIECES_LEVELS);
    }
    if (covered > 1)
        join(pieces, begin, end, access);
}

void pieces_free(struct pieces *pieces)
{
    for (struct piece *piece = pieces->head[0], *next; piece; piece = next) {
        next = piece->next[0];
        free(piece->access);
        free(piece);
    }
    *pieces = (struct pieces){0};
}
