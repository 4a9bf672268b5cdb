/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dispatch.c - takes an arrived packet to its handler, and the word of a put to the layer above.
 *
 * The header is copied, then checked here: version, type, length. A packet that fails is refused
 * and reported (the first few, then counted), never followed; the handlers check what only the
 * layer above can know (epochs, window, rank, bounds).
 *
 * Locks: the engine's, held by the channel's caller. Neighbours: the channels call this,
 * src/rma/layer/handlers.c has the table of handlers.
 */
#include "base/copy.h"
#include "base/err.h"
#include "ch3/ch3.h"

enum { REPORTED_BAD_PACKETS = 5 };

/* header_fault returns what is wrong with the header, or NULL. */
static const char *header_fault(const struct pkt_hdr *hdr, size_t len)
{
    if (hdr->version != PKT_VERSION)
        return "version";
    if (hdr->type == PKT_NONE || hdr->type >= PKT_TYPE_LAST)
        return "type";
    if (hdr->len != len)
        return "length field";
    return NULL;
}

void ch3_deliver(struct ch3_vc *from, const void *packet, size_t len)
{
    struct ch3 *c = from->ch3;
    struct pkt_hdr hdr;
    const char *fault = "length";
    if (len >= sizeof hdr && len <= PKT_MAX) {
        copy_once(&hdr, packet, sizeof hdr);
        fault = header_fault(&hdr, len);
    }
    if (fault) {
        c->stats.bad++;
        if (from->bad_packets++ < REPORTED_BAD_PACKETS)
            log_msg(c->log, LOG_LEVEL_ERROR, "bad packet refused: wrong %s (%zu bytes)", fault,
                    len);
        return;
    }
    c->stats.packets_received++;
    c->handlers[hdr.type](c->handler_ctx, from, &hdr, (const char *)packet + sizeof hdr);
}

void ch3_deliver_word(struct ch3_channel *ch, uint32_t word)
{
    struct ch3 *c = ch->ch3;
    c->stats.words++;
    if (c->word)
        c->word(c->handler_ctx, word);
}
