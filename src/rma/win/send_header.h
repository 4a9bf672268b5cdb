/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * send_header.h - headers of a window's packets, and packets that are a header alone:
 * acknowledgements, posts, errors and the like, of both sides.
 */
#ifndef MRMA_RMA_WIN_SEND_HEADER_H
#define MRMA_RMA_WIN_SEND_HEADER_H

#include "rma/win/win.h"

/* win_header returns a header of this type to t's process in its window, all else 0; len is that of
 * the header alone. */
static inline struct pkt_hdr win_header(const struct win *w, const struct rma_target *t,
                                        enum pkt_type type)
{
    return (struct pkt_hdr){.version = PKT_VERSION,
                            .type = (uint8_t)type,
                            .len = sizeof(struct pkt_hdr),
                            .win = t->remote_win,
                            .win_gen = t->remote_gen,
                            .rank = (uint32_t)w->rank};
}

/* win_send_header sends a packet of this type (enum pkt_type), a header alone, to t's process; seq,
 * count, total and offset are the header's fields of these names. Under the engine's lock; does not
 * wait. Returns the errors of ch3_send; where there is no memory for the packet the connection is
 * given up, since the peer would wait for the packet for ever. */
int win_send_header(struct win *w, struct rma_target *t, uint8_t type, uint32_t seq, uint32_t count,
                    uint32_t total, uint64_t offset);

#endif
