/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_reply.h - answers to operations that fetch (target's side).
 *
 * A reply is a packet of parts, each a piece of one request's result. Short results of one packet's
 * records are collected and leave together behind the last record. If a flush or an unlock is
 * piggybacked on the packet, the reply also acknowledges that. A long result leaves by itself, as a
 * stream that reads the window as there is room. Locks: the engine's, held by the caller.
 */
#ifndef MRMA_RMA_TARGET_TARGET_REPLY_H
#define MRMA_RMA_TARGET_TARGET_REPLY_H

#include "rma/target/op_check.h"

/* Replies to the records of one packet. */
struct replies {
    struct win *win;
    struct rma_target *to;
    uint8_t flags;        /* piggybacked on the packet and not done yet, enum pkt_flag */
    uint32_t ack;         /* the number to acknowledge with these */
    uint32_t used, parts; /* bytes behind the header; struct pkt_part in them */
    struct {
        struct pkt_hdr hdr;
        char data[PKT_MAX - sizeof(struct pkt_hdr)];
    } out; /* most of it is not written */
};

/* target_replies_begin makes *r empty, for the packet with that header, which has come from t's
 * process. target_replies_send ends it. */
static inline void target_replies_begin(struct replies *r, struct win *w, struct rma_target *t,
                                        const struct pkt_hdr *packet)
{
    r->win = w;
    r->to = t;
    r->flags = packet->flags;
    r->ack = (uint32_t)packet->offset;
    r->used = r->parts = 0;
}

/* target_replies_send sends what is collected, if there is anything. end says that all records are
 * applied, so that the piggybacked synchronization may be carried out with it; r->flags is what
 * then remains to be done. Requests whose results cannot be sent end with an error at their
 * origin. */
void target_replies_send(struct replies *r, bool end);

/* target_reply_room returns room in the reply for what rec fetches (rec->total bytes, at most
 * PKT_REPLY_MAX). The caller fills the room before it calls anything else here. If there is no room
 * behind what is collected, that is sent first. */
char *target_reply_room(struct replies *r, const struct target_record *rec);

/* target_reply_get answers a get that was checked. It reads the window now, or when the reply's
 * packets leave. last says that rec is its packet's last record, so that the piggybacked
 * synchronization may be carried out with the reply. Returns MRMA_ERR_NO_MEM, or the errors of
 * ch3_send_stream. */
int target_reply_get(struct replies *r, struct target_record *rec, bool last);

#endif
