/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel.h - the contract between CH3 and a channel: all a channel author reads.
 *
 * A channel carries whole packets (at most CH3_PACKET_MAX bytes) between this process and its
 * peers, reliably and in order for each peer. CH3 calls it with the engine's lock held, from one
 * thread at a time; no call blocks. A channel calls into the layer above only by what is declared
 * below, and calls deliver, word, done and ch3_vc_lost only from poll: code that is sending is
 * never called back from reserve, commit or rdma.
 *
 * Sending is two steps so that packets are built where they leave from:
 * reserve gives room for one packet, commit sends it. When there is no room,
 * reserve returns NULL; CH3 queues and tries again on later polls (back-pressure
 * is a status, never a spin). Between reserve and commit no other call is made
 * for that channel; commit may shorten the packet, also to 0 (nothing is sent).
 * A committed packet is the channel's; it arrives, or the connection is lost.
 * What a peer may have in flight is bounded, also while the peer does not poll.
 *
 * A delivered packet belongs to the channel, starts at a multiple of 8 bytes and is
 * valid until deliver returns. deliver may send, to any peer.
 *
 * Every channel has name, reserve, commit, poll, pending and disconnect. Each of the other
 * functions must be there if the channel's caps say so.
 *
 * test/unit/shm/test_shm_channel.c is the conformance test: a new channel is added there.
 */
#ifndef MRMA_CH3_CHANNEL_H
#define MRMA_CH3_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest packet; every channel carries it in one piece. It has room for 32 KiB of data and
 * some headers, so two operations of 16 KiB and the end of their epoch are one message
 * (doc/protocol.md). */
#define CH3_PACKET_MAX (32768u + 512u)

struct ch3;
struct ch3_vc;
struct ch3_channel;
struct ch3_rdma;
struct ch3_mem;

enum ch3_channel_cap {
    CH3_CAP_WAIT = 1 << 0,  /* a thread can block on a descriptor: wait_fd, wait_begin */
    CH3_CAP_PROBE = 1 << 1, /* probe */
    CH3_CAP_RDMA = 1 << 2,  /* mem_register, mem_release, rdma */
    /* A packet committed after rdma has started a put is delivered only when the data of that put
     * is in place, so markers may follow at once. Without this they wait for done. It says nothing
     * of gets. */
    CH3_CAP_RDMA_ORDERED = 1 << 3,
    /* When there is room again after a reserve that found none, threads that sleep are woken, as if
     * a packet had come. Without this a thread that has something queued must look often. */
    CH3_CAP_ROOM = 1 << 4,
    CH3_CAP_ABANDON = 1 << 5, /* abandon */
    CH3_CAP_QUIET =
        1 << 6, /* there are commit_quietly and wake, since commit wakes the receiver's agent if
                   nobody polls there */
    /* Nothing wakes a thread that sleeps, and pending knows nothing: such a thread must poll again
     * soon. */
    CH3_CAP_POLLED = 1 << 7,
    /* CAP_RDMA. When done is called for a put, this says only that its local memory may be used
     * again. Its data is in place when a get with behind set, started later towards the same peer,
     * is done. */
    CH3_CAP_RDMA_READ_BEHIND = 1 << 8,
    /* CAP_RDMA. A put may carry a word (ch3_rdma.with_word), which the target is given when the
     * data of that put is in place. */
    CH3_CAP_RDMA_WORD = 1 << 9
};

/* Who carries a channel's puts and gets out at the target. */
enum ch3_rdma_by {
    CH3_RDMA_STREAM,   /* a socket, through which the data stream as messages do */
    CH3_RDMA_PROVIDER, /* hardware with the help of the target's processor */
    CH3_RDMA_CARD,     /* hardware alone: the target's processor takes no part */
    CH3_RDMA_KINDS
};

/* Operations on elements of remote memory that are atomic to each other there; the numbers are
 * those of enum acc_op, and CAS stands where that has none. */
