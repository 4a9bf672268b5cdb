/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.h - the target's side of packets: it applies operations, parks packets that come before
 * their epoch is open, and carries out the synchronization that is piggybacked on packets.
 *
 * All functions are called under the engine's lock. Nothing here waits, except that an accumulate
 * waits for others on the same memory. Where a packet cannot be handled for want of memory, the
 * connection is given up, or the origin gets the error.
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
    bool exclusive, all, served, yielded; /* all: for MPI_Win_lock_all, without a ticket */
    uint32_t ticket;
    uint32_t lock_seq;  /* the origin's number of the lock that it holds, asks for, or has held
                           last */
    uint32_t completes; /* access epochs whose last packet was applied */
    struct list_node lockq_link; /* in win->target_side.lockq while waiting */
    uint32_t phase_bytes;        /* bytes named by the records of the present fence phase; comes
                                    round */
    uint32_t marked;             /* 1 + the fence phase whose marker came last */
    bool wants_post;             /* the next post to the origin is told at once */
    struct type_table *types;    /* datatypes that the origin has defined; NULL until used */
    bool told_lost;    /* it was told, while it waited for the lock, which process is lost */
    bool phase_broken; /* some records of the phase could not be read, and the origin knows this */
};

/* ---- target.c ---- */

/* target_init makes the target's side of packets of the new window w: nothing is parked, and no
 * lock is asked for. Called before anybody else sees w. */
void target_init(struct win *w);

/* target_ops takes a PKT_OPS that has come from t's process: it is applied now; or parked, if its
 * epoch has not begun here or its lock is not held; or refused. hdr and body are those of a
 * ch3_handler. */
void target_ops(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body);

/* target_post tells t that exposure epochs were posted to it (rma_target.posted), if t has asked
 * for this at the end of its last access epoch; otherwise t learns of it by the next packet to it
 * that tells of posts. Returns the errors of win_send_header. */
int target_post(struct win *w, struct rma_target *t);

/* target_unpark_all applies what is parked of w as far as it may be applied now. It is called
 * whenever an epoch has begun here. */
void target_unpark_all(struct win *w);

/* target_grant_locks grants locks that packets wait for, in all windows, as far as their turn has
 * come, and applies what was parked for them. Returns whether anything was granted. */
bool target_grant_locks(struct rma *r);

/* target_awaits_lock returns whether packets wait for a lock of w. */
bool target_awaits_lock(const struct win *w);

/* target_free_origin frees what is kept of packets from t, and takes it out of the queues, when the
 * window ends. Nothing happens if there is none. */
void target_free_origin(struct rma_target *t);

/* ---- lock_queue.c: locks that packets ask for ---- */

/* lock_queue_request asks for the lock of po's window on behalf of po, which has no lock. all:
 * without a ticket, as MPI_Win_lock_all does (win/target_lock.h). True: po holds the lock at once.
 * False: po is queued until lock_queue_grant returns it. */
bool lock_queue_request(struct pkt_origin *po, bool exclusive, bool all);

/* lock_queue_release gives back the lock that po holds, and wakes those who wait for it. If po
 * holds no lock, its packet is counted and logged as one that no correct peer sends. */
void lock_queue_release(struct pkt_origin *po);

/* lock_queue_forget takes po out of the queue, if it is there, because the window ends while po
 * waits (a peer has died). Its ticket is lost. */
void lock_queue_forget(struct pkt_origin *po);

/* lock_queue_lost tells each origin that waits for the lock of w, once, that the process of rank
 * lost, which may hold the lock, is lost. */
void lock_queue_lost(struct win *w, int lost);

/* lock_queue_grant gives the lock of w to an origin that waits for it and whose turn has come,
 * takes that origin out of the queue and returns it; NULL: there is none. */
struct pkt_origin *lock_queue_grant(struct win *w);

/* ---- target_apply.c ---- */

/* target_apply applies the records of a packet and answers those that fetch. A record that is
 * refused is reported to the origin, and the records behind it are applied all the same. It sets
 * *flags to the packet's piggybacked flags, except those that a reply has carried out. Returns the
 * first error, an enum mrma_err, for messages. */
int target_apply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body,
                 uint8_t *flags);

/* target_refuse_records applies none of the packet's records: the origin's requests in it end with
 * err, and it reports err at its next synchronization. */
void target_refuse_records(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr,
                           const void *body, int err);

#endif
