/*
 * stream.h - large operations, sent packet by packet from the user's buffer. Under the engine's
 * lock.
 */
#ifndef MRMA_RMA_ORIGIN_STREAM_H
#define MRMA_RMA_ORIGIN_STREAM_H

#include "rma/origin/op_record.h"
#include "rma/origin/pair.h"

enum { ORIGIN_PAIR_STREAMS = 64 /* large operations of a pair of window and target */ };
/* May pt have another one? */
bool origin_stream_room(const struct pkt_target *pt);

/* Send a large operation. The errors of ch3_send_stream, MRMA_ERR_NO_MEM; the operation's rma_req
 * is charged with it until its last packet has left. */
int origin_stream(struct pkt_target *pt, const struct record_source *src, const struct rma_op *op);

#endif