enum ch3_atomic_op {
    CH3_ATOMIC_CAS = 0, /* compare and swap */
    CH3_ATOMIC_SUM,
    CH3_ATOMIC_PROD,
    CH3_ATOMIC_MIN,
    CH3_ATOMIC_MAX,
    CH3_ATOMIC_LAND,
    CH3_ATOMIC_LOR,
    CH3_ATOMIC_LXOR,
    CH3_ATOMIC_BAND,
    CH3_ATOMIC_BOR,
    CH3_ATOMIC_BXOR,
    CH3_ATOMIC_REPLACE = 13,
    CH3_ATOMIC_NO_OP,
    CH3_ATOMIC_OPS
};

/* Integers with and without a sign, and IEEE numbers, by their number of bits. */
enum ch3_atomic_type {
    CH3_ATOMIC_I8,
    CH3_ATOMIC_U8,
    CH3_ATOMIC_I16,
    CH3_ATOMIC_U16,
    CH3_ATOMIC_I32,
    CH3_ATOMIC_U32,
    CH3_ATOMIC_I64,
    CH3_ATOMIC_U64,
    CH3_ATOMIC_F32,
    CH3_ATOMIC_F64,
    CH3_ATOMIC_TYPES
};

/* Which pairs of an origin's atomic operations on the same bytes are done in the order in which
 * they were started. A name has the later operation first, as in MPI's accumulate_ordering, and the
 * values are those of that hint's bits. */
enum { CH3_ATOMIC_RAR = 1, CH3_ATOMIC_WAR = 2, CH3_ATOMIC_RAW = 4, CH3_ATOMIC_WAW = 8 };

/* What a channel takes of atomic operations. Sent to others as it is. */
struct ch3_atomics {
    uint16_t ops[CH3_ATOMIC_TYPES]; /* a bit per enum ch3_atomic_op: operations that can return the
                                       old contents */
    uint16_t blind[CH3_ATOMIC_TYPES]; /* of these, the operations that can also be done without
                                         returning the old contents */
    uint16_t max[CH3_ATOMIC_TYPES];   /* elements of one operation */
    uint16_t order;                   /* CH3_ATOMIC_RAR and its like */
};

/* One atomic operation, on ch3_rdma.len bytes. */
struct ch3_atomic {
    uint8_t op, type;    /* one that the channel takes */
    bool fetch;          /* the old contents come to ch3_rdma.local; always with CAS */
    const void *operand; /* read when rdma returns; NULL: NO_OP */
    const void *compare; /* CAS; likewise */
};

/* What a channel's puts and gets are like. */
struct ch3_rdma_limits {
    enum ch3_rdma_by by;
    size_t max;    /* bytes of the longest one */
    size_t inject; /* the local memory of a put of at most so many bytes has been read when rdma
                      returns */
    size_t depth;  /* how many the provider takes before the first is done */
};

/* What a peer must know of registered memory to reach it; plain bytes on the wire. */
struct ch3_mem_key {
    uint64_t key;
    uint64_t base; /* the remote address of its first byte */
};

/* A put, get or atomic operation of contiguous memory without packets. The fields are the caller's
 * to set; the object is the channel's from rdma until done. */
struct ch3_rdma {
    bool put;                        /* else get */
    const struct ch3_atomic *atomic; /* NULL: a put or get; else put is false */
    void *local;     /* the caller does not touch it until done (but see ch3_rdma_limits.inject) */
    size_t len;      /* at most ch3_rdma_limits.max; not 0 */
    uint64_t key;    /* the target's ch3_mem_key.key */
    uint64_t remote; /* ch3_mem_key.base + offset */
    bool with_word;  /* a put that carries word to the target (CAP_RDMA_WORD) */
    uint32_t word;   /* tells the target's upper layer what has come, and from whom */
    bool behind;     /* a get that is done only when the data of all earlier puts to this peer is in
                        place (CAP_RDMA_READ_BEHIND) */
    /* done is called exactly once, from poll, also when the connection is lost or closed. The data
     * of a put is then in the target's memory (but see CAP_RDMA_READ_BEHIND), that of a get is
     * here, and an atomic operation has done both; with an err this may be so for a part of the
     * data. The object is the caller's again and may be started anew from within. */
    void (*done)(struct ch3_rdma *op, int err);
    void *channel; /* the channel's own */
};

