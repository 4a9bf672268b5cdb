/*
 * fence_arrival.c - see fence_arrival.h.
 */
#include "rma/sync/fence_arrival.h"

#include <stdlib.h>
#include <string.h>

/* Is this the next part of what has been announced, if anything has? */
static bool continues(const struct fence_arrival *a, const struct pkt_hdr *hdr, uint32_t nproc)
{
    const uint64_t n = hdr->count, left = hdr->offset;
    if (hdr->len != sizeof *hdr + n * sizeof(struct pkt_count) || left > nproc ||
        n + left > nproc || (!n && left))
        return false;
    return a->begun ? a->missing && a->missing == n + left : true;
}

/* Ranks that exist, that the round may bring here, in order behind the last one. */
static bool well_routed(const struct win *w, const struct fence_arrival *a,
                        const struct pkt_count *pairs, uint32_t n, unsigned k)
{
    const uint32_t low = (UINT32_C(2) << k) - 1;
    bool first = !a->n;
    uint32_t before = first ? 0 : fence_distance(w, a->pairs[a->n - 1].rank);
    for (uint32_t i = 0; i < n; i++) {
        if (pairs[i].rank >= (uint32_t)w->nproc)
            return false;
        const uint32_t d = fence_distance(w, pairs[i].rank);
        if ((d & low) || (!first && d <= before))
            return false;
        first = false;
        before = d;
    }
    return true;
}

static void keep(struct fence_arrival *a, const struct pkt_count *pairs, uint32_t n, uint32_t left)
{
    if (!a->begun && n) {
        a->pairs = malloc((n + (size_t)left) * sizeof *a->pairs);
        a->broken |= !a->pairs;
    }
    if (a->pairs) {
        memcpy(a->pairs + a->n, pairs, n * sizeof *pairs);
        a->n += n;
    }
    a->begun = true;
    a->missing = left;
}

bool fence_arrival_add(const struct win *w, struct fence_arrival *a, const struct pkt_hdr *hdr,
                       unsigned k)
{
    const struct pkt_count *pairs = (const struct pkt_count *)(hdr + 1);
    if (!continues(a, hdr, (uint32_t)w->nproc) || !well_routed(w, a, pairs, hdr->count, k))
        return false;
    if (hdr->total & PKT_COUNTS_BROKEN)
        a->broken = true;
    keep(a, pairs, hdr->count, (uint32_t)hdr->offset);
    return true;
}

void fence_arrival_forget(struct fence_arrival *a)
{
    free(a->pairs);
    *a = (struct fence_arrival){.pairs = NULL};
}
