/*
 * issue.c - open packets and what rides on them (origin's side).
 *
 * Speculative exposure: a packet may leave before its epoch is known to be open
 * at the target, which parks it until then; so a small epoch costs one one-way
 * message. One packet a pair at most is ahead, which bounds what a target parks:
 * the next waits for the target's word (its post, or PKT_OPEN, which the first
 * asked for). A PSCW epoch may not be ahead of an epoch that is itself ahead.
 *
 * States of a packet lock (pkt_target.lock), see doc/states:
 *   NONE -begin-> DUE -first packet-> SENT -PKT_OPEN or ack-> HELD -ack of unlock-> NONE
 *   DUE -unlock without operations-> NONE (nothing was sent)
 * Locks: the engine's, taken here; waits are without it.
 */
#include "rma/issue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/cma.h"
#include "rma/origin.h"
#include "rma/target.h"
#include "rma/wait.h"
#include "rma/win.h"

enum { QUEUE_LIMIT = 256 * 1024, SMALL_OP = PKT_MAX / 2 };

static uint8_t epoch_kind(const struct pkt_target *pt)
{
    const struct win *w = pt->win;
    if (w->fence_closing)
        return PKT_EPOCH_FENCE;
    switch (w->epoch.state) {
    case EPOCH_FENCE:
    case EPOCH_FENCE_USED:
        return PKT_EPOCH_FENCE;
    case EPOCH_PSCW:
        return PKT_EPOCH_PSCW;
    case EPOCH_LOCK_ALL:
        return w->all_nocheck ? PKT_EPOCH_NOCHECK : PKT_EPOCH_LOCK;
    default:
        return pt->target->lock == WIN_LOCK_NOCHECK ? PKT_EPOCH_NOCHECK : PKT_EPOCH_LOCK;
    }
}

void issue_header(const struct pkt_target *pt, struct pkt_hdr *hdr)
{
    const struct rma_target *t = pt->target;
    *hdr = (struct pkt_hdr){.version = PKT_VERSION, .type = PKT_OPS, .epoch = epoch_kind(pt), .win = t->remote_win, .win_gen = t->remote_gen, .rank = (uint32_t)pt->win->rank};
    hdr->seq = hdr->epoch == PKT_EPOCH_FENCE  ? pt->win->phase
               : hdr->epoch == PKT_EPOCH_PSCW ? t->starts
                                              : pt->lock_seq;
}

/* Is the epoch known to be open at the target, so that packets may stream? */
static bool opened(const struct pkt_target *pt)
{
    const struct rma_target *t = pt->target;
    if (t->direct)
        return true; /* epoch_access has made sure */
    struct pkt_hdr hdr;
    issue_header(pt, &hdr);
    switch (hdr.epoch) {
    case PKT_EPOCH_FENCE:
        return pt->open_seq == pt->win->phase + 1;
    case PKT_EPOCH_PSCW:
        return seq_reached(atomic_load_explicit(&t->in->posts, memory_order_acquire), t->posts_due);
    case PKT_EPOCH_NOCHECK:
        return true;
    default:
        return pt->lock == PKT_LOCK_HELD;
    }
}

/* May one packet be sent without knowing? */
static bool may_go_ahead(const struct pkt_target *pt)
{
    const struct rma_target *t = pt->target;
    if (pt->ahead)
        return false;
    if (pt->win->epoch.state != EPOCH_PSCW)
        return true;
    return seq_reached(atomic_load_explicit(&t->in->posts, memory_order_acquire), t->posts_due - 1);
}

static bool may_send(void *arg)
{
    struct pkt_target *pt = arg;
    return opened(pt) || may_go_ahead(pt) || pt->win->packet_err;
}

static bool is_opened(void *arg)
{
    struct pkt_target *pt = arg;
    return opened(pt) || pt->win->packet_err;
}

static bool queue_short(void *arg)
{
    struct pkt_target *pt = arg;
    return pt->target->peer->vc.queued < QUEUE_LIMIT || pt->target->peer->vc.state != CH3_VC_OPEN;
}

/* Wait, called and returning with the engine's lock held. */
static int wait_packet(struct pkt_target *pt, bool (*done)(void *), const char *what)
{
    struct win *w = pt->win;
    if (done(pt))
        return MRMA_SUCCESS;
    rma_leave(w->rma);
    int err = rma_wait_until(w, &(struct rma_wait){.done = done, .arg = pt, .locked = true, .what = what,
                                                   .rank = (int)(pt->target - w->targets)});
    rma_enter(w->rma);
    return err;
}

