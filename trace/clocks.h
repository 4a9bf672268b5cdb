/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clocks.h - vector clocks: for each rank, how far it knows that each has come.
 *
 * A rank's own part grows by one where it does something that others may learn of. Who learns the
 * clock of another at some point knows all that was before that point. A struct known is what was
 * left somewhere for others to learn: NULL as long as nothing was.
 */
#ifndef MRMA_TRACE_CLOCKS_H
#define MRMA_TRACE_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A snap is what a rank knew at some time. It is shared, and freed with its last reference. */
struct snap {
    uint32_t refs;
    uint32_t at[];
};

struct clocks {
    uint32_t n;         /* ranks */
    uint32_t *at;       /* [rank * n + other] */
    uint64_t *version;  /* how often each rank's clock has changed */
    struct snap **snap; /* of each rank's clock as it is; NULL: none was taken of it */
};

void clocks_begin(struct clocks *clocks, uint32_t n);
void clocks_end(struct clocks *clocks);

static inline const uint32_t *clocks_of(const struct clocks *clocks, uint32_t rank)
{
    return &clocks->at[(size_t)rank * clocks->n];
}

/* clocks_tick lets the rank's own part grow, and returns it. */
uint32_t clocks_tick(struct clocks *clocks, uint32_t rank);

/* clocks_learn adds what is known to the rank's clock. NULL: nothing is. */
void clocks_learn(struct clocks *clocks, uint32_t rank, const uint32_t *known);

/* clocks_snap returns a reference to the rank's clock as it is now. snap_drop gives one back; NULL
 * is allowed. */
struct snap *clocks_snap(struct clocks *clocks, uint32_t rank);
void snap_drop(struct snap *snap);

/* clocks_leave adds the rank's clock to what is known somewhere, which is made with the first. */
void clocks_leave(const struct clocks *clocks, uint32_t rank, uint32_t **known);

/* clocks_join adds a clock of n ranks to another. */
void clocks_join(uint32_t *into, const uint32_t *from, uint32_t n);

#endif
