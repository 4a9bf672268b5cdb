/*
 * target_reply.h - answers to operations that fetch (target's side).
 *
 * The reply to a packet's last record carries what rides on the packet, a flush or an unlock, if
 * that is asked for: it is the last thing to come of the packet, and says more than an
 * acknowledgement behind it. Then the flag is taken out of the packet's. Short replies to the
 * records of one packet leave together. Locks: the engine's, held by the caller.
 */
#ifndef MRMA_RMA_TARGET_TARGET_REPLY_H
#define MRMA_RMA_TARGET_TARGET_REPLY_H

#include "rma/target/op_check.h"

/* Short replies, filled as records are applied. Begins with used 0. */
struct reply_batch {
    uint32_t used, parts; /* bytes behind the header; struct pkt_part in them */
    struct {
        struct pkt_hdr hdr;
        char data[PKT_MAX - sizeof(struct pkt_hdr)];
    } out;
};

/* Send what is in there, if anything. Requests whose answers can't be sent are told so. */
void target_reply_flush(struct win *w, struct rma_target *t, struct reply_batch *batch);

/* Answer a get. It reads the window now, or as its packets leave. */
int target_reply_get(struct win *w, struct rma_target *t, const struct target_record *rec);

/* Answer with what was fetched: rec->total bytes that lie behind *out. */
int target_reply_fetched(struct win *w, struct rma_target *t, const struct target_record *rec,
                         struct pkt_hdr *out);

#endif
