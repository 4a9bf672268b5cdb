/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pkt.h - the wire format: everything one process says to another.
 *
 * Fields are little-endian and of fixed width; their sizes and offsets are asserted; there is one
 * version. A packet begins with a header. In a PKT_OPS operation records follow it, each with its
 * target bytes and its data behind it; in a PKT_REPLY parts with data follow it. Records and parts
 * are 8-byte aligned. A packet never exceeds PKT_MAX bytes. Nothing in a packet is trusted before
 * header_fault (dispatch.c) and the handler's own checks have passed it.
 *
 * One PKT_OPS carries any number of operations of one epoch to one target and
 * the synchronization that is piggybacked on them: the lock request in front of the
 * operations; flush, unlock, complete or fence marker behind them.
 */
#ifndef MRMA_CH3_PKT_H
#define MRMA_CH3_PKT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ch3/channel.h"

#define PKT_VERSION 12
#define PKT_MAX CH3_PACKET_MAX

enum pkt_type {
    PKT_NONE = 0,
    PKT_OPS,         /* origin -> target: operations, and synchronization piggybacked */
    PKT_POST,        /* target -> origin, who has asked: seq exposure epochs were posted to it */
    PKT_OPEN,        /* target -> origin: the fence phase seq is open, or the lock is granted */
    PKT_ACK,         /* target -> origin: flush or unlock number seq is done */
    PKT_REPLY,       /* target -> origin: data for a get-like request */
    PKT_ERROR,       /* target -> origin: an operation was refused */
    PKT_SYNC,        /* to rank + 2^k: the sender has entered barrier seq (MPI_Win_free) */
    PKT_COUNTS,      /* to rank + 2^k: how many bytes processes have to expect in fence seq; others
                        pass this on */
    PKT_REGION_ASK,  /* origin -> target: which attached region has address offset? */
    PKT_REGION,      /* target -> origin: the region asked for has the number seq (struct
                        pkt_region); 0: none */
    PKT_REGION_GONE, /* target -> origin: region number seq is being detached; the origin must stop
                        using it */
    PKT_REGION_LEFT, /* origin -> target: nothing here uses region number seq any more */
    PKT_TYPE_LAST
};

enum pkt_flag {
    PKT_F_LOCK_SHARED = 1 << 0, /* first of a lock epoch: acquire, then apply */
    PKT_F_LOCK_EXCLUSIVE = 1 << 1,
    PKT_F_WANT_OPEN = 1 << 2, /* tell the origin when the epoch is open; with PKT_F_COMPLETE: when
                                 the next exposure epoch is posted to it */
    PKT_F_FLUSH = 1 << 3,     /* acknowledge when everything before and in this packet is applied;
                                 PKT_REPLY: acknowledges number seq as well */
    PKT_F_UNLOCK = 1 << 4,    /* release the lock, then acknowledge */
    PKT_F_COMPLETE = 1 << 5,  /* last of a PSCW access epoch */
    PKT_F_FENCE = 1 << 6,     /* last of a fence phase; total says how many bytes it had */
    PKT_F_LOCK_ALL = 1 << 7, /* a shared lock that waits for no request that waits: target_lock.h */
};

enum pkt_epoch {
    PKT_EPOCH_NONE = 0,
    PKT_EPOCH_FENCE,   /* seq: the origin's fence phase */
    PKT_EPOCH_PSCW,    /* seq: how many access epochs the origin has started towards this target */
    PKT_EPOCH_LOCK,    /* seq: the number of the lock that the origin holds, or asks for here */
    PKT_EPOCH_NOCHECK, /* passive target without a lock (MPI_MODE_NOCHECK); seq: the phase */
    PKT_EPOCH_LAST
};

