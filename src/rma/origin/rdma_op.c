/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma_op.c - see rdma_op.h.
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
 * Ownership: a struct origin_rdma_op is the channel's from its start to done. It points to its
 * pair, unless the pair has ended before (origin_rdma_fail). Locks: the engine's.
 */
#include "rma/origin/rdma_op.h"

#include <stdlib.h>

#include "base/err.h"
#include "rma/origin/origin_impl.h"
#include "rma/origin/region_keys.h"
#include "rma/progress/wait.h"
#include "rma/win/win.h"

struct origin_rdma_op {
    struct ch3_rdma rdma;     /* first */
    struct list_node link;    /* in pair->under_way */
    struct origin_pair *pair; /* NULL: has ended */
    struct rma_req *req;
    struct origin_key *key;   /* key of a region in a dynamic window; NULL: the window's memory */
    bool holding;             /* the end of the epoch waits for it */
    bool injected;            /* its buffer is free already, so it counts as no stream and is not
                                 charged to req */
    unsigned char byte;       /* the place to which a get goes that only confirms puts */
    struct ch3_atomic atomic; /* rdma.atomic, if it is an atomic operation */
};

/* The start of an operation, while the channel has no room for it. */
struct start {
    struct origin_rdma_op *n; /* the channel's, if done */
    struct origin_pair *pair;
    bool done;
    int err;
};

/* count adds by, which is 1 or -1, to what is outstanding. */
static void count(const struct origin_rdma_op *n, uint32_t by)
{
    struct origin_pair *pair = n->pair;
    struct origin_win *all = &pair->win->origin_side;
    const uint32_t held = n->holding ? by : 0, stream = n->injected ? 0 : by;
    pair->rdma_ops += by;
    pair->streams += stream;
    pair->holding += held;
    pair->atomics += n->rdma.atomic ? by : 0;
    all->rdma_ops += by;
    all->streams += stream;
    all->holding += held;
}

/* end makes the operation no longer outstanding for those who wait. */
static void end(struct origin_rdma_op *n, int err)
{
    struct win *w = n->pair->win;
    list_remove(&n->link);
    count(n, -1U);
    origin_key_done(n->pair, n->key, err != MRMA_SUCCESS);
    if (err && !w->origin_side.err)
        w->origin_side.err = err;
    if (!n->injected)
        origin_discharge(n->req, err);
    n->pair = NULL;
}

static void done(struct ch3_rdma *rdma, int err)
{
    struct origin_rdma_op *n = (struct origin_rdma_op *)(void *)rdma;
    if (n->pair)
        end(n, err);
    free(n);
}

/* A condition to wait for: the operation has been started, or cannot be. */
static bool try_start(void *arg)
{
    struct start *s = arg;
    if (s->done)
        return true;
    s->err = ch3_rdma_start(&s->pair->target->peer->vc, &s->n->rdma);
    s->done = s->err != MRMA_AGAIN;
    return s->done;
}

/* begin makes the operation outstanding. */
static void begin(struct origin_rdma_op *n)
{
    list_push_back(&n->pair->under_way, &n->link);
    count(n, 1);
    origin_key_use(n->key);
    if (!n->injected)
        origin_charge(n->req);
}

/* give_up is called when the operation could not be started, with that error. */
static int give_up(struct origin_rdma_op *n, struct origin_pair *pair, int err)
{
    if (n->pair)
        end(n, MRMA_SUCCESS);
    free(n);
    return err == MRMA_ERR_PROC_FAILED ? rma_lost(pair->win, pair->target) : err;
}

/* start is called with the lock and returns with it, and gives it up while there is no room. */
static int start(struct origin_rdma_op *n)
{
    struct origin_pair *pair = n->pair;
    struct win *w = pair->win;
    struct start s = {.n = n, .pair = pair};
    int err = MRMA_SUCCESS;
    begin(n);
    if (!try_start(&s)) {
        w->origin_side.waits++;
        rma_leave(w->rma);
        err = origin_wait(w, try_start, &s, "room to start an operation of the network's",
                          pair->target->rank);
        rma_enter(w->rma);
    }
    if (!err)
        err = s.err;
    return err ? give_up(n, pair, err) : MRMA_SUCCESS;
}

