/*
 * send_header.c - see send_header.h.
 */
#include "rma/win/send_header.h"

int win_send_header(struct win *w, struct rma_target *t, uint8_t type, uint32_t seq, uint32_t count,
                    uint32_t total, uint64_t offset)
{
    struct pkt_hdr hdr = {.version = PKT_VERSION,
                          .type = type,
                          .len = sizeof hdr,
                          .win = t->remote_win,
                          .win_gen = t->remote_gen,
                          .rank = (uint32_t)w->rank,
                          .seq = seq,
                          .count = count,
                          .total = total,
                          .offset = offset};
    int err = type == PKT_ACK ? ch3_send_awaited(&t->peer->vc, &hdr, sizeof hdr, &w->queued)
                              : ch3_send_owned(&t->peer->vc, &hdr, sizeof hdr, &w->queued);
    if (err == MRMA_ERR_NO_MEM) /* the peer would wait for it for ever */
        ch3_vc_lost(&t->peer->vc);
    return err;
}
