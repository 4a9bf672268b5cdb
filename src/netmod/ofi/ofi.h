/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi.h - the netmod's insides, shared by the files of src/netmod/ofi only.
 *
 *   fabric.c  which provider, its objects       addr.c   names and interfaces
 *   buf.c     transmit and receive buffers      link.c   a peer that is in use: its life
 *   msg.c     sending                           recv.c   what has arrived
 *   cq.c      poll, completions, waiting        reach.c  is a silent peer still there?
 *   rma.c     rdma put and get, memory        nmofi.c  open, close, the function table
 *   vc.c      room for a packet, probing      broken.c a connection that has broken
 *   life.c    what says that this one lives
 *
 * Messages. Each begins with struct nm_hdr and is padded to 8 bytes, so that in a
 * receive buffer, where they follow each other, packets are aligned. The first to
 * a peer is HELLO, which says who speaks; from then on the token does. Numbers of
 * messages run without gaps: a provider may complete out of order what it matched
 * in order (a message beyond its eager limit), so that recv.c sorts; and one may
 * reconnect behind our back and drop what was under way, which is noticed.
 *
 * Credits. A link may have NM_WINDOW units under way, a message costs one and one
 * more per KiB. The receiver gives them back with whatever it sends, or by CREDIT
 * when half the window is due and nothing went. Only HELLO, CREDIT, BYE, PROBE, RESET and KNOCK are
 * free; of those few can be under way. KNOCK has no number: it asks the peer to say HELLO (link.c).
 *
 * Broken links are only noted where they are found (nm_link_break), and
 * reported upwards by poll.
 */
#ifndef MRMA_NETMOD_OFI_OFI_H
#define MRMA_NETMOD_OFI_OFI_H

#include <assert.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdatomic.h>

#include "base/list.h"
#include "base/map.h"
#include "netmod/ofi/nmofi.h"

enum nm_kind { NM_HELLO = 1, NM_DATA, NM_CREDIT, NM_BYE, NM_PROBE, NM_RESET, NM_KNOCK, NM_KINDS };

struct nm_hdr {
    uint64_t token;   /* see nm_token */
    uint8_t kind;     /* enum nm_kind */
    uint8_t version;  /* NM_VERSION */
    uint16_t seq;     /* numbers the messages of a link */
    uint16_t credits; /* given back to the receiver */
    uint16_t len;     /* bytes behind the header, before padding */
};
static_assert(sizeof(struct nm_hdr) == 16, "wire size");

/* HELLO and KNOCK. */
struct nm_hello {
    struct nm_hdr hdr;
    uint64_t uid; /* the sender's */
};
static_assert(sizeof(struct nm_hello) == 24, "wire size");

enum {
    NM_VERSION = 1,
    NM_WINDOW = 512, /* units under way to a peer */
    NM_UNIT_SHIFT = 10,
    NM_MSG_MAX = sizeof(struct nm_hdr) + CH3_PACKET_MAX,
    NM_SMALL = 512,   /* the smaller of two sizes of transmit buffers */
    NM_TX_SLAB = 16,  /* buffers are made so many at a time */
    NM_TX_SLABS = 16, /* of either size, at most */
    NM_RX_BUFFERS = 4,
    NM_RX_BYTES = 128 * 1024,
    NM_RX_PER_LINK =
        2, /* more for each link behind the first, where the provider is software: buf.c */
    NM_RX_MOST = 256,
    NM_CQ_BURST = 16,
    NM_CQ_BURSTS = 8, /* a poll */
    NM_REPORTED = 5   /* bad messages that are logged */
};

enum nm_op_kind { NM_OP_TX, NM_OP_RX, NM_OP_RMA };

/* What the provider gets as context. */
struct nm_op {
    struct fi_context2 context; /* the provider's, if it asks for it */
    enum nm_op_kind kind;
};

struct nm_tx {
    struct nm_op op;       /* first */
    struct list_node node; /* free, or waiting in its link */
    struct nmofi_link *link;
    void *desc;
    bool small;
    uint32_t len; /* of the message, padded */
    _Alignas(16) unsigned char bytes[];
};

/* A receive buffer; buf.c says when it may be posted again. */
struct nm_rx {
    struct nm_op op;          /* first */
    struct list_node node;    /* in nm->rx */
    struct list_node waiting; /* in nm->rx_waiting: the provider did not take it yet */
    struct fid_mr *mr;
    unsigned char *bytes; /* NM_RX_BYTES */
    uint32_t complete;    /* bytes of the messages that are complete */
    uint32_t end;         /* behind the furthest of them */
    bool used_up;         /* the provider puts no further messages into it */
    bool held;            /* others do its work until it is posted again: counted in nm->nheld */
    bool torn;            /* a message in it has failed: nobody knows how long that one was */
    uint64_t ended_at;    /* nm->stats.received when it was used up, or torn later */
};

