/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.h - the target's side of packets: applying operations, parking what
 * comes before its epoch is open, and what is piggybacked on packets.
 *
 * All under the engine's lock.
 */
#ifndef MRMA_RMA_TARGET_TARGET_H
#define MRMA_RMA_TARGET_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "ch3/ch3.h"

struct rma;
struct rma_target;
struct win;

/* A packet that waits for its epoch. */
struct parked_packet {
    struct list_node link;
    struct pkt_hdr hdr; /* the packet follows, header included */
};

/* Target's state of packets from one origin. */
struct pkt_origin {
    struct win *win;
    struct rma_target *origin; /* win->targets[rank of the origin] */
    struct list parked;        /* struct parked_packet, first come first */
    unsigned nparked;
    struct list_node parked_link; /* in win->target_side.parked while parked is not empty */
    enum { LOCKQ_NONE, LOCKQ_WAITING, LOCKQ_HELD } lock;
    bool exclusive, all, served, yielded; /* all: of MPI_Win_lock_all, without a ticket */
    uint32_t ticket;
    uint32_t lock_seq;  /* the origin's number of the lock that it holds, asks for or held last */
    uint32_t completes; /* access epochs whose last packet was applied */
    struct list_node lockq_link; /* in win->target_side.lockq while waiting */
    uint32_t phase_bytes;     /* named by the records that came in the present fence phase; wraps */
    uint32_t marked;          /* 1 + the fence phase whose marker came last */
    struct type_table *types; /* datatypes that came; NULL until used */
    bool told_lost;           /* while it waited for the lock it was told which process is lost */
    bool phase_broken;        /* some of them could not be read, and the origin knows */
};

/* A window is made: nobody waits. */
void target_init(struct win *w);
/* A PKT_OPS has come from t's process: apply, park, or ask for the lock first. hdr, body: as a
 * ch3_handler gets them. */
void target_ops(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body);
/* Apply whatever of the window's parked packets may be applied now. */
void target_unpark_all(struct win *w);
/* Grant locks that packets wait for, in all windows, as far as their turn has come, and apply what
 * was parked for them; whether anything was granted. */
bool target_grant_locks(struct rma *r);
/* Do packets wait for a lock of w? */
bool target_awaits_lock(const struct win *w);
void target_free_origin(struct rma_target *t);

/* ---- lock_queue.c: locks that packets ask for ---- */

/* Ask for the lock: true if it is held at once, else it is queued until lock_queue_grant returns
 * it. */
bool lock_queue_request(struct pkt_origin *po, bool exclusive, bool all);
void lock_queue_release(struct pkt_origin *po);
/* The window goes away while po still waits (a peer has died). */
void lock_queue_forget(struct pkt_origin *po);
/* The process of rank lost may hold the lock: who waits for it hears of the loss, once. */
void lock_queue_lost(struct win *w, int lost);
/* Grant the lock of w to one that waits for it and whose turn has come: that one, or NULL. */
struct pkt_origin *lock_queue_grant(struct win *w);

/* ---- target_apply.c ---- */

/* Apply the records of a packet. Returns an enum mrma_err;
 * records before the faulty one have been applied. *flags: what is piggybacked on the
 * packet, less what a reply has done. */
int target_apply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body,
                 uint8_t *flags);
/* Apply none of them: the origin's requests in the packet end with err, and it reports
 * err at its next synchronization. */
void target_refuse_records(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr,
                           const void *body, int err);

#endif
