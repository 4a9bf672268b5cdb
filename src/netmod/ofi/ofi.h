/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi.h - the netmod's insides, shared by the files of src/netmod/ofi only.
 *
 *   dlopen_libfabric.c  libfabric's functions      select_provider.c  which provider
 *   nmofi.c             open, close, the table     fabric.c           the provider's objects
 *   addr.c              names and interfaces       buf.c              transmit and receive buffers
 *   msg.c               sending                    recv.c             what has arrived
 *   link.c              a peer that is in use      ofi_vc.c           room for a packet, probing
 *   cq.c                poll, completions, waits   gap.c              missing messages
 *   alive_socket.c      says this process lives    alive_probe.c      asks whether others do
 *   ofi_rma.c           rdma put and get, memory   ofi_atomic.c       rdma atomic operations
 *
 * Messages: wire.h.
 *
 * Credits. A link may have NM_WINDOW units under way. A message costs one unit, and one more for
 * each KiB. The receiver gives units back with whatever it sends, or by CREDIT when half the window
 * is due and nothing was sent. Only HELLO, CREDIT, BYE, PROBE, RESET and CONNECT cost nothing; few
 * of them can be under way. CONNECT has no number: it asks the peer to say HELLO (link.c).
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
#include "netmod/ofi/wire.h"
#include "sys/environment.h"

enum {
    NM_WINDOW = 512, /* units under way to a peer */
    NM_UNIT_SHIFT = 10,
    NM_MSG_MAX = sizeof(struct nm_hdr) + CH3_PACKET_MAX,
    NM_SMALL = 512,   /* the smaller of two sizes of transmit buffers */
    NM_TX_SLAB = 16,  /* how many buffers are made at a time */
    NM_TX_SLABS = 16, /* how many slabs of either size there are at most */
    NM_RX_BUFFERS = 4,
    NM_RX_BYTES = 128 * 1024,
    NM_RX_PER_LINK = 2, /* how many receive buffers each link after the first adds: buf.c */
    NM_RX_LINKS = 4,    /* on hardware so many links share them */
    NM_RX_MOST = 256,
    NM_CQ_BURST = 16,
    NM_CQ_BURSTS = 8, /* a poll */
    NM_REPORTED = 5   /* how many bad messages are logged */
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
    uint8_t kind; /* enum nm_kind */
    bool told;    /* its completion is asked for, so it is not injected */
    uint32_t len; /* of the message, padded */
    _Alignas(16) unsigned char bytes[];
};

/* A receive buffer; buf.c says when it may be posted again. */
struct nm_rx {
    struct nm_op op;          /* first */
    struct list_node node;    /* in nm->rx */
    struct list_node waiting; /* in nm->rx_waiting while the provider has not taken it */
    struct fid_mr *mr;
    unsigned char *bytes; /* NM_RX_BYTES */
    uint32_t complete;    /* bytes of the messages that are complete */
    uint32_t end;         /* end of the last one of them */
    bool used_up;         /* the provider puts no further messages into it */
    bool held;            /* other buffers do its work until it is posted again; counted in
                             nm->nheld */
    bool torn;            /* a message in it has failed, whose length nobody knows */
    uint64_t ended_at;    /* nm->stats.received when it was used up, or torn later */
};

/* The sender's side of a peer in use. It stays after its connection until everything has left. */
struct nmofi_link {
    struct nmofi *nm;
    struct list_node node;    /* in nm->links */
    struct list_node stalled; /* in nm->stalled while something waits for the provider */
    struct list_node owing;   /* in nm->owing while half a window of credits is due */
    struct list_node broken;  /* in nm->broken until it is reported */
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
    uint16_t probed;    /* seq behind the last PROBE */
    bool greeting;      /* HELLO has been sent, and other messages may overtake it */
    bool greeted;       /* other messages may follow */
    bool lost;          /* broken: nothing is sent any more */
    bool closing;       /* BYE is its last message */
    bool starved;       /* the last reserve found no credits */
    bool probing;       /* a PROBE is under way, and the provider will report its end */
    bool answered;      /* its peer's socket has said that it lives */
    uint64_t stalled_since, retry_at;
    struct nm_reach *reach;              /* a question under way: is the peer reachable */
    uint64_t reach_at;                   /* the next question is not asked before this time */
    uint64_t silent_since, silent_heard; /* when the first question without an answer was asked, and
                                            what had been heard by then; 0: none */
    bool silence_told;
};