/* The sender's side of a peer in use. Outlives its connection until all has left. */
struct nmofi_link {
    struct nmofi *nm;
    struct list_node node;    /* in nm->links */
    struct list_node stalled; /* in nm->stalled: something waits for the provider */
    struct list_node owing;   /* in nm->owing: half a window of credits is due */
    struct list_node broken;  /* in nm->broken: to be reported */
    struct nmofi_peer *peer;  /* NULL: disconnected */
    struct ch3_vc *vc;        /* NULL: disconnected */
    struct nm_from *from;     /* NULL: it has not said hello */
    struct list waiting;      /* struct nm_tx that the provider did not take yet */
    struct list rdma_ops;     /* struct nm_rma under way */
    uint64_t uid, token;
    fi_addr_t addr;
    uint32_t under_way; /* transmit buffers at the provider */
    uint32_t credits;   /* units that may still be sent */
    uint32_t due;       /* units to give back */
    uint16_t seq;       /* of the next message */
    bool greeted;       /* HELLO has been sent: other messages may follow */
    bool lost;          /* broken: nothing is sent any more */
    bool closing;       /* BYE is its last message */
    bool starved;       /* the last reserve found no credits */
    uint64_t stalled_since, retry_at;
    struct nm_reach *reach; /* a test under way whether it is reachable */
    uint64_t reach_at;      /* not before: the next one */
};

/* The receiver's side: who a token belongs to. */
struct nm_from {
    uint64_t token, uid;
    struct nmofi_link *link;   /* NULL: a stranger, find does not know it yet */
    struct list_node stranger; /* in nm->strangers */
    struct list early; /* struct nm_early, by seq: arrived before their turn, or before find knew */
    uint32_t early_units;
    uint64_t heard; /* nm->stats.received with its last message */
    uint16_t seq;   /* of the next message */
    bool bye;
};

/* Has the peer closed its end in order (BYE)? It needs nothing that is still to come, so that
 * messages which it does not take any more are no loss. */
static inline bool nm_has_closed(const struct nmofi_link *link)
{
    return link->from && link->from->bye;
}

struct nm_secret {
    struct list_node node;
    unsigned char key[NMOFI_SECRET_BYTES];
};

struct nmofi {
    struct ch3_channel channel; /* first */
    struct nmofi_opts opts;
    struct nmofi_stats stats;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_wait *wait; /* NULL: the queue's own descriptor */
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_ep
        *knock_ep; /* what asks a peer to connect leaves from it; NULL: either side connects */
    int wait_fd;   /* -1: none */
    int life;      /* listens for those who ask whether this process lives; -1: none */
    int listener;  /* the provider's own socket that listens, or -1 */
    int spare;     /* to ask others with when the program has used up all descriptors */
    bool spare_used;
    unsigned vain;        /* the descriptor was readable, and nothing came of it */
    bool gave_up;         /* this process takes no connections any more: life.c */
    uint64_t short_since; /* somebody connects, and there is no descriptor for it; 0: no */
    _Atomic bool asked;   /* pending said yes because of the descriptor: poll must rearm it */
    bool software;        /* the provider copies through a socket */
    bool early_release; /* the provider may say too early that a receive buffer is used up: buf.c */
    bool sequential;    /* a peer's messages complete one after the other */
    size_t inject_max;
    char text[NMOFI_TEXT];
    struct nmofi_name name;
    struct list secrets;
    struct list links, stalled, owing, broken, strangers;
    struct map from;                  /* struct nm_from by token */
    struct list tx_free[2], tx_slabs; /* by small */
    unsigned ntx_slabs[2];
    struct nm_tx *reserved;
    bool short_of_memory; /* reserve has failed for want of it: nothing that arrives tells when it
                             is over */
    struct list rx, rx_waiting; /* struct nm_rx */
    unsigned nrx, nheld;        /* of all receive buffers, and of those that are held */
    struct list rma_free;
    unsigned nrma;    /* struct nm_rma made */
    unsigned closing; /* links disconnected and not yet freed */
    bool ending;      /* nmofi_close */
    unsigned events;  /* of the poll that runs */
    uint32_t polls;
};

static inline struct nmofi *nm_of(struct ch3_channel *ch)
{
    return (struct nmofi *)(void *)ch; /* its first member */
}

static inline uint32_t nm_cost(size_t len)
{
    return 1 + (uint32_t)(len >> NM_UNIT_SHIFT);
}

static inline size_t nm_pad(size_t len)
{
    return (len + 7) & ~(size_t)7;
}

/* fabric.c */
int nm_fabric_open(struct nmofi *nm);
void nm_fabric_end(struct nmofi *nm); /* the endpoints alone */
void nm_fabric_close(struct nmofi *nm);

/* addr.c */
int nm_addr_name(struct nmofi *nm);
/* Is this the interface that was asked for, by its name or address? */
bool nm_addr_on(const struct fi_info *info, const char *interface);
bool nm_addr_loopback(const struct fi_info *info);
bool nm_addr_link_local(const struct fi_info *info);
void nm_addr_text(const struct nmofi *nm, const struct nmofi_name *name, char *text, size_t len);

