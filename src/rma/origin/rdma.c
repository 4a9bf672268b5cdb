/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma.c - see rdma.h.
 *
 * Order. The target takes no part in such an operation, so the operation may begin only when the
 * epoch is known to be open there. The end of the epoch must not let the target, or the next
 * origin, go on before the operation is done:
 *
 *   put, channel with RDMA_ORDERED   markers, completes and unlocks follow at once
 *   put, other channels                markers, completes and unlocks wait until the put is done
 *   get                                they wait until the get is done
 *   fence by counts                    waits for all puts, since counts travel through other
 *                                      processes
 *
 * A flush sends no packet for these operations: done says that the data is in place, or a get
 * behind the puts tells it (channel.h, CH3_CAP_RDMA_READ_BEHIND). The target does not see them, so
 * the bytes of a fence phase do not include them. Puts and gets of one epoch have no order among
 * each other (MPI 4.1, 12.7.2), so they may overtake packets.
 *
 * Ownership: a struct rdma_op is the channel's from its start to done. It points to its pair,
 * unless the pair has ended before (rdma_fail). Locks: the engine's.
 */
#include "rma/origin/rdma.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/await_open.h"
#include "rma/origin/fetch_request.h"
#include "rma/origin/issue.h"
#include "rma/origin/op_request.h"
#include "rma/origin/open_packet.h"
#include "rma/origin/pair_epoch.h"
#include "rma/origin/rdma_choice.h"
#include "rma/origin/region_keys.h"
#include "rma/progress/wait.h"
#include "rma/win/notify_words.h"
#include "rma/win/win.h"

struct rdma_op {
    struct ch3_rdma rdma;  /* first */
    struct list_node link; /* in pt->under_way */
    struct pkt_target *pt; /* NULL: has ended */
    struct rma_req *req;
    struct region_key *key;   /* key of a region in a dynamic window; NULL: the window's memory */
    bool holding;             /* the end of the epoch waits for it */
    bool injected;            /* its buffer is free already, so it counts as no stream and is not
                                 charged to req */
    unsigned char byte;       /* the place to which a get goes that only confirms puts */
    struct ch3_atomic atomic; /* rdma.atomic, if it is an atomic operation */
};

/* The start of an operation, while the channel has no room for it. */
struct start {
    struct rdma_op *n; /* the channel's, if done */
    struct pkt_target *pt;
    bool done;
    int err;
};

/* count adds by, which is 1 or -1, to what is outstanding. */
static void count(const struct rdma_op *n, uint32_t by)
{
    struct pkt_target *pt = n->pt;
    struct origin_win *all = &pt->win->origin_side;
    const uint32_t held = n->holding ? by : 0, stream = n->injected ? 0 : by;
    pt->rdma_ops += by;
    pt->streams += stream;
    pt->holding += held;
    pt->atomics += n->rdma.atomic ? by : 0;
    all->rdma_ops += by;
    all->streams += stream;
    all->holding += held;
}

/* end makes the operation no longer outstanding for those who wait. */
static void end(struct rdma_op *n, int err)
{
    struct win *w = n->pt->win;
    list_remove(&n->link);
    count(n, -1U);
    region_key_done(n->pt, n->key, err != MRMA_SUCCESS);
    if (err && !w->origin_side.err)
        w->origin_side.err = err;
    if (!n->injected)
        origin_discharge(n->req, err);
    n->pt = NULL;
}

static void done(struct ch3_rdma *rdma, int err)
{
    struct rdma_op *n = (struct rdma_op *)(void *)rdma;
    if (n->pt)
        end(n, err);
    free(n);
}

/* A condition to wait for: the operation has been started, or cannot be. */
static bool try_start(void *arg)
{
    struct start *s = arg;
    if (s->done)
        return true;
    s->err = ch3_rdma_start(&s->pt->target->peer->vc, &s->n->rdma);
    s->done = s->err != MRMA_AGAIN;
    return s->done;
}

/* begin makes the operation outstanding. */
static void begin(struct rdma_op *n)
{
    list_push_back(&n->pt->under_way, &n->link);
    count(n, 1);
    region_key_use(n->key);
    if (!n->injected)
        origin_charge(n->req);
}

