/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sender.h - the processes that have sent HELLO (struct nm_from): they are found by their token,
 * and their messages wait here for their turn.
 *
 * Locks: as nmofi.h says. Neighbours: recv.c, which makes them and takes their messages; link.c,
 * which forgets them with the link.
 */
#ifndef MRMA_NETMOD_OFI_SENDER_H
#define MRMA_NETMOD_OFI_SENDER_H

#include "netmod/ofi/ofi.h"

struct nm_early {
    struct list_node node;
    uint16_t seq;
    _Alignas(8) unsigned char bytes[]; /* header and all */
};

/* nm_from_new makes the sender of that HELLO, which has no link yet. NULL: no memory. */
struct nm_from *nm_from_new(struct nmofi *nm, const struct nm_hello *hello);

/* nm_from_known notes that the layer above knows the sender, or that nobody asks any more. */
void nm_from_known(struct nmofi *nm, struct nm_from *from);

/* nm_from_keep keeps a message of len bytes until its turn comes. Returns false if there is no
 * memory, or more waits than the sender has credits for. */
bool nm_from_keep(struct nm_from *from, const struct nm_hdr *hdr, size_t len);

/* nm_from_free forgets a sender, and frees its messages that wait for their turn. The caller clears
 * the link's pointer to it. */
void nm_from_free(struct nmofi *nm, struct nm_from *from);

#endif
