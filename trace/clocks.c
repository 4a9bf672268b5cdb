/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clocks.c - see clocks.h.
 */
#include "clocks.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

void clocks_begin(struct clocks *clocks, uint32_t n)
{
    *clocks = (struct clocks){.n = n};
    clocks->at = zalloc((size_t)n * n, sizeof *clocks->at);
    clocks->version = zalloc(n, sizeof *clocks->version);
    clocks->snap = zalloc(n, sizeof(struct snap *));
    for (uint32_t i = 0; i < n; i++) /* 0 is what nobody has done */
        clocks->at[(size_t)i * n + i] = 1;
}

void clocks_end(struct clocks *clocks)
{
    for (uint32_t i = 0; i < clocks->n; i++)
        snap_drop(clocks->snap[i]);
    free(clocks->snap);
    free(clocks->version);
    free(clocks->at);
    *clocks = (struct clocks){0};
}

static void changed(struct clocks *clocks, uint32_t rank)
{
    clocks->version[rank]++;
    snap_drop(clocks->snap[rank]);
    clocks->snap[rank] = NULL;
}

uint32_t clocks_tick(struct clocks *clocks, uint32_t rank)
{
    changed(clocks, rank);
    return ++clocks->at[(size_t)rank * clocks->n + rank];
}

void clocks_join(uint32_t *into, const uint32_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
}

void clocks_learn(struct clocks *clocks, uint32_t rank, const uint32_t *known)
{
    if (!known)
        return;
    changed(clocks, rank);
    clocks_join(&clocks->at[(size_t)rank * clocks->n], known, clocks->n);
}

struct snap *clocks_snap(struct clocks *clocks, uint32_t rank)
{
    struct snap *snap = clocks->snap[rank];

    if (!snap) {
        snap = zalloc(1, sizeof *snap + clocks->n * sizeof *snap->at);
        snap->refs = 1;
        memcpy(snap->at, clocks_of(clocks, rank), clocks->n * sizeof *snap->at);
        clocks->snap[rank] = snap;
    }
    snap->refs++;
    return snap;
}

void snap_drop(struct snap *snap)
{
    if (snap && --snap->refs == 0)
        free(snap);
}

void clocks_leave(const struct clocks *clocks, uint32_t rank, uint32_t **known)
{
    if (!*known)
        *known = zalloc(clocks->n, sizeof **known);
    clocks_join(*known, clocks_of(clocks, rank), clocks->n);
}