/* The state of this pair for the present epoch; made on first use. */
static struct pkt_target *pkt_target_get(struct win *w, struct rma_target *t)
{
    struct pkt_target *pt = t->pkt;
    if (!pt) {
        pt = calloc(1, sizeof *pt);
        unsigned char *buf = pt ? malloc(PKT_MAX) : NULL;
        if (!buf) {
            free(pt);
            return NULL;
        }
        *pt = (struct pkt_target){.win = w, .target = t, .buf = buf, .used = sizeof(struct pkt_hdr)};
        pt->epoch_seen = atomic_load_explicit(&w->gen, memory_order_relaxed) - 1;
        t->pkt = pt;
    }
    uint32_t gen = atomic_load_explicit(&w->gen, memory_order_relaxed);
    if (pt->epoch_seen != gen) {
        pt->epoch_seen = gen;
        pt->asked = pt->ahead = false;
        if (w->epoch.state == EPOCH_LOCK_ALL && !w->all_nocheck) {
            pt->lock = PKT_LOCK_DUE;
            pt->lock_seq++;
        }
    }
    return pt;
}

static void touch(struct pkt_target *pt)
{
    if (!list_node_queued(&pt->touched))
        list_push_back(&pt->win->touched, &pt->touched);
}

void issue_free_target(struct rma_target *t)
{
    if (!t->pkt)
        return;
    if (list_node_queued(&t->pkt->touched))
        list_remove(&t->pkt->touched);
    free(t->pkt->buf);
    free(t->pkt);
    t->pkt = NULL;
}

static uint8_t lock_flag(const struct pkt_target *pt)
{
    if (pt->win->epoch.state == EPOCH_LOCK_ALL)
        return PKT_F_LOCK_ALL;
    return pt->target->lock == WIN_LOCK_EXCLUSIVE ? PKT_F_LOCK_EXCLUSIVE : PKT_F_LOCK_SHARED;
}

/* Ask the target to say when the epoch is open, if nobody has asked yet. */
static int ask_open(struct pkt_target *pt)
{
    if (pt->asked || opened(pt) || pt->win->epoch.state == EPOCH_PSCW)
        return MRMA_SUCCESS;
    struct pkt_hdr hdr;
    issue_header(pt, &hdr);
    hdr.len = sizeof hdr;
    hdr.flags = PKT_F_WANT_OPEN;
    if (pt->lock == PKT_LOCK_DUE) {
        hdr.flags |= lock_flag(pt);
        pt->lock = PKT_LOCK_SENT;
    }
    pt->asked = pt->ahead = true;
    return ch3_send_copy(&pt->target->peer->vc, &hdr, sizeof hdr);
}

/* Small puts to a kernel-assisted target: they leave at once, or are done here by
 * system calls if its ring is full. Queued they would come after the barrier or the
 * complete that the target sees, and it looks at its rings only then. */
static int send_ring(struct pkt_target *pt, const struct pkt_hdr *hdr)
{
    const struct rma_target *t = pt->target;
    const struct dtype byte = dtype_basic(ACC_NONE);
    int err = ch3_send_now(&t->peer->vc, hdr, hdr->len);
    if (err != MRMA_AGAIN)
        return err;
    const char *at = (const char *)(hdr + 1);
    err = MRMA_SUCCESS;
    for (uint32_t i = 0; !err && i < hdr->count; i++) {
        const struct pkt_op *rec = (const struct pkt_op *)(const void *)at;
        const struct pkt_seg *seg = (const struct pkt_seg *)(rec + 1);
        const struct rma_op op = {.oaddr = seg + 1, .ocount = seg->len, .otype = &byte, .tcount = seg->len, .ttype = &byte};
        err = cma_put(t->peer, pt->win->rma->log, (pt->win->dynamic ? 0 : t->vaddr) + (uint64_t)seg->disp, &op);
        at = (const char *)(seg + 1) + pkt_align(seg->len);
    }
    return err;
}

/* Send the open packet with what rides on it; more: operations of this epoch
 * will follow. May wait. */
