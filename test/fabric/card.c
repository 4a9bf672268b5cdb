/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * card.c - what becomes of an operation: when it leaves, what overtakes it, how it ends.
 *
 *   submitted --> sent  --has left, or is answered-----------------> over
 *                 sent  --its target has gone--> doomed  --lost_ms-> over, with an error
 *
 * Some are marked as late, and held by the card of their target (target.c), while later messages
 * pass, as far as the profile's promises allow: writes where there is no FI_ORDER_SAW, sends where
 * there is no FI_ORDER_SAS. A send is over when the kernel has taken
 * its frame, unless FI_DELIVERY_COMPLETE was asked for; all others when their target has answered.
 *
 * Locks: the domain's; the thread takes it for each step. Neighbours: call.c, which submits;
 * wire.c, which carries; queue.c, which tells.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "test/fabric/objects.h"

enum { FDS = 128, BUSY_MS = 1, PATIENT_MS = 50 };

void op_free(struct op *op)
{
    for (size_t i = 0; i < op->n; i++)
        if (op->desc[i])
            op->desc[i]->users--;
    if (list_node_queued(&op->node))
        list_remove(&op->node);
    free(op);
}

/* ---- the end of an operation ---- */

/* Of what was injected nobody can say which one it was. */
static void tell_error(struct op *op, int err)
{
    const struct fi_cq_err_entry told = {.op_context = op->silent ? NULL : op->context,
                                         .flags = op->silent ? 0 : op->flags,
                                         .err = err};
    COUNT(lost);
    if (!op->silent || rules->lost_inject == LOST_NAMELESS)
        queue_add(op->ep->cq, op->silent ? NULL : op->ep, &told, 0);
}

void card_over(struct op *op, int err)
{
    const struct fi_cq_err_entry told = {.op_context = op->context, .flags = op->flags};
    op->ep->ntx--;
    if (err)
        tell_error(op, err);
    else if (!op->silent)
        queue_add(op->ep->cq, op->ep, &told, rules->delay_us);
    op_free(op);
}

static void take_result(struct op *op, const char *data, size_t len)
{
    if (op->kind == OP_FETCH || op->kind == OP_SWAP)
        memcpy(op->result, data, len);
    for (size_t i = 0; op->kind == OP_READ && i < op->n; i++) {
        memcpy(op->iov[i].iov_base, data, op->iov[i].iov_len);
        data += op->iov[i].iov_len;
    }
}

void card_answered(struct endpoint *ep, uint64_t id, int err, const void *data, size_t len)
{
    LIST_EACH (it, &ep->ops) {
        struct op *op = LIST_ENTRY(it, struct op, node);
        if ((uint64_t)(uintptr_t)op != id || op->kind == OP_RECV)
            continue;
        if (!err && len)
            take_result(op, data, len);
        card_over(op, err);
        return;
    }
}

void card_doom(struct op *op)
{
    op->doomed = true;
    op->wire = NULL;
    op->due = now_ns() + rules->lost_ms * UINT64_C(1000000);
}

/* ---- its beginning ---- */

unsigned card_lateness(struct domain *d, const struct op *op)
{
    if (op->kind == OP_SEND) { /* the first one always, others now and then */
        const bool late = !op->ep->has_sent || domain_random(d, 3) == 0;
        op->ep->has_sent = true;
        return late ? rules->late_sends : 0;
    }
    if (op->kind == OP_WRITE)
        return rules->late_writes;
    const bool atomic = op->kind == OP_ATOMIC || op->kind == OP_FETCH || op->kind == OP_SWAP;
    return atomic && rules->late_atomics && domain_random(d, 2) == 0;
}

int card_submit(struct op *op)
{
    struct endpoint *ep = op->ep;
    if (ep->ntx >= rules->tx_size)
        return -FI_EAGAIN;
    list_push_back(&ep->ops, &op->node);
    ep->ntx++;
    ep->owed += !op->silent;
    wire_send(op);
    return 0;
}

/* ---- what goes on by itself ---- */

static void step_endpoint(struct endpoint *ep)
{
    wire_step(ep);
    target_step(ep);
    const uint64_t now = now_ns();
    LIST_EACH_SAFE (it, &ep->ops) {
        struct op *op = LIST_ENTRY(it, struct op, node);
        if (op->doomed && op->due <= now)
            card_over(op, FI_EIO);
    }
}

