/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ch3.h - virtual connections, their send queues, dispatch and progress.
 *
 * A struct ch3 is one process's end of everything: its channels, its virtual
 * connections (one per peer) and the handler table the layer above handed in.
 *
 * Sending: packets leave in the order given. A short packet is copied
 * (ch3_send); what is long, or must wait its turn, is a struct ch3_stream
 * whose next call-back builds one packet at a time when there is room, and whose
 * done call-back may turn it into something further. Both are always called.
 *
 * Locks: every function is called with the engine's lock held when the engine is
 * concurrent, except ch3_pending, ch3_pending_silent and ch3_wait_fds.
 */
#ifndef MRMA_CH3_CH3_H
#define MRMA_CH3_CH3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/list.h"
#include "base/log.h"
#include "ch3/channel.h"
#include "ch3/pkt.h"

struct ch3;
struct ch3_stream;

/* Virtual connection states; see doc/states. */
enum ch3_vc_state { CH3_VC_IDLE, CH3_VC_OPEN, CH3_VC_FAILED, CH3_VC_STATES };
enum ch3_vc_event { CH3_VC_CONNECT, CH3_VC_LOST, CH3_VC_CLOSE, CH3_VC_EVENTS };

struct ch3_vc {
    struct ch3 *ch3;
    struct ch3_channel *channel;
    void *channel_data; /* the channel's own per-peer state */
    void *owner;        /* the layer above's peer */
    enum ch3_vc_state state;
    bool closed;                   /* the peer has closed its end: ch3_vc_closed */
    struct list sendq;             /* struct ch3_stream, first to leave first */
    size_t queued;                 /* bytes of copied packets in sendq */
    struct list_node pending_link; /* in ch3->pending_vcs while sendq is not empty */
    uint64_t bad_packets;
};

/* One thing that wants to leave, in parts. Embedded by its owner. */
struct ch3_stream {
    struct list_node link;
    /* Build the next packet in room (cap bytes, PKT_MAX at least when wants was
     * 0, else wants); set *len (0: nothing to send this time). Returns true when
     * this was the last. Called in queue order, never twice at once. */
    bool (*next)(struct ch3_stream *st, void *room, size_t cap, size_t *len);
    /* The stream has left the queue: finished, or failed (the connection is
     * gone, err is not MRMA_SUCCESS). It may be freed or started anew here. */
    void (*done)(struct ch3_stream *st, int err);
    size_t wants; /* room to reserve for the next packet, 0: PKT_MAX */
    /* Whose it is: counts what its owner has queued, up with ch3_send_stream, down just
     * before done. NULL: nobody asks. */
    uint32_t *owner;
    bool awaited; /* as with ch3_send */
};

/* What the layer above does with a packet. hdr was checked and is a copy. body is what follows it,
 * hdr->len - sizeof *hdr bytes of the channel's memory, which the sender may still change (a ring):
 * what is checked there must be copied before (copy_once); data of which any value will do is used
 * where it is. */
typedef void (*ch3_handler)(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr,
                            const void *body);

struct ch3_stats {
    uint64_t packets_sent, bytes_sent, packets_received, queued, bad;
    uint64_t by_type[PKT_TYPE_LAST]; /* sent */
};

enum { CH3_MAX_CHANNELS = 4 };

struct ch3 {
    const struct log *log;
    const ch3_handler *handlers; /* PKT_TYPE_LAST entries, none empty but PKT_NONE */
    void *handler_ctx;
    struct ch3_channel *channels[CH3_MAX_CHANNELS];
    _Atomic unsigned nchannels; /* a channel may join while others are in use */
    struct list pending_vcs;
    /* Connections in pending_vcs, and channels' own (ch3_channel_unsent); read without the lock. */
    _Atomic uint32_t unsent;
    /* May be set by the layer above: something could not leave at once, so that
     * somebody must poll until it has (who makes room does not tell). */
    void (*queued)(void *handler_ctx);
    /* May be set by the layer above: a connection was lost; its streams have ended. */
    void (*lost)(void *handler_ctx, struct ch3_vc *vc);
    struct ch3_stats stats;
};

void ch3_init(struct ch3 *c, const struct log *log, const ch3_handler *handlers, void *ctx);
void ch3_add_channel(struct ch3 *c, struct ch3_channel *ch);