static int send_open(struct pkt_target *pt, uint8_t flags, bool more)
{
    int err = MRMA_SUCCESS;
    if (!may_send(pt)) {
        err = ask_open(pt);
        if (!err)
            err = wait_packet(pt, may_send, "the target to open its epoch");
    }
    if (err)
        return err;
    struct pkt_hdr *hdr = (struct pkt_hdr *)(void *)pt->buf;
    issue_header(pt, hdr);
    hdr->len = pt->used;
    hdr->flags = flags;
    hdr->count = pt->count;
    hdr->total = flags & PKT_F_FENCE ? pt->phase_bytes : 0;
    if (pt->lock == PKT_LOCK_DUE && hdr->epoch == PKT_EPOCH_LOCK) {
        hdr->flags |= lock_flag(pt);
        pt->lock = PKT_LOCK_SENT;
    }
    if (!opened(pt)) {
        pt->ahead = true;
        if (more && !pt->asked && hdr->epoch != PKT_EPOCH_PSCW && !(flags & PKT_F_FLUSH)) { /* an ack says it too */
            hdr->flags |= PKT_F_WANT_OPEN;
            pt->asked = true;
        }
    }
    if (flags & (PKT_F_FLUSH | PKT_F_UNLOCK))
        hdr->offset = ++pt->acks_due;
    pt->used = sizeof *hdr;
    pt->count = 0;
    return pt->target->direct ? send_ring(pt, hdr) : ch3_send_copy(&pt->target->peer->vc, hdr, hdr->len);
}

/* Make sure that the open packet has at least need bytes of room. May wait. */
static int make_room(struct pkt_target *pt, size_t need)
{
    int err = MRMA_SUCCESS;
    while (!err && PKT_MAX - pt->used < need) { /* while this thread waits, another may fill it again */
        err = send_open(pt, 0, true);
        if (!err)
            err = wait_packet(pt, queue_short, "room in the send queue");
    }
    return err;
}

static int append_records(struct pkt_target *pt, struct record_source *src)
{
    while (src->left) {
        int err = make_room(pt, record_min(src));
        if (err)
            return err;
        size_t len = record_build(src, pt->buf + pt->used, PKT_MAX - pt->used);
        pt->used += (uint32_t)len;
        pt->count++;
    }
    return MRMA_SUCCESS;
}

/* A long operation: what is open leaves first, then the operation packet by
 * packet from the user's buffer. */
static int stream_records(struct pkt_target *pt, const struct record_source *src, const struct rma_op *op)
{
    int err = MRMA_SUCCESS;
    if (pt->count || pt->lock == PKT_LOCK_DUE)
        err = send_open(pt, 0, true);
    if (!err)
        err = ask_open(pt);
    if (!err)
        err = wait_packet(pt, is_opened, "the target to open its epoch");
    return err ? err : origin_stream(pt, src, op);
}

static int append_cas(struct pkt_target *pt, const struct rma_op *op, int64_t offset, uint32_t request)
{
    int err = make_room(pt, sizeof(struct pkt_op) + sizeof(struct pkt_seg) + 64);
    if (err)
        return err;
    pt->used += (uint32_t)record_build_cas(pt->buf + pt->used, op, offset, request);
    pt->count++;
    return MRMA_SUCCESS;
}

/* Both sides count what belongs to the fence phase only: what follows the closing
 * fence's marker (a lock epoch) may be applied before the marker takes effect. */
static void count_phase(struct pkt_target *pt, size_t bytes)
{
    if (epoch_kind(pt) == PKT_EPOCH_FENCE)
        pt->phase_bytes += (uint32_t)bytes;
}

static int issue_locked(struct pkt_target *pt, enum pkt_op_kind kind, const struct rma_op *op)
{
    const int64_t offset = op->disp * (int64_t)pt->target->disp_unit;
    uint32_t request = 0;
    int err = MRMA_SUCCESS;
    touch(pt);
    pt->unacked = true;
    if (kind == PKT_OP_GET || kind == PKT_OP_GET_ACC || kind == PKT_OP_CAS)
        err = origin_request(pt, kind, op, &request);
    if (err)
        return err;
    if (kind == PKT_OP_CAS) {
        count_phase(pt, acc_extent(op->ttype->basic));
        err = append_cas(pt, op, offset, request);
        if (err)
            origin_request_cancel(pt->win, request, err);
        return err;
    }
    struct record_source src;
    record_source_init(&src, kind, op, offset, request);
    count_phase(pt, src.left);
    err = src.data && src.left > SMALL_OP ? stream_records(pt, &src, op) : append_records(pt, &src);
    if (err && request)
        origin_request_cancel(pt->win, request, err);
    return err;
}