struct ch3_channel_ops {
    const char *name;

    /* reserve returns room for a packet of len bytes (1 to CH3_PACKET_MAX) to vc, aligned to 8
     * bytes. NULL: there is no room now, or the connection is about to be lost. */
    void *(*reserve)(struct ch3_channel *ch, struct ch3_vc *vc, size_t len);

    /* commit sends the packet that was built in the reserved room; len is at most what was
     * reserved, and 0 sends nothing. A thread of the receiver that sleeps is woken. */
    void (*commit)(struct ch3_channel *ch, struct ch3_vc *vc, size_t len);

    /* CAP_QUIET. commit_quietly is commit for a packet that the receiver looks for by itself: its
     * threads that sleep in a wait are woken, but not its agent. */
    void (*commit_quietly)(struct ch3_channel *ch, struct ch3_vc *vc, size_t len);

    /* CAP_QUIET. wake is called when a reserve has found no room for something that must not wait
     * until the receiver looks by itself: it wakes the agent that takes in what was committed
     * quietly. */
    void (*wake)(struct ch3_channel *ch, struct ch3_vc *vc);

    /* poll delivers what has arrived (a bounded amount a call), pushes what was committed and has
     * not left, and calls done of what has finished. It is not called from within itself. Returns
     * how many packets were delivered and operations finished. */
    unsigned (*poll)(struct ch3_channel *ch);

    /* pending returns whether poll would find anything. A thread calls it before it sleeps, without
     * the engine's lock, and maybe while another thread polls. Where the channel has neither
     * CAP_WAIT nor CAP_POLLED it must not miss a packet that was committed before the sleeper
     * announced itself (sys/futex_event.h). */
    bool (*pending)(struct ch3_channel *ch);

    /* disconnect is called when the peer of vc will not be used any more. It may be called in any
     * state of the connection, and twice. What was committed still leaves. What the peer sends from
     * now on is dropped. The channel data may be freed afterwards. Not called from deliver or
     * done. */
    void (*disconnect)(struct ch3_channel *ch, struct ch3_vc *vc);

    /* CAP_WAIT. wait_fd returns the descriptor that becomes readable when poll has something to
     * do; the same for the channel's whole life. It stays the channel's. -1: at the moment the
     * descriptor would tell nothing, and somebody must poll (ch3_channel_unsent). Called without
     * the lock. */
    int (*wait_fd)(struct ch3_channel *ch);

    /* CAP_WAIT. wait_begin returns whether a thread may now release the lock and block until the
     * descriptor of wait_fd is readable. False: poll first. Whatever is sent or polled by another
     * thread meanwhile can only make the descriptor readable early. */
    bool (*wait_begin)(struct ch3_channel *ch);

    /* CAP_PROBE. probe is called, at most a few times a second, when somebody waits long for this
     * peer: it finds out whether the peer is reachable, at some cost. If the peer is not reachable,
     * a later poll calls ch3_vc_lost. A peer that has closed its end in order (disconnect) is not
     * lost, though nothing comes from it any more. */
    void (*probe)(struct ch3_channel *ch, struct ch3_vc *vc);

    /* CAP_ABANDON. abandon is called when the connection was lost or given up at this end
     * (ch3_vc_lost, called by whomever), once for each connection and from any call: it lets the
     * peer know, which learns of the loss when it probes, at the latest. */
    void (*abandon)(struct ch3_channel *ch, struct ch3_vc *vc);

