/*
 * issue_single.c - one short operation that fetches, handed over by itself (origin's side).
 *
 * Its answer proves that it is done, so nothing need ride on it and it leaves at once: it is under way while the caller
 * gets to its flush. It needs no open packet. Operations behind it share packets, until the
 * answer is here. Locks: the engine's, held by the caller.
 */
#include "base/err.h"
#include "rma/handover.h"
#include "rma/issue.h"
#include "rma/open_packet.h"
#include "rma/origin.h"
#include "rma/record.h"

bool issue_goes_ahead(const struct pkt_target *pt, enum pkt_op_kind kind)
{
    return pt->target->direct && pkt_fetches(kind) && pkt_epoch_kind(pt) == PKT_EPOCH_NOCHECK;
}

int issue_single(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op)
{
    struct {
        struct pkt_hdr hdr;
        char record[RECORD_SINGLE_MAX];
    } out;
    if (pt->count || pt->replies || !issue_goes_ahead(pt, kind) || !record_is_single(kind, op))
        return MRMA_AGAIN;
    uint32_t request;
    int err = origin_request(pt, kind, op, &request);
    if (unlikely(err))
        return err;
    issue_header(pt, &out.hdr);
    out.hdr.len = (uint32_t)(sizeof out.hdr + record_build_single(out.record, kind, op, op->disp * (int64_t)pt->target->disp_unit, request));
    out.hdr.count = 1;
    err = handover_send(pt, &out.hdr);
    if (unlikely(err)) { /* the other way finds out why */
        origin_request_cancel(pt->win, request, MRMA_SUCCESS);
        return MRMA_AGAIN;
    }
    pt->unconfirmed = true;
    pkt_target_touch(pt);
    return MRMA_SUCCESS;
}
