/*
 * send_header.c - see send_header.h.
 */
#include "rma/win/send_header.h"

int win_send_header(struct win *w, struct rma_target *t, uint8_t type, uint32_t seq, uint32_t count,
                    uint32_t total, uint64_t offset)
{
    struct pkt_hdr hdr = win_header(w, t, type);
    hdr.seq = seq;
    hdr.count = count;
    hdr.total = total;
    hdr.offset = offset;
    int err = type == PKT_ACK ? ch3_send_awaited(&t->peer->vc, &hdr, sizeof hdr, &w->queued)
                              : ch3_send_owned(&t->peer->vc, &hdr, sizeof hdr, &w->queued);
    if (err == MRMA_ERR_NO_MEM) /* the peer would wait for it for ever */
        ch3_vc_lost(&t->peer->vc);
    return err;
}