/* The receiver's side: who a token belongs to. */
struct nm_from {
    uint64_t token, uid;
    struct nmofi_link *link;  /* NULL: find does not know it yet */
    struct list_node unknown; /* in nm->unknown */
    struct list early; /* struct nm_early, by seq: messages that arrived before their turn, or
                          before find knew the peer */
    uint32_t early_units;
    uint64_t heard;     /* nm->stats.received at its last message */
    uint64_t gap_since; /* since when the message gap_seq is missing, while gaps are watched; 0:
                           none is missing */
    uint16_t gap_seq;
    uint16_t seq; /* of the next message */
    bool bye;
};

/* nm_has_closed returns whether the peer has closed its end in order (BYE). It needs nothing that
 * is still to come, so messages that it does not take any more are no loss. */
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
    struct environment environment; /* with what providers read while they are opened */
    struct fi_info *info;
    uint32_t refused; /* providers that cannot be used, a bit for each row in select_provider.c */
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_wait *wait; /* NULL: the queue's own descriptor */
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_ep *ask_ep; /* CONNECT messages leave from it; NULL: either side connects */
    int wait_fd;           /* -1: none */
    int life;     /* socket that answers those who ask whether this process lives; -1: none */
    int listener; /* the provider's own listening socket, or -1 */
    int spare;    /* socket for questions when the program has used up all descriptors */
    bool spare_used;
    bool gave_up; /* this process takes no connections any more: alive_socket.c */
    uint64_t
        vain_look_at; /* the next look at the listener where polls are in vain: alive_socket.c */
    _Atomic uint64_t short_since; /* somebody connects, and there is no descriptor for it, so that
                                     wait_fd is readable all the time; 0: no */
    _Atomic bool asked; /* pending said yes because of the descriptor: poll must rearm it */
    bool software;      /* the provider copies through a socket */
    bool over_tcp;      /* the provider is known to work over TCP */
    bool unordered;     /* later sends may overtake earlier ones */
    bool silent;        /* its descriptor does not tell of what arrives */
    bool card;          /* no processor of the target takes part in a put or get */
    bool words;         /* a put may carry a word */
    bool transmits;     /* the end of a put does not say that its data is in place */
    bool early_release; /* the provider may say too early that a receive buffer is used up: buf.c */
    bool sequential;    /* a peer's messages complete one after the other */
    size_t inject_max;
    char text[NMOFI_TEXT];
    struct nmofi_name name;
    struct list secrets;
    struct list links, stalled, owing, broken, unknown;
    struct nmofi_link *own;           /* to this endpoint, for atomic operations; NULL: not made */
    struct map from;                  /* struct nm_from by token */
    struct list tx_free[2], tx_slabs; /* by small */
    unsigned ntx_slabs[2];
    struct nm_tx *reserved;
    bool short_of_memory; /* reserve has failed for want of memory; no arrival tells when there is
                             memory again */
    struct list rx, rx_waiting; /* struct nm_rx */
    bool rx_refused;            /* the provider has refused a receive buffer since events were last
                                   read */
    unsigned nrx, nheld;        /* how many receive buffers there are, and how many of them are
                                   held */
    struct list rma_free;
    unsigned nrma;     /* struct nm_rma made */
    unsigned closing;  /* links disconnected and not yet freed */
    bool ending;       /* nmofi_close */
    unsigned events;   /* events that the running poll has counted */
    uint64_t doubt_at; /* all peers are asked again not before this time */
    uint64_t stray_at; /* when a message that belongs to nobody was dropped; 0: none was of late */
    uint64_t watch_at; /* the next look for gaps is not before this time (gap.c) */
    bool gaps;         /* the last look has found gaps: somebody must poll */
    uint32_t polls;
};

