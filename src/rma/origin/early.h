/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early.h - the packets of a pair that may wait at the target for their epoch: the origin's account
 * of them, over all epochs of the pair, so that there are never more of them than the target keeps.
 *
 * A packet is early if, when it leaves, it is not known that the target will apply it as it comes:
 * its epoch is not known to have begun there, or an early packet before it is not known to be
 * applied, behind which it would wait. Packets of a pair are judged in the order in which they were
 * sent. So what waits at the target is early, and not known to be applied; and the first of those
 * that are left is known to be applied when its epoch is known to have begun, since it waits for
 * nothing else. An answer to a later packet says no more: what it proves of the epochs of earlier
 * ones was said before it, for a post or an acknowledgement took the same way back, or is said by
 * it: a lock is granted, and an operation of an epoch without a lock done, by a target that has
 * passed the fences that this process has passed.
 *
 * All under the engine's lock.
 */
#ifndef MRMA_RMA_ORIGIN_EARLY_H
#define MRMA_RMA_ORIGIN_EARLY_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "ch3/pkt.h"

struct pkt_target;

/* Early packets are numbered from 0 on, modulo 2^32. */
struct early {
    /* Number n is packets[n % PKT_PARKED_MAX]: what it waits for. */
    struct {
        uint32_t seq; /* a fence phase, the posts that must have come, or a lock number, by kind */
        uint8_t kind; /* enum pkt_epoch */
    } packets[PKT_PARKED_MAX];
    uint32_t sent;    /* so many have left */
    uint32_t applied; /* and so many are known to be applied: sent - applied are left */
};
static_assert((PKT_PARKED_MAX & (PKT_PARKED_MAX - 1)) == 0, "numbers wrap");

/* early_began tells whether the pair's present epoch, of that kind (enum pkt_epoch), has begun at
 * the target, as far as is known here. */
bool early_began(const struct pkt_target *pt, uint8_t kind);
/* early_left returns how many early packets are not known to be applied: at most as many wait at
 * the target. */
unsigned early_left(const struct pkt_target *pt);
/* early_note remembers which early packets are known to be applied. What says so may belong to the
 * present epoch, so it is called whenever the pair sends in one, or has waited. */
void early_note(struct pkt_target *pt);
/* early_leave adds so many packets of the present epoch, of that kind, that leave early. */
void early_leave(struct pkt_target *pt, uint8_t kind, unsigned packets);

#endif