/* ---- parts ---- */

static struct origin_rdma_op *new_op(struct origin_pair *pair, const struct origin_rdma_part *p)
{
    const struct rma_target *t = pair->target;
    const struct ch3_mem_key *mem = p->key ? &p->key->mem : &t->net_key.mem;
    struct origin_rdma_op *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    *n = (struct origin_rdma_op){.rdma = {.put = p->put,
                                          .local = p->local,
                                          .len = p->len,
                                          .with_word = p->word != 0,
                                          .word = p->word,
                                          .key = mem->key,
                                          .remote = mem->base + p->remote,
                                          .done = done},
                                 .pair = pair,
                                 .req = p->req,
                                 .key = p->key,
                                 .holding = !p->put || !ch3_rdma_is_ordered(&t->peer->vc),
                                 .injected =
                                     p->put && p->len <= ch3_rdma_limits(&t->peer->vc)->inject};
    if (p->atomic) {
        n->atomic = *p->atomic;
        n->rdma.atomic = &n->atomic;
    }
    return n;
}

static int no_memory(const struct origin_pair *pair)
{
    return log_fail(pair->win->rma->log, MRMA_ERR_NO_MEM, "no memory for a put or get to rank %d",
                    pair->target->rank);
}

int origin_rdma_start(struct origin_pair *pair, const struct origin_rdma_part *p)
{
    int err = origin_make_stream_room(pair);
    struct origin_rdma_op *n = err ? NULL : new_op(pair, p);
    if (!n)
        return err ? err : no_memory(pair);
    err = start(n);
    /* only now, since another thread may have confirmed other puts while this one waited */
    if (!err && p->put)
        pair->unread = ch3_rdma_needs_read(&pair->target->peer->vc);
    return err;
}

int origin_rdma_atomic(struct origin_pair *pair, const struct ch3_atomic *atomic, void *result,
                       uint64_t offset, size_t len, struct rma_req *req)
{
    const struct origin_rdma_part p = {
        .local = result, .remote = offset, .len = len, .req = req, .atomic = atomic};
    return origin_rdma_start(pair, &p);
}

int origin_rdma_confirm(struct origin_pair *pair)
{
    if (!pair->unread)
        return MRMA_SUCCESS;
    struct origin_rdma_op *n = new_op(pair, &(struct origin_rdma_part){.len = 1});
    if (!n)
        return no_memory(pair);
    n->rdma.local = &n->byte;
    n->rdma.behind = true;
    pair->unread = false;
    return start(n);
}

int origin_rdma_start_at_once(struct origin_pair *pair, const struct origin_rdma_part *p)
{
    struct origin_rdma_op *n = new_op(pair, p);
    if (!n)
        return MRMA_ERR_NO_MEM;
    begin(n);
    const int err = ch3_rdma_start(&pair->target->peer->vc, &n->rdma);
    if (err)
        return give_up(n, pair, err);
    if (p->put)
        pair->unread = ch3_rdma_needs_read(&pair->target->peer->vc);
    return MRMA_SUCCESS;
}

/* ---- ends of epochs ---- */

struct ending {
    const struct win *w;
    const struct origin_pair *pair;
    bool delivered;
};

static bool has_ended(void *arg)
{
    const struct ending *s = arg;
    if (s->pair)
        return !(s->delivered ? s->pair->rdma_ops : s->pair->holding);
    return !(s->delivered ? s->w->origin_side.rdma_ops : s->w->origin_side.holding);
}

int origin_rdma_await(struct win *w, const struct origin_pair *pair, bool delivered)
{
    const int rank = pair ? pair->target->rank : -1;
    struct ending s = {w, pair, delivered};
    rma_enter(w->rma);
    const bool already = has_ended(&s);
    rma_leave(w->rma);
    return already ? MRMA_SUCCESS : origin_wait(w, has_ended, &s, "puts and gets to end", rank);
}

void origin_rdma_fail(struct origin_pair *pair, int err)
{
    LIST_EACH_SAFE (it, &pair->under_way)
        end(LIST_ENTRY(it, struct origin_rdma_op, link), err);
}