struct pkt_hdr {
    uint8_t version;
    uint8_t type;     /* enum pkt_type */
    uint8_t epoch;    /* enum pkt_epoch, PKT_OPS only */
    uint8_t flags;    /* enum pkt_flag, PKT_OPS; PKT_REPLY: PKT_F_FLUSH or none */
    uint32_t len;     /* bytes of the packet, header included */
    uint32_t win;     /* the receiver's index of the window */
    uint32_t win_gen; /* the window's generation, by which the receiver notices that a window was
                         freed and its index is used again */
    uint32_t rank;    /* the sender's rank in the window */
    uint32_t seq;     /* epoch, acknowledgement, barrier, fence or region number by type; PKT_ERROR:
                         PKT_ERROR_ALL, PKT_ERROR_LOST or PKT_ERROR_BYTES times the bytes of the
                         record that was refused */
    uint32_t count;   /* PKT_OPS: records in this packet; PKT_REPLY: parts (struct pkt_part);
                         PKT_ERROR: the request, or with PKT_ERROR_LOST a rank; PKT_OPEN: not 0
                         means a lock; PKT_COUNTS: pairs in this packet; PKT_REGION: not 0 means
                         that the network reaches the region by itself */
    uint32_t total;  /* PKT_OPS with PKT_F_FENCE: bytes named in the phase, modulo 2^32; with a lock
                        request: fences that the origin has passed; of an access epoch of
                        MPI_Win_start, and PKT_OPEN, PKT_ACK, PKT_REPLY: exposure epochs that the
                        sender has posted to the receiver, MPI_MODE_NOCHECK not counted; PKT_ERROR:
                        struct pkt_refusal as a word; PKT_SYNC: enum mrma_err, with which the sender
                        failed; PKT_COUNTS: the round, and PKT_COUNTS_BROKEN */
    uint64_t offset; /* PKT_OPS with PKT_F_FLUSH or PKT_F_UNLOCK: the number that the PKT_ACK
                        returns; PKT_COUNTS: pairs of the round that follow in further packets;
                        PKT_REGION_ASK: an address; PKT_REGION_GONE: that of the region; PKT_ERROR:
                        the disp of the record, as in struct pkt_seg */
};
static_assert(sizeof(struct pkt_hdr) == 40, "wire size");
static_assert(offsetof(struct pkt_hdr, win) == 8, "wire offset");
static_assert(offsetof(struct pkt_hdr, offset) == 32, "wire offset");

/* seq of a PKT_ERROR: the packet could not be read to its end, so it is not known which requests
 * were in it. All requests that the origin awaits from this target in this window fail. */
enum { PKT_ERROR_ALL = 1 };
/* seq of a PKT_ERROR: no operation was refused, but the process of rank count is lost. */
enum { PKT_ERROR_LOST = 2 };
/* In all other PKT_ERRORs seq is a multiple of this. */
enum { PKT_ERROR_BYTES = 4 };

enum pkt_op_kind {
    PKT_OP_NONE = 0,
    PKT_OP_PUT,
    PKT_OP_GET,
    PKT_OP_ACC,
    PKT_OP_GET_ACC, /* with op MPI_NO_OP no data travels */
    PKT_OP_CAS,     /* data: compare value, then new value */
    PKT_OP_TYPE,    /* no operation: data is a datatype (struct pkt_run) that later records name */
    PKT_OP_PLAIN,   /* a put of contiguous bytes, by struct pkt_plain instead of struct pkt_op; the
                       last */
    PKT_OP_KIND_LAST
};

/* Why a record was refused, and what the record was. The origin uses it for a message, and must
 * expect any value. */
struct pkt_refusal {
    uint8_t err;   /* enum mrma_err */
    uint8_t kind;  /* enum pkt_op_kind; PKT_OP_NONE: no record is known, as with PKT_ERROR_ALL */
    uint8_t epoch; /* enum pkt_epoch */
};

/* pkt_refusal_word returns the total of a PKT_ERROR. */
static inline uint32_t pkt_refusal_word(struct pkt_refusal why)
{
    return why.err | (uint32_t)why.kind << 8 | (uint32_t)why.epoch << 16;
}

/* pkt_refusal_of is the reverse. */
static inline struct pkt_refusal pkt_refusal_of(uint32_t word)
{
    return (struct pkt_refusal){(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16)};
}

/* How a record names its target bytes. */
enum pkt_form {
    PKT_FORM_SEGS = 0, /* nseg struct pkt_seg */
    PKT_FORM_TYPED,    /* one struct pkt_typed; nseg is the number of a datatype sent before */
    PKT_FORM_LAST
};

struct pkt_op {
    uint8_t kind;      /* enum pkt_op_kind */
    uint8_t op;        /* enum acc_op */
    uint8_t type;      /* enum acc_type of the elements */
    uint8_t form;      /* enum pkt_form */
    uint32_t nseg;     /* target segments that follow, by form */
    uint32_t request;  /* origin's request for replies, by kind; PKT_OP_TYPE: the number */
    uint16_t data_len; /* bytes of data behind the target bytes, before padding to 8 */
    uint8_t notify;    /* 1 + the number of the notification that the target raises when it has done
                          the record, 0: none; in the last record of an operation. A put of no bytes
                          has one record, without segments (PKT_NOTIFY_BYTES) */
    uint8_t zero;
    uint64_t offset; /* position in the operation's packed data; PKT_OP_TYPE: extent, signed */
};
static_assert(sizeof(struct pkt_op) == 24, "wire size");
static_assert(offsetof(struct pkt_op, form) == 3, "wire offset");
static_assert(offsetof(struct pkt_op, notify) == 14, "wire offset");
static_assert(PKT_MAX <= UINT16_MAX, "a packet's data fits into data_len");

/* A fence counts a notification alone, which names no bytes, as so many bytes: else the target
 * would not wait for it. */
