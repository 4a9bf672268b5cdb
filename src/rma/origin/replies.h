/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replies.h - what targets answer: the results of operations that fetch, refusals,
 * acknowledgements, and that they have begun an epoch.
 *
 * Replies of one request come in the order of its positions (channels keep the order of a pair);
 * anything else is refused. Locks: the caller holds the engine's. Nothing here waits.
 */
#ifndef MRMA_RMA_ORIGIN_REPLIES_H
#define MRMA_RMA_ORIGIN_REPLIES_H

#include <stdbool.h>
#include <stdint.h>

struct pkt_hdr;
struct rma_target;
struct win;

/* origin_reply takes a PKT_REPLY of t: puts its parts into the buffers of the requests that they
 * name, and ends those that are complete. Returns false, with a message, if a part was refused. */
bool origin_reply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body);

/* origin_error takes a PKT_ERROR of t: the window's next synchronization returns its error, and the
 * request by number that it names, or all requests of the pair, end with that error. Instead the
 * packet may tell that a process is lost (win_lost_got). */
void origin_error(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr);

/* origin_got_posts notes that t has posted so many exposure epochs to this process. A number less
 * than the known one has left t before. Returns false if t cannot have posted so many, since an
 * exposure follows the end of the access epoch before: the packet is to be refused. */
bool origin_got_posts(struct rma_target *t, uint32_t posts);

/* origin_got_open takes t's answer to origin_ask_open: if lock is true, the lock that was asked for
 * as number seq is granted; otherwise t has begun the fence phase seq. An answer that is out of
 * date is ignored. */
void origin_got_open(struct rma_target *t, uint32_t seq, bool lock);

/* origin_got_ack takes t's acknowledgement that the flush or unlock number seq, and everything sent
 * before it, is done. Returns false if this is not the next acknowledgement that is awaited: the
 * packet is to be refused. */
bool origin_got_ack(struct rma_target *t, uint32_t seq);

#endif
