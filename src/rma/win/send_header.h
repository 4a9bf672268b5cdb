/*
 * send_header.h - packets of a window that are a header alone: acknowledgements, posts, errors and
 * the like, of both sides.
 */
#ifndef MRMA_RMA_WIN_SEND_HEADER_H
#define MRMA_RMA_WIN_SEND_HEADER_H

#include "rma/win/win.h"

/* Send one of this type, enum pkt_type, to t's process; seq to offset are the header's fields of
 * these names. Under the engine's lock. The errors of ch3_send_owned; where there is no memory for
 * it the connection is given up, since the peer would wait for it for ever. */
int win_send_header(struct win *w, struct rma_target *t, uint8_t type, uint32_t seq, uint32_t count,
                    uint32_t total, uint64_t offset);

#endif