/* buf.c */
struct nm_tx *nm_tx_get(struct nmofi *nm, size_t len);
void nm_tx_put(struct nmofi *nm, struct nm_tx *tx);
int nm_rx_start(struct nmofi *nm);
/* Receive buffers for so many links. false: no memory. */
bool nm_rx_grow(struct nmofi *nm, uint64_t links);
void nm_rx_post(struct nmofi *nm, struct nm_rx *rx);
/* A completion of a receive buffer has been dealt with: of a message (buf, len), or of none (NULL,
 * 0). */
void nm_rx_done(struct nmofi *nm, struct nm_rx *rx, const unsigned char *buf, size_t len,
                bool used_up);
/* A message in it has failed. */
void nm_rx_failed(struct nmofi *nm, struct nm_rx *rx, bool used_up);
void nm_buf_end(struct nmofi *nm);

/* broken.c. Nothing is sent to it any more, and poll will report it; fmt: why, for the log. */
void nm_link_break(struct nmofi_link *link, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* link.c */
/* Of a peer that is in use from now on. heard: it has said hello. NULL: no memory now. */
struct nmofi_link *nm_link_get(struct nmofi_peer *peer, struct ch3_vc *vc, bool heard);
/* It asks for our HELLO. */
void nm_link_knocked(struct nmofi *nm, uint64_t uid);
void nm_abandon(struct ch3_channel *ch, struct ch3_vc *vc);
void nm_link_report_broken(struct nmofi *nm);
void nm_link_disconnect(struct ch3_channel *ch, struct ch3_vc *vc);
/* Free those that are closed and of which nothing is left to send. */
void nm_link_reap(struct nmofi *nm);
void nm_link_restart(struct nmofi_link *link);
void nm_link_free(struct nmofi_link *link);
uint64_t nm_token(const unsigned char *secret, uint64_t sender, uint64_t receiver);

/* vc.c */
void *nm_reserve(struct ch3_channel *ch, struct ch3_vc *vc, size_t len);
void nm_probe(struct ch3_channel *ch, struct ch3_vc *vc);

/* msg.c */
void nm_commit(struct ch3_channel *ch, struct ch3_vc *vc, size_t len);
/* A message without a packet: not BYE or HELLO. false: not now. */
bool nm_send_bare(struct nmofi_link *link, enum nm_kind kind);
/* HELLO or BYE: queued if it cannot leave. false: no memory. */
bool nm_send_first(struct nmofi_link *link);
bool nm_send_last(struct nmofi_link *link);
/* Ask for its HELLO, now and again until it comes. */
void nm_knock(struct nmofi_link *link);
/* Try again what the provider did not take. Returns whether anything left. */
bool nm_push(struct nmofi *nm, uint64_t now);
void nm_unstall(struct nmofi_link *link);
void nm_give_credits(struct nmofi *nm);

/* recv.c */
void nm_received(struct nmofi *nm, const unsigned char *bytes, size_t len);
void nm_meet_strangers(struct nmofi *nm);
void nm_from_free(struct nmofi *nm, struct nm_from *from);

/* cq.c */
unsigned nm_poll(struct ch3_channel *ch);
bool nm_pending(struct ch3_channel *ch);
int nm_wait_fd(struct ch3_channel *ch);
bool nm_wait_begin(struct ch3_channel *ch);

/* life.c */
/* Once the endpoint has its name, to which the port is added. */
int nm_life_open(struct nmofi *nm);
void nm_life_end(struct nmofi *nm);
/* Does this name have a port that answers? */
bool nm_life_told(const struct nmofi_name *name);
/* A socket to ask with, which resets its connection when it is closed; -1 and errno. */
int nm_life_socket(const struct nmofi *nm);
/* Ask: 0, or an error; EINPROGRESS: the answer is to come. */
int nm_life_connect(int fd, const struct nmofi_name *name);
/* This process takes no connections any more: of a peer that had none. */
void nm_life_break(struct nmofi_link *link);
/* The queue's descriptor was readable, and a poll found nothing: maybe there is a connection that
 * cannot be accepted for want of descriptors. */
void nm_life_in_vain(struct nmofi *nm);

/* reach.c */
/* Ask now, unless that was done a moment ago. false: not where addresses are of the Internet. */
bool nm_reach_ask(struct nmofi_link *link, uint64_t now);
void nm_reach_poll(struct nmofi_link *link, uint64_t now);
void nm_reach_end(struct nmofi_link *link);

/* rma.c */
int nm_rdma(struct ch3_channel *ch, struct ch3_vc *vc, struct ch3_rdma *op);
int nm_mem_register(struct ch3_channel *ch, void *base, size_t len, struct ch3_mem_key *key,
                    struct ch3_mem **mem);
void nm_mem_release(struct ch3_channel *ch, struct ch3_mem *mem);
void nm_rma_done(struct nmofi *nm, struct nm_op *op, int err);
void nm_rma_abandon(struct nmofi_link *link, int err);
void nm_rma_forget(struct nmofi_link *link);
void nm_rma_end(struct nmofi *nm);

#endif