int issue_op(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op)
{
    struct rma *r = w->rma;
    rma_enter(r);
    struct pkt_target *pt = pkt_target_get(w, t);
    int err = pt ? issue_locked(pt, kind, op) : MRMA_ERR_NO_MEM;
    if (!err && op->req && pt->count) /* nobody may ever synchronize: let it go now */
        err = send_open(pt, 0, true);
    rma_leave(r);
    return err;
}

bool issue_ring_put(struct win *w, struct rma_target *t, const void *data, uint64_t offset, size_t len)
{
    struct rma *r = w->rma;
    const size_t need = sizeof(struct pkt_op) + sizeof(struct pkt_seg) + pkt_align(len);
    bool sent = false;
    rma_enter(r);
    struct pkt_target *pt = pkt_target_get(w, t);
    if (pt && PKT_MAX - pt->used < need && !ch3_vc_busy(&t->peer->vc))
        (void)send_open(pt, 0, true);
    if (pt && PKT_MAX - pt->used >= need && !ch3_vc_busy(&t->peer->vc)) {
        struct pkt_op *rec = (struct pkt_op *)(void *)(pt->buf + pt->used);
        struct pkt_seg *seg = (struct pkt_seg *)(rec + 1);
        *rec = (struct pkt_op){.kind = PKT_OP_PUT, .nseg = 1, .data_len = (uint32_t)len};
        *seg = (struct pkt_seg){.disp = (int64_t)offset, .len = len};
        memcpy(seg + 1, data, len);
        pt->used += (uint32_t)need;
        pt->count++;
        touch(pt);
        if (w->epoch.state == EPOCH_FENCE_USED)
            atomic_store_explicit(&t->ctl->ring_phase, w->phase + 1, memory_order_relaxed); /* see fence.c */
        r->stats.ring_puts++;
        sent = true;
    }
    rma_leave(r);
    return sent;
}

int issue_post(struct win *w, struct rma_target *t)
{
    return target_send_simple(w, t, PKT_POST, ++t->posts_sent, 0, 0, 0);
}

/* Send what the touched direct targets (small puts) still have open. */
static int send_ring_puts(struct win *w)
{
    int err = MRMA_SUCCESS;
    LIST_EACH_SAFE(node, &w->touched) {
        struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
        if (!pt->target->direct)
            continue;
        if (!err && pt->count)
            err = send_open(pt, 0, false);
        list_remove(node);
    }
    return err;
}

static void forget_touched(struct win *w)
{
    while (list_pop_front(&w->touched))
        ;
}

int issue_fence(struct win *w)
{
    struct rma *r = w->rma;
    if (!w->npackets && list_empty(&w->touched))
        return MRMA_SUCCESS;
    rma_enter(r);
    w->fence_closing = true;
    int err = send_ring_puts(w);
    for (int i = 0; !err && w->npackets && i < w->nproc; i++) {
        struct rma_target *t = &w->targets[i];
        if (t->direct)
            continue;
        struct pkt_target *pt = pkt_target_get(w, t);
        if (!pt) {
            err = MRMA_ERR_NO_MEM;
            break;
        }
        err = send_open(pt, PKT_F_FENCE, false);
        pt->phase_bytes = 0;
        pt->unacked = false;
    }
    w->fence_closing = false;
    forget_touched(w);
    rma_leave(r);
    return err;
}

bool issue_all_left(const struct win *w)
{
    if (!ch3_unsent(w->rma->ch3))
        return true;
    for (int i = 0; i < w->nproc; i++)
        if (!w->targets[i].direct && ch3_vc_busy(&w->targets[i].peer->vc))
            return false;
    return true;
}

static bool nothing_outstanding(void *arg)
{
    struct win *w = arg;
    return w->replies == 0 && w->streams == 0 && issue_all_left(w);
}

static int wait_outstanding(struct win *w)
{
    if (!w->npackets)
        return MRMA_SUCCESS;
    return rma_wait_until(w, &(struct rma_wait){.done = nothing_outstanding, .arg = w, .locked = true,
                                                .what = "replies", .rank = -1});
}