/* nm_of returns the netmod whose channel ch is; the channel is the first member of struct nmofi. */
static inline struct nmofi *nm_of(struct ch3_channel *ch)
{
    return (struct nmofi *)(void *)ch; /* its first member */
}

/* nm_cost returns how many units of credit a message with len bytes behind its header costs. */
static inline uint32_t nm_cost(size_t len)
{
    return 1 + (uint32_t)(len >> NM_UNIT_SHIFT);
}

/* nm_pad returns len rounded up to a multiple of 8. */
static inline size_t nm_pad(size_t len)
{
    return (len + 7) & ~(size_t)7;
}

/* ---- fabric.c ---- */

/* nm_fabric_open loads libfabric, has a provider chosen and opens the endpoints with all that they
 * need: it sets nm->info to nm->ep, ask_ep and wait_fd. Returns MRMA_SUCCESS or MRMA_ERR_OTHER
 * (logged); in both cases nm_fabric_end and nm_fabric_close close what was opened. */
int nm_fabric_open(struct nmofi *nm);

/* nm_fabric_end closes the endpoints alone. After it the provider uses no buffer any more. */
void nm_fabric_end(struct nmofi *nm);

/* nm_fabric_close closes everything except the endpoints, which have been closed before. */
void nm_fabric_close(struct nmofi *nm);

/* ---- select_provider.c ---- */

/* nm_choose asks libfabric, which is loaded, for providers, and sets nm->info and what follows from
 * it for the rest of the netmod. The variables that providers read are in the environment from then
 * on, until the caller takes them out (nm->environment). Returns MRMA_SUCCESS, or MRMA_ERR_OTHER
 * (logged): there is none that fits. */
int nm_choose(struct nmofi *nm);

/* nm_refuse frees nm->info, whose objects are closed, and makes nm_choose leave out that provider
 * from now on; why is the reason, for the log. False: the user has named the provider, so no other
 * may take its place, and nothing is changed. */
bool nm_refuse(struct nmofi *nm, const char *why);

/* nm_choose_automatic replaces nm->info by the same provider with automatic progress, if that
 * provider is not in the table of known ones and offers this. Returns whether it has replaced
 * it. */
bool nm_choose_automatic(struct nmofi *nm);

/* ---- provider_env.c ---- */

/* nm_add_variables puts the variables that providers need into the environment (nm->environment),
 * except those that are there already. */
void nm_add_variables(struct nmofi *nm);

/* nm_shares_buffers returns whether ofi_rxm has, or will have, one queue of receive buffers for all
 * its peers. nm_add_variables asks for one where the user has set nothing else. */
bool nm_shares_buffers(void);

/* ---- addr.c ---- */

/* nm_addr_bytes returns how long the endpoint's address is, which may be longer than the
 * NMOFI_NAME_BYTES that others can be told; 0: the provider does not say. */
size_t nm_addr_bytes(const struct nmofi *nm);

/* nm_addr_name asks the endpoint for its address, for nm->name. Returns MRMA_SUCCESS, or
 * MRMA_ERR_OTHER (logged). */
int nm_addr_name(struct nmofi *nm);

/* nm_addr_on returns whether info is on the interface that was asked for, by its domain's name or
 * its address. */
bool nm_addr_on(const struct fi_info *info, const char *interface);

/* nm_addr_loopback returns whether info has an address of the loopback interface. */
bool nm_addr_loopback(const struct fi_info *info);

/* nm_addr_link_local returns whether info has an address that is good for one link only. */
bool nm_addr_link_local(const struct fi_info *info);

/* nm_addr_text writes an address as text, for messages, to text (len bytes). */
void nm_addr_text(const struct nmofi *nm, const struct nmofi_name *name, char *text, size_t len);

/* ---- buf.c ---- */

/* nm_tx_get returns a transmit buffer for a message of len bytes, header included; NULL: none can
 * be had now. It is given back by nm_tx_put. */
struct nm_tx *nm_tx_get(struct nmofi *nm, size_t len);

/* nm_tx_put takes back a transmit buffer that the provider does not use. */
void nm_tx_put(struct nmofi *nm, struct nm_tx *tx);