enum { PKT_NOTIFY_BYTES = 1 };

/* The commonest operation in few bytes: the whole record in front of its data (padded to 8). */
struct pkt_plain {
    uint8_t kind;   /* PKT_OP_PLAIN; first, as in struct pkt_op */
    uint8_t notify; /* as in struct pkt_op */
    uint16_t len;   /* bytes of data, not 0 */
    uint32_t disp;  /* as in struct pkt_seg, where it is so small */
};
static_assert(sizeof(struct pkt_plain) == 8, "wire size");
static_assert(offsetof(struct pkt_plain, kind) == offsetof(struct pkt_op, kind),
              "what tells the two apart");
static_assert(offsetof(struct pkt_plain, disp) == 4, "wire offset");
static_assert(PKT_MAX <= UINT16_MAX, "a packet's data fits into len");

struct pkt_seg {
    int64_t disp; /* bytes from the window base; the address itself in a dynamic window */
    uint64_t len; /* bytes */
};
static_assert(sizeof(struct pkt_seg) == 16, "wire size");

/* From position offset on, len bytes of count instances of a datatype at disp. */
struct pkt_typed {
    int64_t disp; /* as in struct pkt_seg, of displacement 0 in the datatype */
    uint64_t count;
    uint64_t len;
};
static_assert(sizeof(struct pkt_typed) == 24, "wire size");

/* n pieces of len bytes, stride apart, the first at disp. */
struct pkt_run {
    int64_t disp;
    uint64_t len;
    int64_t stride;
    uint64_t n;
};
static_assert(sizeof(struct pkt_run) == 32, "wire size");

/* Which datatypes of an origin a target keeps for a window: the last PKT_TYPES that came and, of
 * these, the last ones that have PKT_TYPES_RUNS runs together. A definition has at most
 * PKT_TYPE_RUNS runs, so that it fits into a packet with a record. */
enum { PKT_TYPES = 32, PKT_TYPES_RUNS = 2048, PKT_TYPE_RUNS = 480 };
static_assert(sizeof(struct pkt_hdr) + 2 * sizeof(struct pkt_op) +
                      PKT_TYPE_RUNS * sizeof(struct pkt_run) + sizeof(struct pkt_typed) + 64 <=
                  PKT_MAX,
              "a definition and a record");
/* At most so many packets of an origin wait at a target for their epoch: those that may be early,
 * and the packets that may leave behind them without waiting (rma/origin/open_packet.c). */
enum { PKT_PARKED_MAX = 8 };
/* How many bytes a record of the form PKT_FORM_TYPED names at most in a dynamic window, whose
 * memory may have gaps. */
enum { PKT_TYPED_DYNAMIC = 64 * 1024 };

/* PKT_REPLY: in front of len bytes, padded to 8, of the result of a request. */
struct pkt_part {
    uint32_t request;
    uint32_t len;    /* not 0 */
    uint64_t offset; /* position of the data in the request's packed result */
};
static_assert(sizeof(struct pkt_part) == 16, "wire size");

/* How many bytes of a result one packet carries; an accumulate that fetches names at most so
 * many. */
#define PKT_REPLY_MAX (PKT_MAX - sizeof(struct pkt_hdr) - sizeof(struct pkt_part))
static_assert(PKT_REPLY_MAX % 8 == 0, "whole with its padding");

/* PKT_COUNTS: so many bytes of this fence phase go to that rank. */
struct pkt_count {
    uint32_t rank;
    uint32_t pad;
    uint64_t bytes;
};
static_assert(sizeof(struct pkt_count) == 16, "wire size");

/* PKT_REGION: where a region of a dynamic window is, and its struct ch3_mem_key. */
struct pkt_region {
    uint64_t addr, len; /* the target's address; bytes */
    uint64_t key, base; /* 0 if the network does not reach it */
};
static_assert(sizeof(struct pkt_region) == 32, "wire size");

/* A bit of total: pairs were lost on the way, so nobody may rely on the sums. */
#define PKT_COUNTS_BROKEN (UINT32_C(1) << 31)

/* pkt_fetches returns whether an operation of this kind is answered with data. */
static inline bool pkt_fetches(enum pkt_op_kind kind)
{
    return kind == PKT_OP_GET || kind == PKT_OP_GET_ACC || kind == PKT_OP_CAS;
}

/* pkt_align returns len rounded up to a multiple of 8 bytes, as records and parts are padded. */
static inline size_t pkt_align(size_t len)
{
    return (len + 7) & ~(size_t)7;
}

/* pkt_is_plain returns whether a put of contiguous bytes at displacement disp (in bytes) can be
 * named by a struct pkt_plain. */
static inline bool pkt_is_plain(int64_t disp)
{
    return (uint64_t)disp <= UINT32_MAX;
}

#endif
