/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.c - the completion queue: what is told, when, and the descriptor that says so.
 *
 * Entries are told in the order in which they were added, but those that are delayed: others pass
 * them. The descriptor stays readable until trywait has found nothing to tell.
 *
 * Locks: the domain's. Neighbours: card.c, which adds; provider.c, whose trywait ends here.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "test/fabric/objects.h"

static struct entry *entry_due(struct queue *cq, uint64_t now)
{
    LIST_EACH (it, &cq->entries) {
        struct entry *e = LIST_ENTRY(it, struct entry, node);
        if (e->due <= now)
            return e;
    }
    return NULL;
}

static struct entry *next_entry(struct queue *cq)
{
    return entry_due(cq, now_ns());
}

static void take(struct entry *e)
{
    if (e->ep)
        e->ep->owed--;
    list_remove(&e->node);
    free(e);
}

void queue_add(struct queue *cq, struct endpoint *ep, const struct fi_cq_err_entry *told,
               unsigned delay_us)
{
    struct entry *e = calloc(1, sizeof *e);
    if (!e)
        abort();
    e->ep = ep;
    e->told = *told;
    if (delay_us)
        e->due = now_ns() + domain_random(cq->domain, delay_us) * UINT64_C(1000);
    list_push_back(&cq->entries, &e->node);
    cq->news = true;
}

void queue_ring(struct queue *cq, uint64_t now)
{
    const uint64_t one = 1;
    const bool works = rules->wait == WAIT_WORKS || rules->wait == WAIT_IF_AUTOMATIC;
    cq->news = false;
    if (works && cq->fd >= 0 && entry_due(cq, now))
        (void)!write(cq->fd, &one, sizeof one);
}

bool queue_tells_later(const struct queue *cq, uint64_t now)
{
    LIST_EACH (it, &cq->entries)
        if (LIST_ENTRY(it, struct entry, node)->due > now)
            return true;
    return false;
}

void queue_forget(struct queue *cq, const struct endpoint *ep)
{
    LIST_EACH_SAFE (it, &cq->entries) {
        struct entry *e = LIST_ENTRY(it, struct entry, node);
        if (e->ep == ep)
            take(e);
    }
}

int queue_trywait(struct queue *cq)
{
    uint64_t n;
    if (cq->fd < 0)
        return -FI_EINVAL;
    domain_enter(cq->domain);
    card_step(cq->domain);
    const bool something = next_entry(cq);
    if (!something)
        (void)!read(cq->fd, &n, sizeof n);
    domain_leave(cq->domain);
    return something ? -FI_EAGAIN : 0;
}

static ssize_t queue_read(struct fid_cq *fid, void *buf, size_t count)
{
    struct queue *cq = (struct queue *)(void *)fid;
    struct fi_cq_data_entry *out = buf;
    struct entry *e;
    ssize_t n = 0;
    domain_enter(cq->domain);
    COUNT(cq_reads);
    card_step(cq->domain);
    while ((size_t)n < count && (e = next_entry(cq)) != NULL && !e->told.err) {
        out[n++] = (struct fi_cq_data_entry){.op_context = e->told.op_context,
                                             .flags = e->told.flags,
                                             .len = e->told.len,
                                             .buf = e->told.buf,
                                             .data = e->told.data};
        COUNT(completions);
        take(e);
    }
    if (!n)
        n = next_entry(cq) ? -FI_EAVAIL : -FI_EAGAIN;
    domain_leave(cq->domain);
    return n;
}

static ssize_t queue_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf, uint64_t flags)
{
    struct queue *cq = (struct queue *)(void *)fid;
    (void)flags;
    domain_enter(cq->domain);
    struct entry *e = next_entry(cq);
    const bool error = e && e->told.err;
    if (error) {
        *buf = e->told;
        COUNT(errors);
        take(e);
    }
    domain_leave(cq->domain);
    return error ? 1 : -FI_EAGAIN;
}

static int queue_control(struct fid *fid, int command, void *arg)
{
    struct queue *cq = (struct queue *)(void *)fid;
    if (command != FI_GETWAIT || cq->fd < 0)
        return -FI_ENOSYS;
    *(int *)arg = cq->fd;
    return 0;
}

static int queue_close(struct fid *fid)
{
    struct queue *cq = (struct queue *)(void *)fid;
    struct domain *d = cq->domain;
    if (!list_empty(&d->endpoints))
        rules_broken("a queue is closed before its endpoints");
    card_stop(d);
    d->queue = NULL;
    while (!list_empty(&cq->entries))
        take(LIST_ENTRY(list_first(&cq->entries), struct entry, node));
    if (cq->fd >= 0)
        close(cq->fd);
    free(cq);
    return 0;
}

static struct fi_ops queue_fid_ops = {
    .size = sizeof(struct fi_ops), .close = queue_close, .control = queue_control};
static struct fi_ops_cq queue_ops = {
    .size = sizeof(struct fi_ops_cq), .read = queue_read, .readerr = queue_readerr};

static bool refuses_to_wait(const struct domain *d)
{
    return rules->wait == WAIT_REFUSED || (rules->wait == WAIT_IF_AUTOMATIC && !d->automatic);
}

int domain_queue(struct fid_domain *fid, struct fi_cq_attr *attr, struct fid_cq **out,
                 void *context)
{
    struct domain *d = (struct domain *)(void *)fid;
    const bool waits = attr->wait_obj == FI_WAIT_FD || attr->wait_obj == FI_WAIT_UNSPEC;
    if (d->queue || attr->format != FI_CQ_FORMAT_DATA ||
        (waits ? refuses_to_wait(d) : attr->wait_obj != FI_WAIT_NONE))
        return -FI_ENOSYS;
    struct queue *cq = calloc(1, sizeof *cq);
    if (!cq)
        return -FI_ENOMEM;
    cq->domain = d;
    cq->fd = waits ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
    list_init(&cq->entries);
    cq->fid.fid = (struct fid){.fclass = FI_CLASS_CQ, .context = context, .ops = &queue_fid_ops};
    cq->fid.ops = &queue_ops;
    d->queue = cq;
    const int ret = card_start(d);
    if (ret) {
        d->queue = NULL;
        if (cq->fd >= 0)
            close(cq->fd);
        free(cq);
        return ret;
    }
    *out = &cq->fid;
    return 0;
}