/* nm_buf_start makes the first buffers and posts those to receive with. Returns MRMA_SUCCESS, or
 * MRMA_ERR_NO_MEM or MRMA_ERR_OTHER (logged). */
int nm_buf_start(struct nmofi *nm);

/* nm_rx_grow makes sure that there are enough receive buffers for so many links. Returns false
 * without memory. */
bool nm_rx_grow(struct nmofi *nm, uint64_t links);

/* nm_rx_post gives a receive buffer to the provider; all messages in it have been dealt with. If
 * the provider does not take the buffer a later poll tries again. */
void nm_rx_post(struct nmofi *nm, struct nm_rx *rx);

/* nm_rx_done is called when a completion of a receive buffer has been dealt with: either the
 * completion of a message of len bytes at buf, or one without a message (NULL, 0). used_up says
 * that with this completion the provider puts no further messages into the buffer. The function
 * posts the buffer again when that is safe. */
void nm_rx_done(struct nmofi *nm, struct nm_rx *rx, const unsigned char *buf, size_t len,
                bool used_up);

/* nm_rx_failed is called when a message in a receive buffer has failed; used_up as in nm_rx_done.
 */
void nm_rx_failed(struct nmofi *nm, struct nm_rx *rx, bool used_up);

/* nm_buf_end frees all buffers. The endpoints have been closed before. */
void nm_buf_end(struct nmofi *nm);

/* ---- broken.c ---- */

/* nm_link_break notes that the connection has broken, and logs why (fmt). From now on nothing is
 * sent over it, and the next poll reports it upwards. For a connection that is broken already it
 * does nothing. */
