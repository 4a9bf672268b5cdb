/*
 * target_single.h - one short operation that fetches, alone in its packet (target's side).
 */
#ifndef MRMA_RMA_TARGET_SINGLE_H
#define MRMA_RMA_TARGET_SINGLE_H

#include <stdbool.h>
#include <stdint.h>

struct win;
struct rma_target;
struct pkt_hdr;

/* Short gets, bytes: making a stream of one takes 0.1 us of a round trip of 1.3. */
enum { TARGET_AT_ONCE = 1024 };

/* Apply the packet's record and answer, with what rides on the packet, which is taken out of *flags. False: nothing was
 * done, for it is anything else, or wrong, or has to wait for others: target_apply.c. Under the engine's lock. */
bool target_single(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body, uint8_t *flags);

#endif
