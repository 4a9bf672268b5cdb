/*
 * target_single.c - see target_single.h.
 *
 * What a fetch_and_op, a compare_and_swap or a short get by itself takes at the target is waited for, so it has
 * a way of its own: the record is checked as target_record.c does, in one place, and no batch is looked at (doc/performance.md).
 * The answer is not built in the ring: the receiver polls its first line, which would go to and fro.
 */
#include "rma/target_single.h"

#include "base/copy.h"
#include "ch3/ch3.h"
#include "rma/acc.h"
#include "rma/acc_atomic.h"
#include "rma/direct.h"
#include "rma/lock_queue.h"
#include "rma/target.h"
#include "rma/target_record.h"

/* Is the element that the segment names the one that the record speaks of, with its data? */
static bool is_element(const struct pkt_op *op, const struct pkt_seg *seg)
{
    if (!op->type || op->type >= ACC_TYPE_LAST || seg->len != acc_extent(op->type))
        return false;
    if (op->kind == PKT_OP_CAS)
        return op->data_len == 2 * seg->len;
    return op->op != ACC_OP_NONE && op->op < ACC_OP_LAST && acc_allowed(op->op, op->type) &&
           op->data_len == (op->op == ACC_NO_OP ? 0 : seg->len);
}

static bool is_single(const struct pkt_hdr *hdr, const struct pkt_op *op, const struct pkt_seg *seg)
{
    const size_t heads = sizeof *hdr + sizeof *op + sizeof *seg;
    if (hdr->len < heads || !pkt_fetches(op->kind) || op->form != PKT_FORM_SEGS || op->nseg != 1 || op->offset || op->fill || op->zero ||
        pkt_align(op->data_len) > hdr->len - heads)
        return false;
    if (op->kind == PKT_OP_GET)
        return seg->len && seg->len <= TARGET_AT_ONCE && !op->data_len;
    return is_element(op, seg);
}

static void fetch(const struct win *w, const struct pkt_op *op, const struct pkt_seg *seg, const char *data, char *old)
{
    char *at = target_seg_addr(w, seg);
    struct stripes stripes = w->rma->env->stripes;
    if (op->kind == PKT_OP_GET)
        direct_copy(old, at, seg->len);
    else if (op->kind == PKT_OP_CAS)
        direct_cas(stripes, (uint64_t)(uintptr_t)at, at, data, data + seg->len, old, seg->len);
    else
        direct_acc_piece(stripes, (uint64_t)(uintptr_t)at, at, op->op, op->type, data, old, seg->len);
}

bool target_single(struct win *w, struct rma_target *t, const struct pkt_hdr *hdr, const void *body, uint8_t *flags)
{
    struct {
        struct pkt_op op;
        struct pkt_seg seg;
    } head = {.op.kind = PKT_OP_NONE};
    const struct pkt_op *op = &head.op;
    const struct pkt_seg *seg = &head.seg;
    if (hdr->len >= sizeof *hdr + sizeof head)
        copy_once(&head, body, sizeof head);
    /* Fences count what has come; strict mode looks at each access. */
    if (hdr->epoch == PKT_EPOCH_FENCE || unlikely(w->strict || ch3_vc_busy(&t->peer->vc)) || !is_single(hdr, op, seg) || !target_seg_inside(w, seg) ||
        (op->kind != PKT_OP_GET && acc_lock_mode_held(w, w->ctl) != 0))
        return false;
    const uint8_t rides = *flags & (PKT_F_FLUSH | PKT_F_UNLOCK);
    struct {
        struct pkt_hdr hdr;
        char data[TARGET_AT_ONCE];
    } out;
    out.hdr = (struct pkt_hdr){.version = PKT_VERSION, .type = PKT_REPLY, .flags = rides ? PKT_F_FLUSH : 0,
                               .len = (uint32_t)(sizeof *hdr + seg->len), .win = t->remote_win,
                               .win_gen = t->remote_gen, .rank = (uint32_t)w->rank,
                               .seq = rides ? (uint32_t)hdr->offset : 0, .count = op->request};
    fetch(w, op, seg, (const char *)body + sizeof head, out.data);
    const int err = ch3_send_awaited(&t->peer->vc, &out, out.hdr.len, &w->queued);
    if (unlikely(err)) { /* it has been done, and what rides on the packet is done behind it */
        (void)target_send_simple(w, t, PKT_ERROR, 0, op->request, (uint32_t)err, 0);
        return true;
    }
    *flags ^= rides;
    if (rides & PKT_F_UNLOCK)
        lock_queue_release(t->from);
    return true;
}
