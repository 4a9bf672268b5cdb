/* SPDX-License-Identifier: BSD-3-Clause */
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
    int err = ch3_send(&t->peer->vc, &hdr, sizeof hdr, &w->queued, type == PKT_ACK);
    if (err == MRMA_ERR_NO_MEM) /* the peer would wait for this packet for ever */
        ch3_vc_lost(&t->peer->vc);
    return err;
}