int issue_complete(struct win *w)
{
    struct rma *r = w->rma;
    rma_enter(r);
    int err = send_ring_puts(w);
    for (int i = 0; !err && w->npackets && i < w->ngroup; i++) {
        struct rma_target *t = &w->targets[w->group[i]];
        if (t->direct)
            continue;
        struct pkt_target *pt = pkt_target_get(w, t);
        err = pt ? send_open(pt, PKT_F_COMPLETE, false) : MRMA_ERR_NO_MEM;
        if (pt)
            pt->unacked = false;
    }
    forget_touched(w);
    rma_leave(r);
    if (!err)
        err = wait_outstanding(w);
    rma_enter(w->rma);
    int reported = issue_take_error(w);
    rma_leave(w->rma);
    return err ? err : reported;
}

/* Asked for and not granted yet, or not even asked for. */
static bool lock_pending(const struct pkt_target *pt)
{
    return pt->lock == PKT_LOCK_DUE || pt->lock == PKT_LOCK_SENT;
}

static bool lock_settled(void *arg)
{
    const struct pkt_target *pt = arg;
    return !lock_pending(pt) || pt->win->packet_err;
}

int issue_lock_settle(struct win *w)
{
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    struct pkt_target *pt = w->lock_due;
    if (pt && pthread_equal(w->lock_due_by, pthread_self())) {
        w->lock_due = NULL;
        if (lock_pending(pt)) {
            touch(pt);
            err = ask_open(pt);
            if (!err)
                err = wait_packet(pt, lock_settled, "the window's lock");
        }
    }
    rma_leave(w->rma);
    return err;
}

int issue_lock_begin(struct win *w, struct rma_target *t)
{
    struct rma *r = w->rma;
    rma_enter(r);
    struct pkt_target *pt = pkt_target_get(w, t);
    int err = pt ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
    if (pt && t->lock != WIN_LOCK_NONE) {
        pt->asked = pt->ahead = false;
        pt->lock_seq++;
        pt->lock = t->lock == WIN_LOCK_NOCHECK ? PKT_LOCK_NONE : PKT_LOCK_DUE;
    }
    if (pt && pt->lock == PKT_LOCK_DUE) {
        struct pkt_target *due = w->lock_due;
        bool taken = due && due != pt && lock_pending(due); /* by another thread's lock */
        if (w->flavor == WIN_ALLOCATE_SHARED || taken) {
            touch(pt);
            err = ask_open(pt);
            if (!err)
                err = wait_packet(pt, is_opened, "the window's lock");
        } else {
            w->lock_due = pt;
            w->lock_due_by = pthread_self();
        }
    }
    rma_leave(r);
    return err;
}

struct flush_arg {
    struct win *w;
    struct pkt_target *pt; /* NULL: all touched */
    bool local;
};

static bool pkt_flushed(const struct pkt_target *pt, bool local)
{
    return pt->replies == 0 && pt->streams == 0 && (local || seq_reached(pt->acks_seen, pt->acks_due));
}

static bool flushed(void *arg)
{
    struct flush_arg *a = arg;
    if (a->pt)
        return pkt_flushed(a->pt, a->local);
    LIST_EACH(node, &a->w->touched)
        if (!pkt_flushed(LIST_ENTRY(node, struct pkt_target, touched), a->local))
            return false;
    return true;
}

/* Is a packet needed to flush (FLUSH), unlock (UNLOCK) or only to get the
 * answers that are waited for (0)? */
static bool must_send(const struct pkt_target *pt, uint8_t flag)
{
    if (flag == PKT_F_UNLOCK)
        return true;
    return flag == PKT_F_FLUSH ? pt->unacked : pt->count && pt->replies;
}

static int request_flush(struct pkt_target *pt, uint8_t flag)
{
    if (!must_send(pt, flag))
        return MRMA_SUCCESS;
    if (flag)
        pt->unacked = false;
    return send_open(pt, flag, flag != PKT_F_UNLOCK);
}

static int wait_flushed(struct win *w, struct pkt_target *pt, bool local)
{
    struct flush_arg arg = {w, pt, local};
    int err = rma_wait_until(w, &(struct rma_wait){.done = flushed, .arg = &arg, .locked = true,
                                                   .what = local ? "local completion" : "acknowledgements",
                                                   .rank = pt ? (int)(pt->target - w->targets) : -1});
    rma_enter(w->rma);
    int reported = issue_take_error(w);
    rma_leave(w->rma);
    return err ? err : reported;
}