/* give_up is called when the operation could not be started, with that error. */
static int give_up(struct rdma_op *n, struct pkt_target *pt, int err)
{
    if (n->pt)
        end(n, MRMA_SUCCESS);
    free(n);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(pt->win, pt->target) : err;
}

/* start is called with the lock and returns with it, and gives it up while there is no room. */
static int start(struct rdma_op *n)
{
    struct pkt_target *pt = n->pt;
    struct win *w = pt->win;
    struct start s = {.n = n, .pt = pt};
    int err = MRMA_SUCCESS;
    begin(n);
    if (!try_start(&s)) {
        w->origin_side.waits++;
        rma_leave(w->rma);
        err = origin_wait(w, try_start, &s, "room to start an operation of the network's",
                          pt->target->rank);
        rma_enter(w->rma);
    }
    if (!err)
        err = s.err;
    return err ? give_up(n, pt, err) : MRMA_SUCCESS;
}

/* ---- parts ---- */

/* Data that are moved in one part. */
struct part {
    bool put;
    char *local;
    uint64_t remote; /* offset from the beginning of the target's memory; for a region the
                        address */
    size_t len;
    struct rma_req *req;
    struct region_key *key;          /* key of the region; NULL: the window's memory */
    const struct ch3_atomic *atomic; /* NULL: a put or get */
    uint32_t word;                   /* word that the put carries; 0: none */
};

static struct rdma_op *new_op(struct pkt_target *pt, const struct part *p)
{
    const struct rma_target *t = pt->target;
    const struct ch3_mem_key *mem = p->key ? &p->key->mem : &t->net_key.mem;
    struct rdma_op *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    *n = (struct rdma_op){.rdma = {.put = p->put,
                                   .local = p->local,
                                   .len = p->len,
                                   .with_word = p->word != 0,
                                   .word = p->word,
                                   .key = mem->key,
                                   .remote = mem->base + p->remote,
                                   .done = done},
                          .pt = pt,
                          .req = p->req,
                          .key = p->key,
                          .holding = !p->put || !ch3_rdma_is_ordered(&t->peer->vc),
                          .injected = p->put && p->len <= ch3_rdma_limits(&t->peer->vc)->inject};
    if (p->atomic) {
        n->atomic = *p->atomic;
        n->rdma.atomic = &n->atomic;
    }
    return n;
}

static int no_memory(const struct pkt_target *pt)
{
    return log_fail(pt->win->rma->log, MRMA_ERR_NO_MEM, "no memory for a put or get to rank %d",
                    pt->target->rank);
}

static int issue_part(struct pkt_target *pt, const struct part *p)
{
    int err = pkt_make_stream_room(pt);
    struct rdma_op *n = err ? NULL : new_op(pt, p);
    if (!n)
        return err ? err : no_memory(pt);
    err = start(n);
    /* only now, since another thread may have confirmed other puts while this one waited */
    if (!err && p->put)
        pt->unread = ch3_rdma_needs_read(&pt->target->peer->vc);
    return err;
}

int rdma_issue_atomic(struct pkt_target *pt, const struct ch3_atomic *atomic, void *result,
                      uint64_t offset, size_t len, struct rma_req *req)
{
    const struct part p = {
        .local = result, .remote = offset, .len = len, .req = req, .atomic = atomic};
    return issue_part(pt, &p);
}

int rdma_confirm(struct pkt_target *pt)
{
    if (!pt->unread)
        return MRMA_SUCCESS;
    struct rdma_op *n = new_op(pt, &(struct part){.len = 1});
    if (!n)
        return no_memory(pt);
    n->rdma.local = &n->byte;
    n->rdma.behind = true;
    pt->unread = false;
    return start(n);
}

/* issue_stretch moves one stretch that is contiguous on both sides, in parts as long as the channel
 * takes them. */
static int issue_stretch(struct pkt_target *pt, struct part p)
{
    const size_t max = ch3_rdma_limits(&pt->target->peer->vc)->max;
    int err = MRMA_SUCCESS;
    for (size_t left = p.len; !err && left; p.local += p.len, p.remote += p.len, left -= p.len) {
        p.len = left < max ? left : max;
        err = issue_part(pt, &p);
    }
    return err;
}

