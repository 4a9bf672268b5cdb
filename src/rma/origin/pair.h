/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair.h - the origin's state of a pair of window and target. It is made when the first packet is
 * due (pkt_target_get, open_packet.h) and goes with the window (pair_free, issue.h).
 */
#ifndef MRMA_RMA_ORIGIN_PAIR_H
#define MRMA_RMA_ORIGIN_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "ch3/pkt.h"
#include "rma/origin/early.h"
#include "rma/progress/unsent.h"
#include "rma/win/span_list.h"
#include "rma/win/win.h"

/* Origin's state of packets to one target. Guarded by the engine's lock. */
struct pkt_target {
    struct win *win;
    struct rma_target *target;
    unsigned char *buf; /* the open packet; header first */
    uint32_t room;      /* bytes of buf: grows with what is put in, to PKT_MAX at most */
    uint32_t used;      /* bytes in it; sizeof(struct pkt_hdr) when empty */
    uint32_t count;     /* records in it */
    uint32_t asks;      /* and operations among them that have replies */
    uint32_t senders;   /* threads that wait to send it */
    struct unsent
        unsent; /* entered while there are records in it, unless it waits for the target */
    uint64_t phase_bytes; /* named by the records of the present fence phase */
    enum { PKT_LOCK_NONE, PKT_LOCK_DUE, PKT_LOCK_SENT, PKT_LOCK_HELD } lock;
    bool asked;        /* PKT_F_WANT_OPEN was sent in this epoch */
    bool awaited;      /* an operation of it has waited for the target, if only for a while */
    bool refused;      /* the target has refused a packet of it as a whole, and may never open it */
    uint32_t lock_seq; /* number of the lock epoch */
    uint32_t open_seq; /* 1 + the last fence phase known to have begun there */
    struct early early;           /* packets that may wait at the target, of all epochs */
    uint64_t epoch_seen;          /* window generation that asked and awaited belong to */
    uint32_t acks_due, acks_seen; /* numbers of flush and unlock requests */
    uint64_t last_op;             /* issued before the last such request, for traces (traced.h) */
    /* Operations without a reply, numbered in the order of their issue: so many were issued; and
     * so many of them are known to be done at the target, or a flush behind them is under way. */
    uint32_t written, flushed;
    bool unlocking; /* unlocked without waiting (mpirma_weak_unlock), and no acknowledgement yet */
    bool unconfirmed; /* operations were sent since the last acknowledgement that was awaited */
    uint32_t replies, streams;  /* outstanding here; the window has the sums */
    uint32_t rdma_ops, holding; /* operations of the channel's own: rdma.c */
    uint32_t atomics;           /* of these, atomic operations */
    bool unread;                /* puts of these must be read behind, to be known in place */
    uint64_t packed;            /* bytes of puts and gets by packet in this epoch: rdma.c */
    struct list requests;       /* struct origin_req, those of replies */
    struct list under_way;      /* struct rdma_op */
    uint64_t fetching;          /* bytes that the target must keep for replies under way */
    struct type_table *types;   /* datatypes that it has; NULL until used */
    struct span_list regions;   /* struct region_key, of a dynamic window: region_keys.h */
    bool asking;                /* it was asked for one, and has not answered */
    struct list_node touched;   /* in win->origin_side.touched while used in this epoch */
};

/* pkt_add_records notes that so many records, more than 0, were put into the open packet. Under the
 * engine's lock. */
static inline void pkt_add_records(struct pkt_target *pt, uint32_t records)
{
    if (pt->count == 0)
        unsent_add(pt->win->rma, &pt->unsent);
    pt->count += records;
}

/* issue_unflushed returns whether operations to pt were issued behind which no flush has been sent
 * and which are not known to be done. Those that fetch do not count: their replies tell. Under the
 * engine's lock. */
static inline bool issue_unflushed(const struct pkt_target *pt)
{
    return pt->written != pt->flushed;
}

/* issue_all_left returns whether everything that w had to send has left the send queues. Who
 * returns to its caller earlier may not come back to push it. Under the engine's lock. */
static inline bool issue_all_left(const struct win *w)
{
    return w->queued == 0;
}

#endif
