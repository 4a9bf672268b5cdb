/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region_keys.h - what an origin knows of the regions that targets on the network have attached to
 * a dynamic window: where they are, and by which key the channel reaches them (rdma.c).
 *
 * The first operation that the channel could do on an address of which nothing is known goes by
 * packet, and the target is asked for the region there. What it answers holds until it says that
 * the region is being detached, which it does not let end before this process has said that it has
 * let go of the key (target/attach.c).
 *
 * Locks: the engine's is held by the caller. Nothing here waits.
 */
#ifndef MRMA_RMA_ORIGIN_REGION_KEYS_H
#define MRMA_RMA_ORIGIN_REGION_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "rma/origin/pair.h"
#include "rma/win/span_list.h"

/* A region of a target, as long as that has not taken it back or somebody uses its key. */
struct region_key {
    struct span span;       /* first */
    uint32_t number;        /* the target's, of this region and no other */
    uint32_t users;         /* region_key_use; the region is not detached before there are none */
    bool registered;        /* else the channel does not reach it, and packets go */
    bool gone;              /* the target takes it back */
    struct ch3_mem_key mem; /* base: that of address 0, modulo 2^64 */
};

/* region_key_at returns what is known of the region in which all the len bytes at addr lie. NULL:
 * nothing, or not all lie in one region. */
struct region_key *region_key_at(const struct pkt_target *pt, uint64_t addr, uint64_t len);

/* region_key_ask asks the target of pt for its region at addr, if nothing is known of that, no
 * question is open, and this process has an agent, which the target's MPI_Win_detach relies on. */
void region_key_ask(struct pkt_target *pt, uint64_t addr);

/* region_key_use notes one more that uses the key, until region_key_done. NULL: nothing happens. */
void region_key_use(struct region_key *key);

/* region_key_done ends one region_key_use. If it was the last one of a region that is being
 * detached the key is freed, and the target told, unless failed: the pair ends. NULL: nothing
 * happens. */
void region_key_done(struct pkt_target *pt, struct region_key *key, bool failed);

/* region_key_got takes a PKT_REGION of t, the answer to region_key_ask. Returns false if it was not
 * asked for, or is not well formed: the packet is to be refused. */
bool region_key_got(struct rma_target *t, const struct pkt_hdr *hdr, const void *body);

/* region_key_gone takes a PKT_REGION_GONE of t: operations use the key of the region with that
 * number, in which addr lies, no more. The target is told so when those that use it now have ended.
 */
void region_key_gone(struct win *w, struct rma_target *t, uint32_t number, uint64_t addr);

/* region_keys_free forgets what is known of the regions of pt, at its end. Nobody uses a key. */
void region_keys_free(struct pkt_target *pt);

#endif
