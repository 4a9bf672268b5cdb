/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nmofi.h - the libfabric netmod: CH3 packets between nodes, one endpoint a process.
 *
 * One reliable-datagram endpoint (FI_EP_RDM) carries everything; connections are
 * the provider's and made when the first packet leaves. Use:
 *
 *   nmofi_open         the endpoint; then nmofi_channel to ch3_add_channel
 *   nmofi_get_name     what others must know; exchanged by the bootstrap
 *   nmofi_add_secret   from the bootstrap, too; before it nothing is received
 *   nmofi_peer_init    for each peer that gets a vc: ch3_vc_init(vc, ch3, nmofi_channel, peer, ...)
 *   nmofi_close        after every vc was closed (CH3_VC_CLOSE) or lost
 *
 * The secret: every message begins with a keyed hash of the job's secret, the sender's and the
 * receiver's uid (nm_token in ofi.h); a message that does not is dropped before anything else of it
 * is read. Processes that meet in several exchanges may hold several secrets: each is good for
 * receiving, the one given to nmofi_peer_init is used towards that peer.
 *
 * A peer costs sizeof(struct nmofi_peer) until the first packet to or from it.
 *
 * Locks: every function is called with the engine's lock held, except nmofi_open and nmofi_close,
 * during which no other function may be called. See ch3/channel.h for the channel's functions.
 */
#ifndef MRMA_NETMOD_OFI_NMOFI_H
#define MRMA_NETMOD_OFI_NMOFI_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/log.h"
#include "ch3/channel.h"

struct topo_cpuset;

enum { NMOFI_SECRET_BYTES = 16, NMOFI_NAME_BYTES = 112, NMOFI_TEXT = 128 };

enum nmofi_rdma { NMOFI_RDMA_AUTO, NMOFI_RDMA_ON, NMOFI_RDMA_OFF };

struct nmofi_opts {
    const char *provider;  /* MPIRMA_OFI_PROVIDER; NULL or "": the best there is */
    const char *interface; /* MPIRMA_OFI_INTERFACE: interface or domain name, or an address; NULL or
                              "": any */
    bool loopback;         /* no interface named: all peers are on this machine, use its loopback */
    enum nmofi_rdma rdma;
    unsigned node_index; /* index of this process among those of its node, which share the cards */
    const struct topo_cpuset *node_cpus; /* where these processes run, from the first to this one;
                                            NULL: that is not known, and no card is nearer than
                                            others */
    unsigned universe;                   /* how many processes there may be; 0: that is not known */
    uint64_t uid;                        /* of this process */
    const struct log *log;
    struct trace *trace; /* where events are recorded (trace/record.h); NULL: no trace is taken */
    void *ctx;
    /* The connection of the process with this uid, made now if need be; NULL: the process is not
     * known, or not yet: what it sends is kept, within its credits, and find is called again by
     * later polls. Called from poll. */
    struct ch3_vc *(*find)(void *ctx, uint64_t uid);
};

/* An endpoint's address, to be sent to others as it is. */
struct nmofi_name {
    uint32_t format;   /* FI_ADDR_*, or FI_SOCKADDR_* */
    uint32_t protocol; /* FI_PROTO_*: both ends must speak the same */
    uint16_t len;
    uint16_t life;    /* the port that answers while its process lives (alive_socket.c); 0: none */
    uint32_t life_ip; /* the IPv4 address of that port, in network byte order; 0: the endpoint's
                         own */
    unsigned char bytes[NMOFI_NAME_BYTES];
};
static_assert(sizeof(struct nmofi_name) == 128, "wire size");

struct nmofi;
struct nmofi_link; /* what a peer that is in use costs, see ofi.h */

/* Per-peer state: the connection's channel data. All but uid is the netmod's. */
struct nmofi_peer {
    struct nmofi *nm;
    uint64_t uid;
    struct nmofi_link *link; /* NULL: nothing has gone either way */
    uint64_t token;          /* what every message to it begins with */
    uint64_t addr;           /* fi_addr_t */
    bool inserted;           /* addr is in the address vector */
    struct nmofi_name name;
};

