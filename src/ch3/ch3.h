/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ch3.h - virtual connections, their send queues, dispatch and progress.
 *
 * A struct ch3 is one process's end of everything: its channels, its virtual connections (one per
 * peer) and the table of handlers that the layer above handed in.
 *
 * Sending: packets leave in the order in which they were given. A short packet is copied
 * (ch3_send). A long transfer, or one that must wait its turn, is a struct ch3_stream: its
 * call-back next builds one packet at a time when there is room; its call-back done ends the
 * stream, and may start the object anew. done is always called.
 *
 * Locks: every function is called with the engine's lock held when the engine is concurrent, except
 * ch3_pending, ch3_pending_silent, ch3_wait_fds, ch3_unsent and ch3_unsent_must_poll.
 *
 * Neighbours: channel.h, what a channel must have; pkt.h, what a packet looks like; src/rma above.
 */
#ifndef MRMA_CH3_CH3_H
#define MRMA_CH3_CH3_H

#include <assert.h>
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

/* Virtual connection states; see doc/protocol.md. */
enum ch3_vc_state { CH3_VC_IDLE, CH3_VC_OPEN, CH3_VC_FAILED, CH3_VC_STATES };
enum ch3_vc_event { CH3_VC_CONNECT, CH3_VC_LOST, CH3_VC_CLOSE, CH3_VC_EVENTS };

struct ch3_vc {
    struct ch3_vc_channel channel_side; /* first: ch3_vc_channel_data */
    struct ch3 *ch3;
    struct ch3_channel *channel;
    void *owner; /* the layer above's peer */
    enum ch3_vc_state state;
    bool closed;                   /* the peer has closed its end: ch3_vc_closed */
    struct list sendq;             /* struct ch3_stream, first to leave first */
    size_t queued;                 /* bytes of copied packets in sendq */
    struct list_node pending_link; /* in ch3->pending_vcs while sendq is not empty */
    uint64_t bad_packets;
};
static_assert(offsetof(struct ch3_vc, channel_side) == 0, "where channels look for it");

/* A transfer that leaves in parts. Its owner embeds it. */
struct ch3_stream {
    struct list_node link;
    /* next builds the next packet in room (cap bytes: PKT_MAX if wants was 0, else wants) and sets
     * *len (0: there is nothing to send this time). Returns true when this was the last. Called in
     * queue order, never twice at once. */
    bool (*next)(struct ch3_stream *st, void *room, size_t cap, size_t *len);
    /* done is called when the stream has left the queue: it is finished, or has failed (err is not
     * MRMA_SUCCESS; the connection is gone). It may be freed or started anew here. */
    void (*done)(struct ch3_stream *st, int err);
    size_t wants; /* room to reserve for the next packet, 0: PKT_MAX */
    /* NULL, or a counter of what its owner has queued: ch3_send_stream raises it by one, and it is
     * lowered by one just before done. The counter's address identifies the owner (ch3_vc_drop). */
    uint32_t *owner;
    bool awaited; /* as with ch3_send */
};

/* A function of the layer above that handles a packet. hdr was checked and is a copy. body is what
 * follows the header, hdr->len - sizeof *hdr bytes of the channel's memory, which the sender may
 * still change (a ring): the handler copies what it checks before it checks it (copy_once), and
 * uses data of which any value will do where they are. */
typedef void (*ch3_handler)(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr,
                            const void *body);

struct ch3_stats {
    uint64_t packets_sent, bytes_sent, packets_received, queued, bad;
    uint64_t words;                  /* that came with puts */
    uint64_t by_type[PKT_TYPE_LAST]; /* sent */
};

enum { CH3_MAX_CHANNELS = 4 };

struct ch3 {
    const struct log *log;
    const ch3_handler *handlers; /* PKT_TYPE_LAST entries, none empty but PKT_NONE */
    void *handler_ctx;
    struct ch3_channel *channels[CH3_MAX_CHANNELS];
    _Atomic unsigned nchannels; /* a channel may join while others are in use */
    _Atomic bool polled;        /* one of them has CH3_CAP_POLLED */
    _Atomic bool by_calls;      /* one of them has CH3_CAP_POLLED or CH3_CAP_WAIT */
    struct list pending_vcs;
    /* How many connections are in pending_vcs, plus what the channels have counted themselves
     * (ch3_channel_unsent); read without the lock. */
    _Atomic uint32_t unsent;
    /* NULL, or the layer above's: called when something could not leave at once, so that somebody
     * must poll until it has left, since nobody tells when there is room again. */
    void (*queued)(void *handler_ctx);
    /* NULL, or the layer above's: called when a connection was lost; its streams have ended. */
    void (*lost)(void *handler_ctx, struct ch3_vc *vc);
    /* NULL, or the layer above's: called with a word that has come with a peer's put, whose data is
     * in place (ch3_rdma_takes_word). */
    void (*word)(void *handler_ctx, uint32_t word);
    struct ch3_stats stats;
};

