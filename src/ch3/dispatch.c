/*
 * dispatch.c - from an arrived packet to its handler.
 *
 * The header is copied, then checked here: version, type, length, flags, epoch. A packet that
 * fails is refused and reported (the first few, then counted), never followed;
 * what only the layer above can know (window, rank, bounds) its handlers check.
 */
#include "base/copy.h"
#include "base/err.h"
#include "ch3/ch3.h"

enum { REPORTED_BAD_PACKETS = 5 };

static const uint16_t min_len[PKT_TYPE_LAST] = {
    [PKT_OPS] = sizeof(struct pkt_hdr),   [PKT_POST] = sizeof(struct pkt_hdr),
    [PKT_OPEN] = sizeof(struct pkt_hdr),  [PKT_ACK] = sizeof(struct pkt_hdr),
    [PKT_REPLY] = sizeof(struct pkt_hdr), [PKT_ERROR] = sizeof(struct pkt_hdr),
    [PKT_SYNC] = sizeof(struct pkt_hdr),  [PKT_COUNTS] = sizeof(struct pkt_hdr),
};

/* The flags that may be piggybacked on the packets of an epoch. */
static const uint8_t may_piggyback[PKT_EPOCH_LAST] = {
    [PKT_EPOCH_FENCE] = PKT_F_WANT_OPEN | PKT_F_FENCE,
    [PKT_EPOCH_PSCW] = PKT_F_COMPLETE,
    [PKT_EPOCH_LOCK] = PKT_F_LOCK_SHARED | PKT_F_LOCK_EXCLUSIVE | PKT_F_LOCK_ALL | PKT_F_WANT_OPEN |
                       PKT_F_FLUSH | PKT_F_UNLOCK,
    [PKT_EPOCH_NOCHECK] = PKT_F_WANT_OPEN | PKT_F_FLUSH,
};

/* What is wrong with the header, or NULL. */
static const char *header_fault(const struct pkt_hdr *hdr, size_t len)
{
    if (hdr->version != PKT_VERSION)
        return "version";
    if (hdr->type == PKT_NONE || hdr->type >= PKT_TYPE_LAST)
        return "type";
    if (hdr->len != len || hdr->len < min_len[hdr->type])
        return "length field";
    if (hdr->epoch >= PKT_EPOCH_LAST || (hdr->type == PKT_OPS) != (hdr->epoch != PKT_EPOCH_NONE))
        return "epoch";
    if (hdr->flags & ~(hdr->type == PKT_REPLY ? PKT_F_FLUSH : may_piggyback[hdr->epoch]))
        return "flags";
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
