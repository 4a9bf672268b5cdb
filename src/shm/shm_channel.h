/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shm_channel.h - the shm ring channel: CH3 packets between processes of a node.
 *
 * One ring per ordered pair that sends (ring.h), made by the sender, announced in the receiver's
 * process segment. See ch3/channel.h for the contract. A receiver that cannot read a ring, or gives
 * up the connection for another reason, notes that in the entry where the ring was announced; the
 * sender looks there when it finds no room and when it is asked to probe.
 */
#ifndef MRMA_SHM_SHM_CHANNEL_H
#define MRMA_SHM_SHM_CHANNEL_H

#include "base/list.h"
#include "base/log.h"
#include "ch3/channel.h"
#include "shm/procseg.h"
#include "shm/ring.h"

/* What the channel needs from the engine. */
struct shm_channel_env {
    void *ctx;
    int doorbell_fd; /* sys/doorbell.h */
    /* Map a ring that a peer has announced, of size bytes; *handle is for unmap. NULL: the ring
     * cannot be mapped (logged). */
    void *(*map)(void *ctx, const struct heap_loc *where, size_t size, void **handle);
    void (*unmap)(void *ctx, void *handle);
    /* The connection of the process with this uid; NULL: not known (yet). */
    struct ch3_vc *(*find)(void *ctx, uint64_t uid);
};

/* Per-peer state: the connection's channel data. */
struct shm_peer {
    struct procseg *seg;        /* the peer's, mapped */
    int32_t pid;                /* for messages */
    struct ring_tx tx;          /* tx.ring NULL: not connected */
    struct procseg_ring *entry; /* where the ring is announced, in seg */
    struct ch3_vc *vc;          /* while in lost_link */
    struct list_node lost_link; /* in channel->lost until the next poll */
};

enum shm_rx_state {
    SHM_RX_NONE,
    SHM_RX_ANNOUNCED, /* its sender is not known yet */
    SHM_RX_OPEN,      /* mapped and usable */
    SHM_RX_REFUSED
};

struct shm_rx {
    struct ring_rx rx;
    struct ch3_vc *vc; /* NULL: the sender is not known yet */
    void *mapped;      /* of env.map */
    _Atomic enum shm_rx_state state;
};

struct shm_channel {
    struct ch3_channel channel; /* first */
    struct procseg *own;
    struct shm_channel_env env;
    const struct log *log;
    struct trace *trace;  /* where events are recorded (trace/record.h); NULL: no trace is taken */
    _Atomic uint32_t nrx; /* entries of rx that are, or have been, in use are below */
    _Atomic uint32_t rings_seen; /* own->nrings at the time when rings were last taken over */
    _Atomic uint32_t lookers;    /* threads in pending, which have no lock */
    uint32_t announced;          /* entries in SHM_RX_ANNOUNCED */
    struct shm_rx rx[PROCSEG_RINGS];
    struct list lost; /* struct shm_peer: peers that were found to be lost while something else was
                         going on */
};

/* shm_channel_init sets up *ch, which is all zero but for trace, as this process's channel, without
 * a ring. own is this process's own segment; *env is copied; log is kept and must outlive *ch.
 * Nothing has to be freed at the end. */
void shm_channel_init(struct shm_channel *ch, struct procseg *own,
                      const struct shm_channel_env *env, const struct log *log);

/* shm_channel_connect announces a ring to a peer whose segment is mapped (peer->seg): from now on
 * packets can be sent to it. ring is memory of the caller's of ring_size(bytes), which lies at loc
 * for others and stays until the peer has ended; my_uid is this process's. Returns MRMA_SUCCESS, or
 * MRMA_ERR_NO_MEM if the peer has no place for another ring. */
int shm_channel_connect(struct shm_peer *peer, uint64_t my_uid, struct ring *ring, uint32_t bytes,
                        const struct heap_loc *loc);

/* shm_channel_forget is called when the process with this connection and uid has ended: its packets
 * are not read any more, its rings are unmapped, and their entries are free for others. Under the
 * engine's lock, not from within a poll. It waits, for a moment, for threads that are looking into
 * the rings without the lock. */
void shm_channel_forget(struct shm_channel *ch, const struct ch3_vc *vc, uint64_t uid);

/* shm_channel_has_ended returns whether the peer of this connection has ended in order
 * (polling_has_ended) and all that it has sent has been read. Under the engine's lock. */
bool shm_channel_has_ended(const struct shm_channel *ch, const struct ch3_vc *vc);

/* shm_channel_may_end returns whether this process may give back the memory of its ring to the
 * peer: the peer has mapped the ring, wants nothing from it, or has ended; or there is no ring, or
 * nothing in it. */
bool shm_channel_may_end(const struct shm_peer *peer);

#endif