/* ch3_init sets up *c without a channel and without a connection. Packets that arrive go to
 * handlers, a table of PKT_TYPE_LAST functions, of which only the one of PKT_NONE may be NULL; each
 * gets ctx as its first argument. log, handlers and ctx are kept, not copied, and must outlive *c.
 * Nothing has to be freed at the end. */
void ch3_init(struct ch3 *c, const struct log *log, const ch3_handler *handlers, void *ctx);

/* ch3_add_channel makes ch, of which at most CH3_MAX_CHANNELS may be added, part of c: from now on
 * c polls it. ch stays the caller's and must outlive c. Other threads may be in the functions of c
 * that need no lock. */
void ch3_add_channel(struct ch3 *c, struct ch3_channel *ch);

/* ch3_vc_init sets up *vc, the connection to one peer, in state CH3_VC_IDLE: nothing can be sent
 * before CH3_VC_CONNECT. ch is the channel that carries it, channel_data the channel's state of
 * this peer, owner what ch3_vc_owner returns. All three are the caller's and must outlive the
 * connection. */
void ch3_vc_init(struct ch3_vc *vc, struct ch3 *c, struct ch3_channel *ch, void *channel_data,
                 void *owner);

/* ch3_vc_event applies an event to the table of states of vc.c. CH3_VC_CONNECT: packets may be
 * sent. CH3_VC_LOST: every queued stream ends with MRMA_ERR_PROC_FAILED, the peer is told where the
 * channel can do that, and the layer above hears of it (ch3.lost) if the connection was open.
 * CH3_VC_CLOSE: the channel disconnects; what is queued stays queued, so the caller ends it before
 * (CH3_VC_LOST) or polls no more. Returns false, with an error in the log and without a change, for
 * an event that the table does not have in this state. */
bool ch3_vc_event(struct ch3_vc *vc, enum ch3_vc_event event);

/* ch3_send sends a packet of len bytes, header included, behind all that was sent to this peer
 * before. The packet is copied: into the channel if it has room, else into a queue, from where
 * later polls send it. owner is NULL, or a counter of the caller's that is higher by one while the
 * packet is queued. If awaited is true, the packet is an answer for which a thread of the receiver
 * waits, or will wait, and on which nothing else depends; then no agent is woken for it. Never
 * waits. Returns MRMA_SUCCESS, MRMA_ERR_PROC_FAILED if the connection is not open, or
 * MRMA_ERR_NO_MEM; with an error nothing was sent. */
int ch3_send(struct ch3_vc *vc, const void *packet, size_t len, uint32_t *owner, bool awaited);

/* ch3_send_stream queues the stream st behind all that was sent to this peer before, and sends as
 * much of it as there is room for; later polls send the rest. st belongs to the queue until its
 * done is called, which may happen before this function returns. Returns MRMA_SUCCESS, or
 * MRMA_ERR_PROC_FAILED if the connection is not open; then done is not called. */
int ch3_send_stream(struct ch3_vc *vc, struct ch3_stream *st);

/* ch3_vc_drop ends, with MRMA_ERR_PROC_FAILED, every stream and packet that is queued at vc for
 * this owner, because the owner is going away. */
void ch3_vc_drop(struct ch3_vc *vc, const uint32_t *owner);

/* ch3_vc_is_open returns whether packets can be sent: the connection was made and neither lost nor
 * closed here. */
static inline bool ch3_vc_is_open(const struct ch3_vc *vc)
{
    return vc->state == CH3_VC_OPEN;
}

/* ch3_vc_is_closed returns whether the peer has closed its end in order, so that nothing comes from
 * it any more (ch3_vc_closed). */
static inline bool ch3_vc_is_closed(const struct ch3_vc *vc)
{
    return vc->closed;
}

/* ch3_vc_queued returns how many bytes of packets given to ch3_send are queued; streams do not
 * count. */
static inline size_t ch3_vc_queued(const struct ch3_vc *vc)
{
    return vc->queued;
}

/* ch3_vc_owner returns the owner that was given to ch3_vc_init. */
static inline void *ch3_vc_owner(const struct ch3_vc *vc)
{
    return vc->owner;
}

/* ch3_vc_busy returns whether a packet or stream is queued at this connection. */
static inline bool ch3_vc_busy(const struct ch3_vc *vc)
{
    return !list_empty(&vc->sendq);
}

/* ch3_rdma_limits returns the limits of the puts and gets that the connection's channel does
 * without packets (struct ch3_rdma). They are part of the channel. NULL: the channel does no such
 * puts and gets. */
const struct ch3_rdma_limits *ch3_rdma_limits(const struct ch3_vc *vc);

/* ch3_rdma_is_ordered returns whether a packet that is sent after a put was started is delivered
 * only when the data of that put is in place. */
bool ch3_rdma_is_ordered(const struct ch3_vc *vc);

/* ch3_rdma_needs_read returns whether the data of a put may not be in place when the put ends, and
 * is in place when a get behind it ends (CH3_CAP_RDMA_READ_BEHIND). */
bool ch3_rdma_needs_read(const struct ch3_vc *vc);

/* ch3_rdma_takes_word returns whether a put may carry a word (ch3_rdma.with_word), which is given
 * to the function ch3.word of the target. */