    /* CAP_RDMA. mem_register lets peers put to and get from len bytes at base; *key is for them,
     * *mem for mem_release. Takes as long as pinning the memory takes. Returns MRMA_SUCCESS, or
     * MRMA_ERR_NO_MEM or MRMA_ERR_OTHER (then packets are used). */
    int (*mem_register)(struct ch3_channel *ch, void *base, size_t len, struct ch3_mem_key *key,
                        struct ch3_mem **mem);
    /* CAP_RDMA. mem_release ends what mem_register began: no peer may reach the memory any more. */
    void (*mem_release)(struct ch3_channel *ch, struct ch3_mem *mem);

    /* CAP_RDMA. rdma starts op towards vc, behind the packets committed before. If vc is NULL, op
     * is an atomic operation on this process's own memory, which the same card does that does those
     * of others. MRMA_SUCCESS: done will be called. MRMA_AGAIN: there is no room now.
     * MRMA_ERR_OTHER: the provider does not have this atomic operation. After MRMA_AGAIN and after
     * any error done is not called. */
    int (*rdma)(struct ch3_channel *ch, struct ch3_vc *vc, struct ch3_rdma *op);
};

/* The channel's part of a connection. struct ch3_vc begins with it; the rest of that is CH3's. */
struct ch3_vc_channel {
    void *data; /* the channel's own state of this peer */
};

/* ch3_vc_channel_data returns the channel_data that was given to ch3_vc_init: the channel's own
 * state of this peer. */
static inline void *ch3_vc_channel_data(const struct ch3_vc *vc)
{
    return ((const struct ch3_vc_channel *)(const void *)vc)->data;
}

/* ch3_vc_is_lost returns whether the connection has broken (CH3_VC_LOST) and has not been closed
 * here since. */
bool ch3_vc_is_lost(const struct ch3_vc *vc);

/* ch3_vc_closed notes, for the channel, that the peer has closed its end in order: all that it has
 * sent has been delivered, and no more comes. closed is false when the peer has come again. */
void ch3_vc_closed(struct ch3_vc *vc, bool closed);

/* ch3_vc_lost tells CH3 that the connection has broken; the channel has logged why. Everything that
 * is queued for the peer fails. A channel calls it only from its poll. For a connection that is
 * lost already it does nothing more. */
void ch3_vc_lost(struct ch3_vc *vc);

/* ch3_channel_unsent notes that the channel has begun (change is 1) or ended (-1) to keep something
 * for which somebody must poll although nothing arrives, such as committed packets that could not
 * leave. From now on somebody polls again soon. May be called from any of the channel's functions
 * that have the lock. */
void ch3_channel_unsent(struct ch3_channel *ch, int change);

/* How arrived packets reach CH3. from is the peer's vc. */
typedef void (*ch3_deliver_fn)(struct ch3_vc *from, const void *packet, size_t len);

/* How the word of a peer's put reaches CH3, when the put's data is in place: loads that follow this
 * call, in the same thread or ordered behind it, see the data. The channel does not know which peer
 * has sent it. Called from poll; may send. */
typedef void (*ch3_word_fn)(struct ch3_channel *ch, uint32_t word);

struct ch3_channel {
    const struct ch3_channel_ops *ops; /* the channel's, from its creation on */
    unsigned caps;                     /* enum ch3_channel_cap; likewise */
    struct ch3_rdma_limits rdma;       /* CAP_RDMA; likewise */
    struct ch3_atomics atomics;        /* CAP_RDMA; likewise, what the provider offers; 0:
                                          nothing */
    ch3_deliver_fn deliver;            /* set by ch3_add_channel */
    ch3_word_fn word;                  /* likewise; CAP_RDMA_WORD */
    struct ch3 *ch3;                   /* set by ch3_add_channel */
    /* CH3's. Connections with something queued, and what ch3_channel_unsent said. */
    _Atomic uint32_t queues, unsent;
};

#endif