/* ---- whole operations ---- */

/* A put or get: the user's side of it, and the target's. */
struct transfer {
    bool put;
    char *local;
    const struct dtype *type;
    size_t count;
    uint64_t offset;
    size_t len;
    uint32_t word; /* the notification, if its only put carries it; 0: none */
    const struct rma_op *op;
};

static struct transfer transfer_of(enum pkt_op_kind kind, const struct rma_op *op, int64_t offset,
                                   size_t len)
{
    const bool put = kind == PKT_OP_PUT;
    return (struct transfer){.put = put,
                             .local = put ? (char *)(uintptr_t)op->oaddr : op->raddr,
                             .type = put ? op->otype : op->rtype,
                             .count = put ? op->ocount : op->rcount,
                             .offset = (uint64_t)offset,
                             .len = len,
                             .op = op};
}

/* A walk over both sides at once. */
struct walk {
    struct dtype_cursor here, there;
    size_t left_here, left_there; /* bytes of the present pieces */
    ptrdiff_t at_here, at_there;
};

static void walk_init(struct walk *k, const struct transfer *x)
{
    dtype_cursor_init(&k->here, x->type, x->count, DTYPE_BYTES);
    dtype_cursor_init(&k->there, x->op->ttype, x->op->tcount, DTYPE_BYTES);
    k->left_here = k->left_there = 0;
    k->at_here = k->at_there = 0;
}

/* walk_next finds the next stretch that is contiguous on both sides. Returns its length, 0 at the
 * end. */
static size_t walk_next(struct walk *k, ptrdiff_t *here, ptrdiff_t *there)
{
    if (!k->left_here)
        k->left_here = dtype_cursor_next(&k->here, SIZE_MAX, &k->at_here);
    if (!k->left_there)
        k->left_there = dtype_cursor_next(&k->there, SIZE_MAX, &k->at_there);
    const size_t len = k->left_here < k->left_there ? k->left_here : k->left_there;
    *here = k->at_here;
    *there = k->at_there;
    k->left_here -= len;
    k->left_there -= len;
    k->at_here += (ptrdiff_t)len;
    k->at_there += (ptrdiff_t)len;
    return len;
}

/* count_stretches returns how many stretches the transfer has; if they are more than most, some
 * number above most. */
static size_t count_stretches(const struct transfer *x, size_t most)
{
    struct walk k;
    ptrdiff_t here, there;
    size_t n = 0;
    if (x->type->contig && x->op->ttype->contig)
        return 1;
    if (most <= 1)
        return 2;
    walk_init(&k, x);
    while (n <= most && walk_next(&k, &here, &there))
        n++;
    return n;
}

/* key is that of the region; NULL: the window's memory. Returns the errors of issue_rdma. */
static int issue_stretches(struct pkt_target *pt, const struct transfer *x, struct region_key *key)
{
    struct part p = {.put = x->put,
                     .local = x->local,
                     .remote = x->offset,
                     .len = x->len,
                     .req = x->op->req,
                     .key = key,
                     .word = x->word};
    struct walk k;
    ptrdiff_t here, there;
    int err = MRMA_SUCCESS;
    if (x->type->contig && x->op->ttype->contig)
        return issue_stretch(pt, p);
    walk_init(&k, x);
    while (!err && (p.len = walk_next(&k, &here, &there)) != 0) {
        p.local = x->local + here;
        p.remote = x->offset + (uint64_t)there;
        err = issue_stretch(pt, p);
    }
    return err;
}

int rdma_open(struct pkt_target *pt, const struct rma_req *req)
{
    pkt_target_touch(pt);
    const int err = pkt_await_unlocked(pt);
    pt->needs_open = true;
    if (err || pkt_epoch_is_open(pt))
        return err;
    return pkt_may_defer(pt, req) ? pkt_open_soon(pt) : pkt_await_open(pt);
}

/* span_of returns the target's side from its first byte to its last, in a dynamic window;
 * operations.c has checked before that there is a byte. */
