/*
 * fence_arrival.h - the message of one round of fence_counts.c as it comes in, in parts.
 *
 * Every part says how many pairs follow, so nothing is believed that was not announced; and what is
 * taken has ranks that exist, that the round may bring here, in order of their distance.
 */
#ifndef MRMA_RMA_SYNC_FENCE_ARRIVAL_H
#define MRMA_RMA_SYNC_FENCE_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "ch3/pkt.h"
#include "rma/win/win.h"

struct fence_arrival {
    struct pkt_count *pairs;
    uint32_t n, missing; /* pairs that have come, and that have been announced */
    bool begun;
    bool broken; /* the sender has lost some */
};

/* From this process to that rank, in the order of ranks round the window. */
static inline uint32_t fence_distance(const struct win *w, uint32_t rank)
{
    const uint32_t n = (uint32_t)w->nproc;
    return (rank + n - (uint32_t)w->rank) % n;
}

/* The next part of round k's message. False: it is not well-formed, or not what was announced;
 * nothing has changed. Without memory for the pairs the message is broken. */
bool fence_arrival_add(const struct win *w, struct fence_arrival *a, const struct pkt_hdr *hdr,
                       unsigned k);

void fence_arrival_forget(struct fence_arrival *a);

#endif
