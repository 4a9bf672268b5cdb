/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replies.h - what targets answer: the results of operations that fetch, and refusals.
 *
 * Replies of one request come in the order of its positions (channels keep the order of a pair);
 * anything else is refused. Locks: the caller holds the engine's. Nothing here waits.
 */
#ifndef MRMA_RMA_ORIGIN_REPLIES_H
#define MRMA_RMA_ORIGIN_REPLIES_H

#include <stdint.h>

#include "rma/origin/pair.h"

struct pkt_hdr;

/* origin_reply takes a PKT_REPLY of t: puts its parts into the buffers of the requests that they
 * name, and ends those that are complete. Returns false, with a message, if a part was refused. */
bool origin_reply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body);

/* origin_error takes a PKT_ERROR of t: the window's next synchronization returns its error, and the
 * request by number that it names, or all requests of the pair, end with that error. Instead the
 * packet may tell that a process is lost (win_lost_got). */
void origin_error(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr);

#endif