void card_step(struct domain *d)
{
    LIST_EACH (it, &d->endpoints) {
        struct endpoint *ep = LIST_ENTRY(it, struct endpoint, node);
        if (ep->enabled)
            step_endpoint(ep);
    }
}

/*
 * ---- the thread ----
 *
 * It sleeps on the descriptors that there are, for as long as nothing is due. A call of the user
 * takes in what has come as well, and then the descriptors tell the thread nothing of that: where
 * the call leaves something that is due before the thread looks again, or a descriptor that the
 * thread does not watch, the call wakes the thread.
 */

/* For how many ms it may sleep; -1: for any time. now is that of queue_ring: what becomes due
 * between two looks at the clock would neither be told nor be waited for. */
static int patience(const struct domain *d, uint64_t now)
{
    bool soon = queue_tells_later(d->queue, now), later = false;
    LIST_EACH (it, &d->endpoints) {
        const struct endpoint *ep = LIST_ENTRY(it, struct endpoint, node);
        soon |= !list_empty(&ep->held);
        later |= ep->ntx > 0;
    }
    return soon ? BUSY_MS : later ? PATIENT_MS : -1;
}

/* What it sleeps on, behind the kick. */
static nfds_t all_fds(struct domain *d, struct pollfd *fds)
{
    nfds_t n = 0;
    LIST_EACH (it, &d->endpoints) {
        const struct endpoint *ep = LIST_ENTRY(it, struct endpoint, node);
        if (ep->enabled && n < FDS)
            fds[n++] = (struct pollfd){.fd = ep->listener, .events = POLLIN};
        LIST_EACH (wire, &ep->wires) {
            const struct wire *w = LIST_ENTRY(wire, struct wire, node);
            const short out = list_empty(&w->out) ? 0 : POLLOUT;
            if (n < FDS)
                fds[n++] = (struct pollfd){.fd = w->fd, .events = (short)(POLLIN | out)};
        }
    }
    return n;
}

static void *card_main(void *arg)
{
    struct domain *d = arg;
    struct pollfd fds[FDS + 1] = {{.fd = d->kick, .events = POLLIN}};
    uint64_t n;
    for (;;) {
        pthread_mutex_lock(&d->lock);
        card_step(d);
        const uint64_t now = now_ns();
        queue_ring(d->queue, now);
        const int ms = d->sleeps_ms = patience(d, now);
        const nfds_t count = all_fds(d, fds + 1);
        d->unwatched = false;
        const bool ends = d->ending;
        pthread_mutex_unlock(&d->lock);
        if (ends)
            return NULL;
        if (poll(fds, count + 1, ms) > 0 && fds[0].revents)
            (void)!read(d->kick, &n, sizeof n);
    }
}

void card_kick(struct domain *d)
{
    const uint64_t one = 1;
    if (d->kick >= 0)
        (void)!write(d->kick, &one, sizeof one);
}

/* As unsigned numbers, since -1 is the longest time. */
static bool is_sooner(int ms, int other)
{
    return (unsigned)ms < (unsigned)other;
}

void card_wake_in_time(struct domain *d)
{
    if (!d->threaded)
        return;
    const uint64_t now = now_ns();
    if (d->queue->news)
        queue_ring(d->queue, now);
    if (!d->unwatched && !is_sooner(patience(d, now), d->sleeps_ms))
        return;
    d->unwatched = false;
    d->sleeps_ms = 0;
    card_kick(d);
}

int card_start(struct domain *d)
{
    if (!rules->offload)
        return 0;
    d->kick = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (d->kick < 0 || pthread_create(&d->thread, NULL, card_main, d))
        return -FI_ENOMEM;
    d->threaded = true;
    return 0;
}

void card_stop(struct domain *d)
{
    if (!d->threaded)
        return;
    pthread_mutex_lock(&d->lock);
    d->ending = true;
    pthread_mutex_unlock(&d->lock);
    card_kick(d);
    pthread_join(d->thread, NULL);
    d->threaded = false;
    close(d->kick);
    d->kick = -1;
}