bool ch3_rdma_takes_word(const struct ch3_vc *vc);

/* ch3_rdma_start starts a put or get without packets; the connection's channel must have
 * CH3_CAP_RDMA. Returns MRMA_SUCCESS: op is the channel's until op->done is called, by a later
 * poll. MRMA_AGAIN: there is no room now. MRMA_ERR_PROC_FAILED: the connection is not open.
 * MRMA_ERR_NO_MEM: the local memory can be reached by packets only. Any other error is the
 * channel's. done is called only after MRMA_SUCCESS. */
int ch3_rdma_start(struct ch3_vc *vc, struct ch3_rdma *op);

/* ch3_rdma_start_own is ch3_rdma_start for an atomic operation on this process's own memory, which
 * is registered with the channel ch. */
int ch3_rdma_start_own(struct ch3_channel *ch, struct ch3_rdma *op);

/* ch3_atomics returns which atomic operations the channel takes. The result is part of the channel.
 * NULL: the channel does no puts and gets without packets. */
const struct ch3_atomics *ch3_atomics(const struct ch3_channel *ch);

/* ch3_mem_register registers memory with a channel that has CH3_CAP_RDMA, as its mem_register
 * says. */
int ch3_mem_register(struct ch3_channel *ch, void *base, size_t len, struct ch3_mem_key *key,
                     struct ch3_mem **mem);

/* ch3_mem_release ends what the channel's mem_register has begun: no peer may reach the memory any
 * more, and mem is freed. */
void ch3_mem_release(struct ch3_channel *ch, struct ch3_mem *mem);

/* ch3_unsent returns whether anything waits to leave, to any peer. May be called without the lock;
 * the answer may be out of date when it comes. */
static inline bool ch3_unsent(const struct ch3 *c)
{
    return atomic_load_explicit(&c->unsent, memory_order_relaxed) != 0;
}

/* ch3_unsent_must_poll returns whether something waits to leave over a channel that wakes nobody
 * when it has room again, so that somebody must poll until it has left. May be called without the
 * lock. */
bool ch3_unsent_must_poll(const struct ch3 *c);

/* ch3_vc_idle notes that the queue of vc is empty, so that polls no longer look at vc. Only for
 * sendq.c and vc.c. */
void ch3_vc_idle(struct ch3_vc *vc);

/* ch3_stream_end takes st out of its queue and calls its done with err, after which st may be gone.
 * Only for sendq.c and vc.c. */
void ch3_stream_end(struct ch3_stream *st, int err);

/* ch3_poll polls every channel once, which delivers what has arrived, and then sends what is queued
 * as far as there is room. Returns whether anything was delivered, completed or sent. Must not be
 * called from a handler or from a done. */
bool ch3_poll(struct ch3 *c);

/* ch3_pending returns whether any channel has something to deliver. Called without the lock, by any
 * thread, at any time. */
bool ch3_pending(const struct ch3 *c);

/* ch3_pending_silent returns whether a channel without CH3_CAP_WAIT has something to deliver: a
 * thread that sleeps on descriptors would not notice that. Called without the lock. */
bool ch3_pending_silent(const struct ch3 *c);

/* ch3_must_poll returns whether some channel wakes nobody when something arrives (CH3_CAP_POLLED):
 * a thread that sleeps must poll again soon. May be called without the lock. */
static inline bool ch3_must_poll(const struct ch3 *c)
{
    return atomic_load_explicit(&c->polled, memory_order_relaxed);
}

/* ch3_looks_by_calls returns whether one of the channels needs calls of its provider to look for
 * arrivals, as the network does; rings need a load only. May be called without the lock.
 */
static inline bool ch3_looks_by_calls(const struct ch3 *c)
{
    return atomic_load_explicit(&c->by_calls, memory_order_relaxed);
}

/* ch3_wait_fds writes the descriptors of the channels with CH3_CAP_WAIT to fds, which has room for
 * CH3_MAX_CHANNELS, and returns how many there are. They stay the channels'. Called without the
 * lock. */
unsigned ch3_wait_fds(const struct ch3 *c, int *fds);

/* ch3_wait_begin returns whether a thread may now release the lock and block until one of the
 * descriptors of ch3_wait_fds is readable. False: something is there already, poll first. */
bool ch3_wait_begin(struct ch3 *c);

/* ch3_deliver checks the header of a packet of len bytes that has arrived over from, and calls the
 * handler of its type. A bad header is counted and logged, and the packet is dropped. Channels call
 * this, as their deliver; packet stays the channel's and may change meanwhile. */
void ch3_deliver(struct ch3_vc *from, const void *packet, size_t len);

/* ch3_deliver_word hands a word that has come with a put over ch to the layer above. Channels call
 * this, as their word. */
void ch3_deliver_word(struct ch3_channel *ch, uint32_t word);

/* ---- between the files of src/ch3 ---- */

/* ch3_sendq_push sends what the queue of vc holds, first to last, while there is room. Returns
 * whether a packet left or a stream ended. */
bool ch3_sendq_push(struct ch3_vc *vc);

#endif
