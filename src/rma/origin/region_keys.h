/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region_keys.h - what an origin knows of the regions that targets on the network have attached to
 * a dynamic window: where they are, and by which key the channel reaches them (rdma.c).
 *
 * If the channel could do an operation, but nothing is known of its address, the operation goes by
 * packet, and the target is asked for the region there. The answer holds until the target says that
 * it is detaching the region. The target does not finish that before this process has said that it
 * does not use the key any more (target/attach.c).
 *
 * Locks: the engine's is held by the caller. Nothing here waits.
 */
#ifndef MRMA_RMA_ORIGIN_REGION_KEYS_H
#define MRMA_RMA_ORIGIN_REGION_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "ch3/channel.h"
#include "rma/win/span_list.h"

struct origin_pair;
struct pkt_hdr;
struct rma_target;
struct win;

/* A region of a target. It is kept until the target has taken it back and nobody uses its key. */
struct origin_key {
    struct span span;       /* first */
    uint32_t number;        /* number that the target has given to this region alone */
    uint32_t users;         /* count of origin_key_use; the region is not detached before it is 0 */
    bool registered;        /* the channel reaches it; otherwise packets do */
    bool gone;              /* the target is taking it back */
    struct ch3_mem_key mem; /* its base is that of address 0, modulo 2^64 */
};

/* origin_key_at returns what is known of the region in which all the len bytes at addr lie. NULL:
 * nothing is known, or the bytes do not lie in one region. */
struct origin_key *origin_key_at(const struct origin_pair *pair, uint64_t addr, uint64_t len);

/* origin_key_ask asks the target of pair for its region at addr, if nothing is known of that
 * region, no question is open, and this process has an agent: the target's MPI_Win_detach relies on
 * an agent here. */
void origin_key_ask(struct origin_pair *pair, uint64_t addr);

/* origin_key_use notes one more user of the key, until origin_key_done. NULL: nothing happens. */
void origin_key_use(struct origin_key *key);

/* origin_key_done ends one origin_key_use. If it was the last use of a region that is being
 * detached, the key is freed and the target is told; with failed the target is not told, since the
 * pair ends. NULL: nothing happens. */
void origin_key_done(struct origin_pair *pair, struct origin_key *key, bool failed);

/* origin_key_got takes a PKT_REGION of t, the answer to origin_key_ask. Returns false if it was not
 * asked for, or is not well formed: the packet is to be refused. */
bool origin_key_got(struct rma_target *t, const struct pkt_hdr *hdr, const void *body);

/* origin_key_gone takes a PKT_REGION_GONE of t: from now on no operation begins to use the key of
 * the region with that number, in which addr lies. The target is told so when the operations that
 * use it now have ended.
 */
void origin_key_gone(struct win *w, struct rma_target *t, uint32_t number, uint64_t addr);

/* origin_keys_free forgets what is known of the regions of pair, at its end. Nobody uses a key. */
void origin_keys_free(struct origin_pair *pair);

#endif
