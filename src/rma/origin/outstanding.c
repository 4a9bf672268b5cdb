/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outstanding.c - see outstanding.h. A flush sends one request to each target with something
 * outstanding, all targets at once, then awaits all acknowledgements.
 */
#include "rma/origin/outstanding.h"

#include "base/err.h"
#include "rma/origin/origin_impl.h"
#include "rma/origin/rdma_op.h"
#include "rma/progress/wait.h"
#include "rma/win/win.h"

bool origin_requests_due(const struct win *w)
{
    return w->origin_side.replies || w->origin_side.streams;
}

bool origin_nothing_due(const struct win *w)
{
    return !origin_requests_due(w) && origin_all_left(w);
}

/* ---- flush ---- */

struct flush_arg {
    struct win *w;
    struct origin_pair *pair; /* NULL: all touched */
    enum origin_until until;
};

bool origin_unlocks_weakly(const struct origin_pair *pair)
{
    return pair->win->hints.weak_unlock && !pair->target->ctl;
}

static bool pair_flushed(const struct origin_pair *pair, enum origin_until until)
{
    const bool weak = until == ORIGIN_EPOCH_END && origin_unlocks_weakly(pair);
    if (pair->replies || pair->streams)
        return false;
    if (weak)
        return origin_all_left(pair->win);
    return until == ORIGIN_LOCALLY ||
           (!pair->rdma_ops && seq_reached(pair->acks_seen, pair->acks_due));
}

bool origin_all_done(const struct rma_target *t)
{
    const struct origin_pair *pair = t->pair;
    return !pair || (!pair->count && !origin_is_unflushed(pair) && !pair->unread &&
                     pair_flushed(pair, ORIGIN_REMOTELY));
}

static bool flushed(void *arg)
{
    struct flush_arg *a = arg;
    if (a->pair)
        return pair_flushed(a->pair, a->until);
    const bool some = epoch_now(&a->w->epoch) == EPOCH_LOCK; /* targets, of which no past epochs */
    LIST_EACH (node, &a->w->origin_side.touched) {
        const struct origin_pair *pair = LIST_ENTRY(node, struct origin_pair, touched);
        if (!(some && pair->unlocking) && !pair_flushed(pair, a->until))
            return false;
    }
    return true;
}

int origin_request_flush(struct origin_pair *pair, uint8_t flag)
{
    int err = MRMA_SUCCESS;
    if (flag == PKT_F_FLUSH) {
        err = origin_rdma_confirm(pair);
        if (!origin_is_unflushed(pair))
            flag = 0;
    }
    if (err || (!flag && !pair->count))
        return err;
    return origin_send_open(pair, flag, flag != PKT_F_UNLOCK);
}

int origin_await_flushed(struct win *w, struct origin_pair *pair, enum origin_until until)
{
    struct flush_arg arg = {w, pair, until};
    const char *what = until == ORIGIN_LOCALLY ? "local completion" : "acknowledgements";
    const int err = origin_wait(w, flushed, &arg, what, pair ? pair->target->rank : -1);
    const int reported = win_take_error(w);
    return err ? err : reported;
}

int origin_await_unlocked(struct win *w)
{
    struct flush_arg arg = {w, NULL, ORIGIN_REMOTELY};
    return w->hints.weak_unlock ? origin_wait(w, flushed, &arg, "its unlocks", -1) : MRMA_SUCCESS;
}

/* for_touched calls send(pair, flag) for all targets that the epoch has used. After each wait the
 * walk begins again, since other threads may have locked and unlocked. */
static int for_touched(struct win *w, int (*send)(struct origin_pair *pair, uint8_t flag),
                       uint8_t flag)
{
    struct list_node *node = list_first(&w->origin_side.touched);
    while (node) {
        const uint32_t waits = w->origin_side.waits;
        const int err = send(LIST_ENTRY(node, struct origin_pair, touched), flag);
        if (err)
            return err;
        node = w->origin_side.waits == waits ? list_next(&w->origin_side.touched, node)
                                             : list_first(&w->origin_side.touched);
    }
    return MRMA_SUCCESS;
}

static int confirm_puts(struct origin_pair *pair, uint8_t unused)
{
    (void)unused;
    return origin_rdma_confirm(pair);
}

int origin_confirm_puts(struct win *w)
{
    return for_touched(w, confirm_puts, 0);
}

int origin_flush(struct win *w, struct rma_target *t, bool local)
{
    const uint8_t flag = local ? 0 : PKT_F_FLUSH;
    struct origin_pair *pair = t ? t->pair : NULL;
    if (t && !pair)
        return MRMA_SUCCESS;
    rma_enter(w->rma);
    const int err =
        pair ? origin_request_flush(pair, flag) : for_touched(w, origin_request_flush, flag);
    rma_leave(w->rma);
    return err ? err : origin_await_flushed(w, pair, local ? ORIGIN_LOCALLY : ORIGIN_REMOTELY);
}

/* find_open returns a pair with something in its open packet; NULL: there is none. */
static struct origin_pair *find_open(struct win *w)
{
    LIST_EACH_SAFE (node, &w->origin_side.touched) {
        struct origin_pair *pair = LIST_ENTRY(node, struct origin_pair, touched);
        if (pair->count)
            return pair;
    }
    return NULL;
}

int origin_push(struct win *w)
{
    struct origin_pair *pair;
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    while (!err && (pair = find_open(w)) != NULL)
        err = origin_send_open(pair, 0, true);
    rma_leave(w->rma);
    return err;
}

/* ---- the window's end ---- */

static bool all_confirmed(void *arg)
{
    const struct win *w = arg;
    return w->origin_side.unconfirmed == 0;
}

/* ask_confirm sends a flush: operations whose epoch has ended without an acknowledgement (fence,
 * complete) may have been refused, and the error may still be on its way. */
static int ask_confirm(struct win *w, struct rma_target *t)
{
    struct origin_pair *pair = t->pair;
    if (!pair || !pair->unconfirmed)
        return MRMA_SUCCESS;
    struct pkt_hdr hdr = origin_ops_header(pair);
    hdr.epoch = PKT_EPOCH_NOCHECK;
    /* the number of a lock would be taken for that of a fence to wait for */
    hdr.seq = w->phase;
    hdr.flags = PKT_F_FLUSH;
    hdr.offset = ++pair->acks_due;
    w->origin_side.unconfirmed++;
    return origin_send(pair, &hdr);
}

int origin_confirm(struct win *w)
{
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    w->origin_side.unconfirmed = 0;
    for (int i = 0; !err && i < w->nlocal; i++)
        err = ask_confirm(w, &w->local[i]);
    LIST_EACH (node, &w->remote)
        if (!err)
            err = ask_confirm(w, LIST_ENTRY(node, struct rma_target, remote_link));
    const bool wait = w->origin_side.unconfirmed;
    rma_leave(w->rma);
    return err || !wait ? err : origin_wait(w, all_confirmed, w, "the last acknowledgements", -1);
}
