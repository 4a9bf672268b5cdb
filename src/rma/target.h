/*
 * target.h - the target's side of packets: applying operations, parking what
 * comes before its epoch is open, and what rides on packets.
 *
 * All under the engine's lock.
 */
#ifndef MRMA_RMA_TARGET_H
#define MRMA_RMA_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "ch3/ch3.h"

struct win;
struct rma_target;

/* Target's state of packets from one origin. */
struct pkt_origin {
    struct win *win;
    struct rma_target *origin; /* win->targets[rank of the origin] */
    struct list parked;        /* struct parked_packet, first come first */
    struct list_node parked_link; /* in win->parked while parked is not empty */
    enum { LOCKQ_NONE, LOCKQ_WAITING, LOCKQ_HELD } lock;
    bool exclusive, all, served, yielded; /* all: of MPI_Win_lock_all, without a ticket */
    uint32_t ticket;
    struct list_node lockq_link; /* in win->lockq while waiting */
    uint32_t phase_bytes; /* named by the records that came in the present fence phase; wraps */
};

/* A PKT_OPS has come from t's process: apply, park, or ask for the lock first. */
void target_ops(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr);
/* Apply whatever of the window's parked packets may be applied now. */
void target_unpark_all(struct win *w);
/* The same for one origin (its lock was granted). */
void target_unpark(struct pkt_origin *po);
/* Send a header-only packet. */
int target_send_simple(struct win *w, struct rma_target *t, uint8_t type, uint32_t seq, uint32_t count,
                       uint32_t total, uint64_t offset);
struct pkt_origin *target_origin(struct win *w, struct rma_target *t);
void target_free_origin(struct rma_target *t);

/* target_apply.c: apply the records of a packet. Returns an enum mrma_err;
 * records before the faulty one have been applied. */
int target_apply(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr);

#endif
