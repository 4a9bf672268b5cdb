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
    uint32_t room;      /* bytes of buf; it grows with what is put in, up to PKT_MAX */
    uint32_t used;      /* bytes in it; sizeof(struct pkt_hdr) when empty */
    uint32_t count;     /* records in it */
    uint32_t asks;      /* operations in it that have replies */
    uint32_t senders;   /* threads that wait to send it */
    struct unsent
        unsent; /* entered while the open packet has records, unless it waits for the target */
    uint64_t phase_bytes; /* bytes named by the records of the present fence phase */
    enum { PKT_LOCK_NONE, PKT_LOCK_DUE, PKT_LOCK_SENT, PKT_LOCK_HELD } lock;
    bool asked;          /* PKT_F_WANT_OPEN was sent in this epoch */
    bool needs_open;     /* an operation of this epoch must wait until it is open there */
    bool awaited;        /* an operation of this epoch has waited for the target */
    bool hurries;        /* an operation is being issued that must not wait: its packets go into the
                            send queue however long that is */
    bool refused;        /* the target has refused a whole packet of this epoch, and may never open
                            it */
    uint32_t lock_seq;   /* number of the lock epoch */
    uint32_t open_seq;   /* 1 + the last fence phase known to have begun there */
    uint32_t packets;    /* packets of this epoch that have left */
    uint32_t post_asked; /* the epoch, as rma_target.posts_due, whose post comes unasked */
    struct early early;  /* packets that may wait at the target, of all epochs */
    uint64_t epoch_seen; /* window generation of "this epoch" */
    uint32_t acks_due, acks_seen; /* numbers of flush and unlock requests */
    uint64_t last_op;             /* last operation issued before the last such request, for traces
                                     (traced.h) */
    /* Operations without a reply are numbered in the order in which they are issued. written counts
     * those that were issued; flushed counts those that are known to be done at the target, or
     * behind which a flush is under way. */
    uint32_t written, flushed;
    bool unlocking;   /* the pair was unlocked without waiting (mpirma_weak_unlock), and the
                         acknowledgement has not come yet */
    bool unconfirmed; /* operations were sent after the last acknowledgement for which this process
                         has waited */
    uint32_t replies, streams;  /* outstanding at this pair; the window has the sums */
    uint32_t rdma_ops, holding; /* operations that the channel does by itself: rdma.c */
    uint32_t atomics;           /* of these, atomic operations */
    bool unread;                /* a get must follow the puts among these before they are known to
                                   be in place */
    uint64_t packed;            /* bytes of puts and gets by packet in this epoch: rdma.c */
    struct list requests;       /* struct origin_req: requests that await replies */
    struct list under_way;      /* struct rdma_op */
    uint64_t fetching;          /* bytes that the target must keep for replies under way */
    struct type_table *types;   /* datatypes that the target has; NULL until used */
    struct span_list regions;   /* dynamic windows: struct region_key, see region_keys.h */
    bool asking;                /* the target was asked for a region, and has not answered */
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

/* issue_unflushed returns whether some operations to pt are not known to be done and no flush has
 * been sent behind them. Operations that fetch do not count, since their replies tell that they are
 * done. Under the engine's lock. */
static inline bool issue_unflushed(const struct pkt_target *pt)
{
    return pt->written != pt->flushed;
}

/* issue_all_left returns whether everything that w had to send has left the send queues. A call
 * that returned earlier could not rely on the program to call again and push the rest. Under the
 * engine's lock. */
static inline bool issue_all_left(const struct win *w)
{
    return w->queued == 0;
}

#endif
