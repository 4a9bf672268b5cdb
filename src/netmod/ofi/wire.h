/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.h - what the netmod's messages look like.
 *
 * Messages. Each begins with struct nm_hdr and is padded to 8 bytes, so that in a receive buffer,
 * where they follow each other, packets are aligned. The first message to a peer is HELLO, which
 * says who sends; from then on the token says so. The numbers of messages run without gaps. A
 * provider may complete messages out of order although it has matched them in order (one beyond its
 * eager limit), so recv.c sorts them by number. A provider may also reconnect unasked and drop what
 * was under way, which a gap shows.
 *
 * Neighbours: msg.c and link.c, which make messages; recv.c, which reads them.
 */
#ifndef MRMA_NETMOD_OFI_WIRE_H
#define MRMA_NETMOD_OFI_WIRE_H

#include <assert.h>
#include <stdint.h>

enum { NM_VERSION = 1 };

enum nm_kind { NM_HELLO = 1, NM_DATA, NM_CREDIT, NM_BYE, NM_PROBE, NM_RESET, NM_CONNECT, NM_KINDS };

struct nm_hdr {
    uint64_t token;   /* see nm_token */
    uint8_t kind;     /* enum nm_kind */
    uint8_t version;  /* NM_VERSION */
    uint16_t seq;     /* numbers the messages of a link */
    uint16_t credits; /* credits that are given back to the receiver of this message */
    uint16_t len;     /* bytes behind the header, before padding */
};
static_assert(sizeof(struct nm_hdr) == 16, "wire size");

/* HELLO and CONNECT. */
struct nm_hello {
    struct nm_hdr hdr;
    uint64_t uid; /* the sender's */
};
static_assert(sizeof(struct nm_hello) == 24, "wire size");

#endif