void ch3_vc_init(struct ch3_vc *vc, struct ch3 *c, struct ch3_channel *ch, void *channel_data,
                 void *owner);
/* Apply an event to the state table. Returns false (and logs) where the table
 * has no entry. CH3_VC_LOST ends every queued stream with an error. */
bool ch3_vc_event(struct ch3_vc *vc, enum ch3_vc_event event);

/* Send a packet of len bytes; it is copied and may be queued. owner: as in a stream. awaited: it is
 * an answer, for which a thread of the receiver waits, or will, and nothing else depends on it; so
 * no agent is woken (doc/memory-ordering.md). MRMA_ERR_PROC_FAILED: the connection is not open;
 * MRMA_ERR_NO_MEM: nothing was sent. */
int ch3_send(struct ch3_vc *vc, const void *packet, size_t len, uint32_t *owner, bool awaited);
/* Queue a stream and send as much of it as there is room for. */
int ch3_send_stream(struct ch3_vc *vc, struct ch3_stream *st);
/* End what is queued for an owner with MRMA_ERR_PROC_FAILED: it is going away. */
void ch3_vc_drop(struct ch3_vc *vc, const uint32_t *owner);
/* Can packets be sent? */
static inline bool ch3_vc_is_open(const struct ch3_vc *vc)
{
    return vc->state == CH3_VC_OPEN;
}
/* Has the peer closed its end in order, so that nothing comes from it any more? */
static inline bool ch3_vc_is_closed(const struct ch3_vc *vc)
{
    return vc->closed;
}
/* Bytes of packets that are queued, streams not among them. */
static inline size_t ch3_vc_queued(const struct ch3_vc *vc)
{
    return vc->queued;
}
/* The owner given to ch3_vc_init. */
static inline void *ch3_vc_owner(const struct ch3_vc *vc)
{
    return vc->owner;
}
/* Is anything of this connection still queued? */
static inline bool ch3_vc_busy(const struct ch3_vc *vc)
{
    return !list_empty(&vc->sendq);
}

/* Puts and gets that the channel of a connection does by itself, without packets (channel.h): bytes
 * of the shortest one that is worth it, SIZE_MAX: the channel does none; and of the longest. */
size_t ch3_rdma_min(const struct ch3_vc *vc);
size_t ch3_rdma_max(const struct ch3_vc *vc);
/* Is a packet sent after the start of a put delivered only when the put's data is in place? */
bool ch3_rdma_is_ordered(const struct ch3_vc *vc);
/* Start one, for which the connection's channel must do such. MRMA_SUCCESS: op->done will be
 * called; MRMA_AGAIN: no room now; MRMA_ERR_PROC_FAILED: the connection is not open. */
int ch3_rdma_start(struct ch3_vc *vc, struct ch3_rdma *op);
/* No peer may reach registered memory any more. */
void ch3_mem_release(struct ch3_channel *ch, struct ch3_mem *mem);

/* Does anything to any peer wait to leave? No lock needed. */
static inline bool ch3_unsent(const struct ch3 *c)
{
    return atomic_load_explicit(&c->unsent, memory_order_relaxed) != 0;
}
/* The same, over a channel that wakes nobody when there is room: one must poll. No lock needed. */
bool ch3_unsent_must_poll(const struct ch3 *c);
/* A connection's queue is empty; a stream leaves its queue. sendq.c and vc.c only. */
void ch3_vc_idle(struct ch3_vc *vc);
void ch3_stream_end(struct ch3_stream *st, int err);

/* Poll every channel once and push queued streams. Returns whether anything moved. */
bool ch3_poll(struct ch3 *c);
/* Has any channel something to deliver? No lock needed. */
bool ch3_pending(const struct ch3 *c);
/* The same for channels without a descriptor that tells. */
bool ch3_pending_silent(const struct ch3 *c);
/* The descriptors to block on for what the other channels bring; how many (at most
 * CH3_MAX_CHANNELS). No lock needed. */
unsigned ch3_wait_fds(const struct ch3 *c, int *fds);
/* May a thread block on them now? false: poll first. */
bool ch3_wait_begin(struct ch3 *c);

/* What channels call for each packet: checks it and calls its handler. */
void ch3_deliver(struct ch3_vc *from, const void *packet, size_t len);

#endif
