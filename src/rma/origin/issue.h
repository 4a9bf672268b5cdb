/*
 * issue.h - the origin's side of packets: operations into open packets, and the
 * synchronization that rides on them.
 *
 * Every (window, target) has one open packet (struct pkt_target). Functions that
 * may wait say so and are called without the engine's lock; the others are
 * called with it.
 */
#ifndef MRMA_RMA_ORIGIN_ISSUE_H
#define MRMA_RMA_ORIGIN_ISSUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "ch3/pkt.h"
#include "rma/win/win.h"

/* Origin's state of packets to one target. Guarded by the engine's lock. */
struct pkt_target {
    struct win *win;
    struct rma_target *target;
    unsigned char *buf;   /* the open packet; header first */
    uint32_t room;        /* bytes of buf: grows with what is put in, to PKT_MAX at most */
    uint32_t used;        /* bytes in it; sizeof(struct pkt_hdr) when empty */
    uint32_t count;       /* records in it */
    bool answered;        /* one of them has a reply */
    uint64_t phase_bytes; /* named by the records of the present fence phase */
    enum { PKT_LOCK_NONE, PKT_LOCK_DUE, PKT_LOCK_SENT, PKT_LOCK_HELD } lock;
    bool asked;                   /* PKT_F_WANT_OPEN was sent in this epoch */
    uint32_t ahead;               /* packets sent before the epoch was known to be open */
    uint32_t lock_seq;            /* number of the lock epoch */
    uint32_t open_seq;            /* 1 + the last fence phase known to have begun there */
    uint64_t epoch_seen;          /* window generation that asked and ahead belong to */
    uint32_t acks_due, acks_seen; /* numbers of flush and unlock requests */
    uint32_t
        written; /* operations without a reply, issued so far; and of them those whose end at the */
    uint32_t proven;  /* target is known, or asked for: by an acknowledgement, or a later reply */
    bool unconfirmed; /* operations were sent since the last acknowledgement that was awaited */
    uint32_t replies, streams;  /* outstanding here; the window has the sums */
    uint32_t rdma_ops, holding; /* of the streams: rdma.c */
    struct list requests;       /* struct origin_req, those of replies */
    struct list under_way;      /* struct rdma_op */
    uint64_t fetching;          /* bytes that the target must keep for replies under way */
    struct type_table *types;   /* datatypes that it has; NULL until used */
    struct list_node touched;   /* in win->touched while used in this epoch */
};

/* Have operations been issued whose end at the target nobody has asked for? A fetching one is
 * not among them: its reply tells. */
static inline bool issue_unproven(const struct pkt_target *pt)
{
    return pt->written != pt->proven;
}

/* Operations, data by packet. May wait. The range was checked. */
int issue_op(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op);
/* A put of len contiguous bytes to rank target of a pair that is in the midst of its epoch, if
 * there is room at once; false says: go the general way, which also finds the errors. */
enum { ISSUE_QUICK_MAX = 1024 };
bool issue_quick_put(struct win *w, int target, const void *data, int64_t disp, size_t len);

/* Synchronization. */
int issue_post(struct win *w, struct rma_target *t);
/* The end of a fence phase: a marker to every packet peer, behind the phase's operations; or, with
 * tell_counts, only these operations, and then it is called, under the engine's lock, to tell how
 * much they were (fence_counts.h). May wait. */
int issue_fence(struct win *w, int (*tell_counts)(struct win *w));
int issue_complete(struct win *w);                         /* may wait */
int issue_lock_begin(struct win *w, struct rma_target *t); /* may wait */
/* Before this thread locks one more target, in whatever window: wait until the lock that it took
 * last is granted, if that was not even asked for. So locks are acquired in the order of the calls,
 * and programs that take several in an order of their own can't deadlock. May wait. */
int issue_lock_settle(struct rma *r);
int issue_lock_end(struct win *w, struct rma_target *t); /* may wait */
int issue_unlock_all(struct win *w);                     /* may wait */
/* t NULL: all targets. local: only until buffers may be reused. May wait. */
int issue_flush(struct win *w, struct rma_target *t, bool local);

/* Has everything that was issued been done at the target, as far as this process knows? */
bool issue_all_done(const struct pkt_target *pt);

/* MPI_Win_free: take in what targets have refused of operations that nobody has waited for. May
 * wait. */
int issue_confirm(struct win *w);

/* Has everything that the window had to send left the send queues? Who returns
 * to its caller earlier may not come back to push it. */
static inline bool issue_all_left(const struct win *w)
{
    return w->queued == 0;
}

/* First error that a target has reported for this window since last asked. Under the lock. */
int issue_take_error(struct win *w);

/* Header of a PKT_OPS of the present epoch, but for len, flags and count. */
void issue_header(const struct pkt_target *pt, struct pkt_hdr *hdr);

/* Handlers' side. */
bool issue_got_post(struct rma_target *t, uint32_t seq); /* false: not the next one, refuse it */
void issue_got_open(struct rma_target *t, uint32_t seq, bool lock);
bool issue_got_ack(struct rma_target *t, uint32_t seq); /* false: nothing awaits it */
void issue_free_target(struct rma_target *t);

#endif
