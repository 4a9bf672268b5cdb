/*
 * stream.c - large operations on their way out.
 *
 * Ownership: a stream holds references to the datatypes whose cursors it uses and points into the
 * user's buffer, which stays the library's until the operation is locally complete. It is freed
 * when its last packet has left, or the connection is lost. Locks: the engine's, held by the
 * caller.
 */
#include "rma/origin/stream.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/epoch_open.h"
#include "rma/origin/replies.h"
#include "rma/packet/type_table.h"
#include "rma/progress/wait.h"
#include "rma/win/win.h"

struct origin_stream {
    struct ch3_stream stream;
    struct pkt_target *pt;
    struct record_source src;
    const struct dtype *otype, *ttype;
    struct rma_req *req;
    struct pkt_hdr hdr; /* of every packet but for len and count; flags: of the first */
};

bool origin_stream_room(const struct pkt_target *pt)
{
    return pt->streams < ORIGIN_PAIR_STREAMS;
}

static bool stream_next(struct ch3_stream *st, void *room, size_t cap, size_t *len)
{
    struct origin_stream *os = LIST_ENTRY(st, struct origin_stream, stream);
    struct pkt_hdr *hdr = room;
    *hdr = os->hdr;
    os->hdr.flags = 0;
    *len = sizeof *hdr;
    if (os->src.define) {
        type_table_define((char *)room + *len, os->src.id, os->ttype);
        *len += type_table_size(os->ttype);
        hdr->count = 1;
        os->src.define = false;
    }
    const size_t record = record_build(&os->src, (char *)room + *len, cap - *len);
    *len += record;
    hdr->len = (uint32_t)*len;
    hdr->count += record != 0;
    return os->src.left == 0;
}

static void stream_done(struct ch3_stream *st, int err)
{
    struct origin_stream *os = LIST_ENTRY(st, struct origin_stream, stream);
    os->pt->streams--;
    os->pt->win->origin_side.streams--;
    if (err && !os->pt->win->origin_side.err)
        os->pt->win->origin_side.err = err;
    origin_discharge(os->req, err);
    dtype_unref(os->otype);
    dtype_unref(os->ttype);
    free(os);
}

int origin_stream(struct pkt_target *pt, const struct record_source *src, const struct rma_op *op)
{
    struct origin_stream *os = malloc(sizeof *os);
    if (!os)
        return log_fail(pt->win->rma->log, MRMA_ERR_NO_MEM, "no memory for a large operation");
    *os = (struct origin_stream){
        .stream = {.next = stream_next, .done = stream_done, .owner = &pt->win->queued},
        .pt = pt,
        .src = *src,
        .otype = dtype_ref(op->otype),
        .ttype = dtype_ref(op->ttype),
        .req = op->req};
    os->hdr = pkt_ops_header(pt);
    pkt_take_lock(pt, &os->hdr);
    pt->unconfirmed = true;
    pt->streams++;
    pt->win->origin_side.streams++;
    origin_charge(op->req);
    int err = ch3_send_stream(&pt->target->peer->vc, &os->stream);
    if (err)
        stream_done(&os->stream, err);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(pt->win, pt->target) : err;
}