static struct span span_of(const struct transfer *x)
{
    ptrdiff_t lo = 0, hi = 0;
    (void)dtype_span(x->op->ttype, x->op->tcount, &lo, &hi);
    return (struct span){x->offset + (uint64_t)lo, (uint64_t)(hi - lo)};
}

/* reaches returns whether the channel reaches all of the target's side. *key is set to the key to
 * use, NULL for the window's memory. In a dynamic window one region must have all of it, and that
 * region's key must be known. */
static bool reaches(const struct pkt_target *pt, const struct transfer *x, struct region_key **key)
{
    *key = NULL;
    if (likely(!pt->win->dynamic))
        return true;
    const struct span span = span_of(x);
    *key = region_key_at(pt, span.addr, span.len);
    return *key && (*key)->registered;
}

/* word_of returns the word with which the operation notifies the target; 0: there is none, and a
 * packet notifies. */
static uint32_t word_of(const struct pkt_target *pt, const struct rma_op *op)
{
    const bool takes = op->notify && ch3_rdma_takes_word(&pt->target->peer->vc);
    return takes ? notify_word_to(pt->win, pt->target, op->notify) : 0;
}

/* goes_by_packet returns whether the transfer goes by packet, and sets x->word. *ask is set if it
 * does so only because the key of the target's region is not known. */
static bool goes_by_packet(const struct pkt_target *pt, struct transfer *x,
                           const struct rdma_thresholds *th, bool *ask)
{
    const uint32_t word = word_of(pt, x->op);
    const struct ch3_rdma_limits *limits = ch3_rdma_limits(&pt->target->peer->vc);
    struct rdma_facts facts = {.len = x->len,
                               .segments = count_stretches(x, th->segments),
                               .put = x->put,
                               .notifies = word != 0,
                               .passive = epoch_is_passive(&pt->win->epoch),
                               .open = pkt_epoch_is_open(pt),
                               .packed = pt->packed};
    struct region_key *key;
    const bool reached = reaches(pt, x, &key);
    /* A region is asked for before the epoch is open, so that the next operations find it. */
    facts.open |= !reached;
    const enum rdma_way way = rdma_choose(&facts, limits, th);
    x->word = rdma_takes_word(way, &facts, limits, th) ? word : 0;
    *ask = !reached && way != RDMA_PACKET;
    return way == RDMA_PACKET || !reached;
}

/* issue_open is called when the epoch has begun at the target. While this process waited for that,
 * the target may have taken the region back; from here on it cannot do so before the operation has
 * ended. */
static int issue_open(struct pkt_target *pt, const struct transfer *x)
{
    struct region_key *key;
    if (!reaches(pt, x, &key))
        return MRMA_ERR_NO_MEM;
    region_key_use(key);
    const int err = issue_stretches(pt, x, key);
    region_key_done(pt, key, false);
    return err;
}

/* The operation counts as one of the pair's streams until it is done. MRMA_ERR_NO_MEM: it is not
 * under way, or not all of it, and packets may do it. */
static int issue(struct win *w, struct rma_target *t, struct transfer *x,
                 const struct rdma_thresholds *th)
{
    rma_enter(w->rma);
    struct pkt_target *pt = pkt_target_get(w, t);
    bool ask = false;
    const bool by_packet = pt && goes_by_packet(pt, x, th, &ask);
    if (ask)
        region_key_ask(pt, span_of(x).addr);
    int err = MRMA_ERR_NO_MEM;
    if (by_packet)
        pt->packed += x->len; /* this counts in active target epochs */
    else if (pt)
        err = rdma_open(pt, x->op->req);
    if (pt && !err && !by_packet)
        err = issue_open(pt, x);
    if (err && err != MRMA_AGAIN && err != MRMA_ERR_NO_MEM && x->op->req)
        err = origin_abandon(pt, x->op->req, err);
    rma_leave(w->rma);
    return err;
}

/* issue_one_part starts a transfer that is one part, if the channel has room for it. MRMA_AGAIN: it
 * has none; MRMA_ERR_NO_MEM: the transfer is several parts, some of which might have to wait, and
 * packets have to do it. In both cases nothing was done. */