void nm_link_break(struct nmofi_link *link, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- link.c ---- */

/* nm_link_get returns the link of a peer, whose connection is vc, and makes it if there is none:
 * the peer is in use from now on. heard says that the peer has sent HELLO or CONNECT, so that this
 * side's HELLO need not wait. Sends HELLO, or CONNECT, if neither has been sent; until greeted is
 * true no other message may follow. NULL: no memory now. */
struct nmofi_link *nm_link_get(struct nmofi_peer *peer, struct ch3_vc *vc, bool heard);

/* nm_link_own returns the link to this endpoint itself, and makes it if there is none. It belongs
 * to no peer, no message goes over it, and it stays until the end. NULL: no memory now. */
struct nmofi_link *nm_link_own(struct nmofi *nm);

/* nm_link_asked is called when the process with this uid has sent CONNECT: that process is sent
 * HELLO, unless the layers above do not know it (yet). */
void nm_link_asked(struct nmofi *nm, uint64_t uid);

/* nm_abandon is the channel's abandon (ch3/channel.h): the peer is sent RESET. */
void nm_abandon(struct ch3_channel *ch, struct ch3_vc *vc);

/* nm_link_report_broken reports all connections that have broken to the layers above; what is under
 * way on them ends with an error. Only from poll. */
void nm_link_report_broken(struct nmofi *nm);

/* nm_link_disconnect is the channel's disconnect (ch3/channel.h): BYE is sent behind what was
 * committed, and the link is freed when BYE has left. */
void nm_link_disconnect(struct ch3_channel *ch, struct ch3_vc *vc);

/* nm_link_reap frees the links that are disconnected and have nothing under way. */
void nm_link_reap(struct nmofi *nm);

/* nm_link_restart begins a link anew when its peer had closed its end and comes again: numbers and
 * credits start from the beginning, and HELLO is sent. */
void nm_link_restart(struct nmofi_link *link);

/* nm_link_free frees the link with all that waits in it. The provider uses nothing of it any
 * more. */
void nm_link_free(struct nmofi_link *link);

/* nm_token returns the token with which every message from the process with uid sender to the
 * process with uid receiver begins: a hash under a secret of NMOFI_SECRET_BYTES, which only a
 * process that has the secret can compute.
 */
uint64_t nm_token(const unsigned char *secret, uint64_t sender, uint64_t receiver);

/* ---- ofi_vc.c ---- */

/* nm_reserve is the channel's reserve (ch3/channel.h). No room is given before the peer is greeted,
 * while anything waits for the provider, and without credits. */
void *nm_reserve(struct ch3_channel *ch, struct ch3_vc *vc, size_t len);

/* nm_probe is the channel's probe (ch3/channel.h): it asks the peer's socket (alive_probe.c). It
 * also sends a PROBE where there is no such socket, where the provider reports how each message has
 * ended, or where the last message was not a PROBE. */
void nm_probe(struct ch3_channel *ch, struct ch3_vc *vc);

/* nm_doubt is called when the provider reports that a message is lost and does not say which one:
 * all peers in use are asked whether they are there, at most a few times a second. */
void nm_doubt(struct nmofi *nm);

/* ---- msg.c ---- */

/* nm_commit is the channel's commit (ch3/channel.h), for the buffer in nm->reserved. */
void nm_commit(struct ch3_channel *ch, struct ch3_vc *vc, size_t len);

/* nm_send_bare sends a message that has nothing but its header: CREDIT, PROBE or RESET. Returns
 * false if it was not sent: the connection has broken, the link is not greeted, something waits for
 * the provider, or there is no buffer. */
bool nm_send_bare(struct nmofi_link *link, enum nm_kind kind);

/* nm_send_first sends HELLO, which is queued if it cannot leave now. Where later sends may overtake
 * HELLO the link is greeted only when HELLO has arrived. Returns false without memory. */
bool nm_send_first(struct nmofi_link *link);

/* nm_greeted is called when a HELLO that other messages may overtake has arrived. */
void nm_greeted(struct nmofi_link *link);

/* nm_send_last sends BYE, after which nothing may be sent; it is queued if it cannot leave now.
 * Returns false without memory. */
bool nm_send_last(struct nmofi_link *link);

/* nm_ask_connect asks the peer, by CONNECT, to send HELLO; polls ask again and again, ever more
 * rarely, until HELLO comes. */
void nm_ask_connect(struct nmofi_link *link);

/* nm_push sends what waits on the link for the provider, as far as the provider takes it. Returns
 * whether it has taken anything. */
bool nm_push(struct nmofi_link *link);

/* nm_unstall notes that nothing of the link waits for the provider any more. */
void nm_unstall(struct nmofi_link *link);

/* nm_give_credits sends CREDIT to all peers to which half a window of credits is due. */
void nm_give_credits(struct nmofi *nm);

/* ---- recv.c ---- */

/* nm_received deals with a message of len bytes that has arrived, whoever may have sent it.
 * Messages that are not genuine, or malformed, are counted and dropped. bytes is not used after the
 * call. */
void nm_received(struct nmofi *nm, const unsigned char *bytes, size_t len);

/* nm_find_unknown looks whether the layers above know by now the processes that have sent HELLO
 * before they were known, and accepts what these have sent. */
void nm_find_unknown(struct nmofi *nm);

/* ---- gap.c ---- */

/* nm_gap_stray is called when a message was dropped that belongs to nobody. */
void nm_gap_stray(struct nmofi *nm);

/* nm_gap_watch looks, at most ten times a second, whether peers have lost messages, and ends the
 * connections of those that have. Polls call it as long as nm->stray_at is set. */
void nm_gap_watch(struct nmofi *nm);

/* nm_gap_end tells the channel that nothing must be polled for because of gaps any more. */
void nm_gap_end(struct nmofi *nm);

/* ---- cq.c ---- */

/* nm_poll is the channel's poll (ch3/channel.h). Nothing is received before the first secret is
 * there. */
unsigned nm_poll(struct ch3_channel *ch);

/* nm_pending is the channel's pending (ch3/channel.h): it looks only at the descriptor, since it
 * has no lock. */
bool nm_pending(struct ch3_channel *ch);

/* nm_wait_fd is the channel's wait_fd (ch3/channel.h). */
int nm_wait_fd(struct ch3_channel *ch);

/* nm_wait_begin is the channel's wait_begin (ch3/channel.h). */
bool nm_wait_begin(struct ch3_channel *ch);

#endif