struct nmofi_stats {
    uint64_t sent, received;  /* messages of all kinds */
    uint64_t injected;        /* of those sent */
    uint64_t credit_messages; /* of the messages sent, those that only return credits */
    uint64_t credit_stalls;   /* reserve found no credits */
    uint64_t buffer_stalls;   /* reserve found no transmit buffer */
    uint64_t provider_stalls; /* the provider was not ready to send (yet) */
    uint64_t dropped;         /* messages refused: no valid token, wrong length or kind */
    uint64_t lost;            /* connections */
    uint64_t rdma_puts, rdma_gets, rdma_atomics, rdma_bytes;
    uint64_t rdma_words;        /* words that puts have carried */
    uint64_t unregistered;      /* puts and gets that were refused, since memory could not be
                                   registered */
    uint64_t links, link_bytes; /* peers in use now, and the memory that they take */
    uint64_t buffer_bytes;      /* transmit and receive buffers, of all peers together */
};

/* nmofi_open opens the endpoint that *opts asks for and the buffers to receive with. *opts is
 * copied. The log, trace and ctx that it names must outlive the result; its provider, interface and
 * node_cpus need not. Takes milliseconds, and loads libfabric. Returns MRMA_SUCCESS and *out;
 * MRMA_ERR_OTHER (logged) if there is no provider, interface or endpoint as asked for, or
 * MRMA_ERR_NO_MEM. */
int nmofi_open(const struct nmofi_opts *opts, struct nmofi **out);

/* nmofi_fork_child is called in a child of fork, which must not answer for its parent: the child's
 * copies of the sockets of alive_socket.c are closed. */
void nmofi_fork_child(struct nmofi *nm);

/* nmofi_close lets what was committed leave, for a second at most, then closes the endpoint and
 * frees everything. */
void nmofi_close(struct nmofi *nm);

/* nmofi_channel returns the channel for ch3_add_channel and ch3_vc_init; it is part of nm. */
struct ch3_channel *nmofi_channel(struct nmofi *nm);

/* nmofi_get_stats returns the counters, which are part of nm and go on counting. */
const struct nmofi_stats *nmofi_get_stats(const struct nmofi *nm);

/* nmofi_describe returns provider, interface and address for messages, as in "net, eth0,
 * fi_sockaddr_in://192.0.2.2:4711". The text is part of nm. */
const char *nmofi_describe(const struct nmofi *nm);

/* nmofi_get_name copies this endpoint's address, which others need, to *name. */
void nmofi_get_name(const struct nmofi *nm, struct nmofi_name *name);

/* nmofi_add_secret makes the secret (copied) good for receiving. The same secret again is no error.
 * Returns MRMA_SUCCESS, or MRMA_ERR_NO_MEM (logged). */
int nmofi_add_secret(struct nmofi *nm, const unsigned char secret[NMOFI_SECRET_BYTES]);

/* nmofi_peer_init sets up *peer, memory of the caller's that lives as long as the connection, for
 * the process with that uid and address. secret is one that the peer has, too. Nothing is allocated
 * or connected before the first packet. Returns MRMA_SUCCESS, or MRMA_ERR_OTHER (logged) for an
 * address that this provider cannot use. */
int nmofi_peer_init(struct nmofi *nm, struct nmofi_peer *peer, uint64_t uid,
                    const struct nmofi_name *name, const unsigned char secret[NMOFI_SECRET_BYTES]);

/* nmofi_peer_is_used returns whether anything has gone to the peer or come from it, since the start
 * or since the connection was closed here. */
bool nmofi_peer_is_used(const struct nmofi_peer *peer);

/* nmofi_peer_is_gone returns whether the peer was in use and is not reachable any more: it has
 * closed its end, or the connection to it is lost. */
bool nmofi_peer_is_gone(const struct nmofi_peer *peer);

#endif
