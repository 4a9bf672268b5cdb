/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early.h - the origin's account of the packets of a pair that may wait at the target for their
 * epoch, over all epochs of the pair. It makes sure that there are never more of them than the
 * target keeps.
 *
 * A packet is early if, when it leaves, this process does not know that the target will apply it
 * when it comes. That is so if its epoch is not known to have begun at the target, or if it would
 * wait there behind an early packet that is not known to be applied. The target treats the packets
 * of a pair in the order in which they were sent. So every packet that waits at the target is early
 * and not known to be applied. The first of these is known to be applied as soon as its epoch is
 * known to have begun, since it waits for nothing else.
 *
 * The answer to a later packet tells nothing more about earlier ones. Either it was known before,
 * since the acknowledgement of the earlier epoch took the same way back in front of the answer; or
 * the answer itself tells that the epoch has begun: it has the number of posts, and a target grants
 * a lock, and does an operation of an epoch without a lock, only when it has passed the fences that
 * this process has passed.
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
    /* What packet number n waits for stands in packets[n % PKT_PARKED_MAX]. */
    struct {
        uint32_t seq; /* by kind: a fence phase, how many posts must have come, or a lock number */
        uint8_t kind; /* enum pkt_epoch */
    } packets[PKT_PARKED_MAX];
    uint32_t sent;    /* so many have left */
    uint32_t applied; /* how many are known to be applied; sent - applied are left */
};
static_assert((PKT_PARKED_MAX & (PKT_PARKED_MAX - 1)) == 0, "numbers wrap");

/* early_began returns whether the pair's present epoch, of that kind (enum pkt_epoch), is known to
 * have begun at the target. */
bool early_began(const struct pkt_target *pt, uint8_t kind);
/* early_left returns how many early packets are not known to be applied: at most as many wait at
 * the target. */
unsigned early_left(const struct pkt_target *pt);
/* early_note notes which early packets are known to be applied by now. The state that tells this
 * may belong to the present epoch, so the function is called whenever the pair sends in an epoch,
 * or has waited. */
void early_note(struct pkt_target *pt);
/* early_leave counts so many packets of the present epoch, of that kind, that leave early. */
void early_leave(struct pkt_target *pt, uint8_t kind, unsigned packets);

#endif