int issue_flush(struct win *w, struct rma_target *t, bool local)
{
    struct rma *r = w->rma;
    const uint8_t flag = local ? 0 : PKT_F_FLUSH;
    int err = MRMA_SUCCESS;
    rma_enter(r);
    if (t && t->pkt) {
        err = request_flush(t->pkt, flag);
    } else if (!t) {
        LIST_EACH_SAFE(node, &w->touched) {
            struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
            if (!err)
                err = request_flush(pt, flag);
        }
    }
    rma_leave(r);
    if (err || (t && !t->pkt))
        return err;
    return wait_flushed(w, t ? t->pkt : NULL, local);
}

/* End of a lock epoch on one target. Without an operation there is no message:
 * the lock was never asked for. */
static int end_lock(struct pkt_target *pt)
{
    if (pt->lock == PKT_LOCK_DUE && !pt->count) {
        pt->lock = PKT_LOCK_NONE;
        return MRMA_SUCCESS;
    }
    return request_flush(pt, pt->lock == PKT_LOCK_NONE ? PKT_F_FLUSH : PKT_F_UNLOCK);
}

int issue_lock_end(struct win *w, struct rma_target *t)
{
    struct rma *r = w->rma;
    struct pkt_target *pt = t->pkt;
    rma_enter(r);
    int err = end_lock(pt);
    rma_leave(r);
    if (!err)
        err = wait_flushed(w, pt, false);
    rma_enter(r);
    pt->lock = PKT_LOCK_NONE;
    if (list_node_queued(&pt->touched))
        list_remove(&pt->touched);
    rma_leave(r);
    return err;
}

int issue_unlock_all(struct win *w)
{
    struct rma *r = w->rma;
    int err = MRMA_SUCCESS;
    rma_enter(r);
    LIST_EACH_SAFE(node, &w->touched) {
        struct pkt_target *pt = LIST_ENTRY(node, struct pkt_target, touched);
        if (!err)
            err = end_lock(pt);
    }
    rma_leave(r);
    if (!err)
        err = wait_flushed(w, NULL, false);
    rma_enter(r);
    LIST_EACH(node, &w->touched)
        LIST_ENTRY(node, struct pkt_target, touched)->lock = PKT_LOCK_NONE;
    forget_touched(w);
    rma_leave(r);
    return err;
}

static bool all_synced(void *arg)
{
    struct win *w = arg;
    return w->sync_arrived[w->sync_seq & 1] == (uint32_t)w->npackets && issue_all_left(w);
}

int issue_barrier(struct win *w)
{
    struct rma *r = w->rma;
    if (!w->npackets)
        return MRMA_SUCCESS;
    int err = MRMA_SUCCESS;
    rma_enter(r);
    for (int i = 0; !err && i < w->nproc; i++)
        if (!w->targets[i].direct)
            err = target_send_simple(w, &w->targets[i], PKT_SYNC, w->sync_seq, 0, 0, 0);
    rma_leave(r);
    if (!err)
        err = rma_wait_until(w, &(struct rma_wait){.done = all_synced, .arg = w, .locked = true,
                                                   .what = "all processes to free the window", .rank = -1});
    rma_enter(r);
    w->sync_arrived[w->sync_seq & 1] = 0;
    w->sync_seq++;
    rma_leave(r);
    return err;
}

int issue_take_error(struct win *w)
{
    int err = w->packet_err;
    w->packet_err = MRMA_SUCCESS;
    return err;
}

bool issue_got_post(struct rma_target *t, uint32_t seq)
{
    if (t->direct || seq != atomic_load_explicit(&t->in->posts, memory_order_relaxed) + 1)
        return false;
    atomic_store_explicit(&t->in->posts, seq, memory_order_release); /* pairs with opened */
    return true;
}

void issue_got_open(struct rma_target *t, uint32_t seq, bool lock)
{
    struct pkt_target *pt = t->pkt;
    if (!lock)
        pt->open_seq = seq + 1;
    else if (pt->lock_seq == seq && pt->lock == PKT_LOCK_SENT)
        pt->lock = PKT_LOCK_HELD;
}

bool issue_got_ack(struct rma_target *t, uint32_t seq)
{
    struct pkt_target *pt = t->pkt;
    if (!pt || pt->acks_seen == pt->acks_due || seq != pt->acks_seen + 1)
        return false;
    pt->acks_seen = seq;
    if (pt->lock == PKT_LOCK_SENT)
        pt->lock = PKT_LOCK_HELD; /* acknowledged, so it was granted */
    pt->win->rma->stats.acks++;
    return true;
}