static int issue_one_part(struct pkt_target *pt, const struct transfer *x)
{
    const struct part p = {.put = x->put, .local = x->local, .remote = x->offset, .len = x->len};
    const bool one = x->type->contig && x->op->ttype->contig;
    if (!one || x->len > ch3_rdma_limits(&pt->target->peer->vc)->max)
        return MRMA_ERR_NO_MEM;
    struct rdma_op *n = new_op(pt, &p);
    if (!n)
        return MRMA_ERR_NO_MEM;
    begin(n);
    const int err = ch3_rdma_start(&pt->target->peer->vc, &n->rdma);
    if (err)
        return give_up(n, pt, err);
    if (x->put)
        pt->unread = ch3_rdma_needs_read(&pt->target->peer->vc);
    return MRMA_SUCCESS;
}

int rdma_issue_deferred(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                        const struct rma_op *op, int64_t offset, size_t len)
{
    const struct rdma_thresholds th =
        rdma_thresholds(ch3_rdma_limits(&t->peer->vc)->by, w->rma->conf);
    struct transfer x = transfer_of(kind, op, offset, len);
    struct pkt_target *pt = t->pkt;
    bool ask;
    if (!pt || !pkt_make_ready_now(pt))
        return MRMA_AGAIN;
    if (len < rdma_least(&th))
        return MRMA_ERR_NO_MEM;
    if (goes_by_packet(pt, &x, &th, &ask)) {
        pt->packed += len;
        return MRMA_ERR_NO_MEM;
    }
    pkt_target_touch(pt);
    return issue_one_part(pt, &x);
}

int rdma_notify_behind(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    struct rma_op only = *op;
    only.oaddr = NULL;
    only.otype = only.ttype; /* a get has none */
    only.ocount = only.tcount = 0;
    const int err = rdma_await(w, t->pkt, false);
    return err ? err : issue_operate(w, t, PKT_OP_PUT, &only, 0, 0);
}

int rdma_move(struct win *w, struct rma_target *t, enum pkt_op_kind kind, const struct rma_op *op,
              int64_t offset, size_t len)
{
    const struct rdma_thresholds th =
        rdma_thresholds(ch3_rdma_limits(&t->peer->vc)->by, w->rma->conf);
    if (len < rdma_least(&th))
        return issue_operate(w, t, kind, op, offset, len);
    struct transfer x = transfer_of(kind, op, offset, len);
    const int err = issue(w, t, &x, &th);
    if (!err && x.word)
        win_count_notified(w);
    else if (!err && op->notify)
        return rdma_notify_behind(w, t, op);
    /* The channel may be unable to reach this process's own memory, which packets can. */
    return err == MRMA_ERR_NO_MEM ? issue_operate(w, t, kind, op, offset, len) : err;
}

bool rdma_takes_at_once(const struct win *w, const struct rma_target *t, size_t len)
{
    const struct ch3_rdma_limits *limits = ch3_rdma_limits(&t->peer->vc);
    const struct rdma_thresholds th = rdma_thresholds(limits->by, w->rma->conf);
    return len <= limits->inject || len < rdma_least(&th);
}

/* ---- ends of epochs ---- */

struct ending {
    const struct win *w;
    const struct pkt_target *pt;
    bool delivered;
};

static bool has_ended(void *arg)
{
    const struct ending *s = arg;
    if (s->pt)
        return !(s->delivered ? s->pt->rdma_ops : s->pt->holding);
    return !(s->delivered ? s->w->origin_side.rdma_ops : s->w->origin_side.holding);
}

int rdma_await(struct win *w, const struct pkt_target *pt, bool delivered)
{
    const int rank = pt ? pt->target->rank : -1;
    struct ending s = {w, pt, delivered};
    rma_enter(w->rma);
    const bool already = has_ended(&s);
    rma_leave(w->rma);
    return already ? MRMA_SUCCESS : origin_wait(w, has_ended, &s, "puts and gets to end", rank);
}

void rdma_fail(struct pkt_target *pt, int err)
{
    LIST_EACH_SAFE (it, &pt->under_way)
        end(LIST_ENTRY(it, struct rdma_op, link), err);
}
