/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.c - connections between endpoints, and the frames that travel over them.
 *
 * An endpoint listens on a socket in the kernel's own name space whose name has its uid in it. The
 * first operation to another opens a connection; operations go one way over it, answers the other.
 * The end of the other's process, or of its endpoint, is the end of the connection: what has not
 * been answered is doomed, and so is what is sent later.
 *
 * Locks: the domain's. Neighbours: card.c, whose operations are carried; target.c, which deals with
 * what arrives.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/fabric/objects.h"

static socklen_t address_of(uint64_t uid, struct sockaddr_un *a)
{
    memset(a, 0, sizeof *a);
    a->sun_family = AF_UNIX; /* the first byte of the path is 0: not in the file system */
    const int n =
        snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "test-fabric-%016jx", (uintmax_t)uid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

int wire_listen(struct endpoint *ep)
{
    struct sockaddr_un a;
    const socklen_t len = address_of(ep->uid, &a);
    ep->listener = new_socket();
    if (ep->listener >= 0 && bind(ep->listener, (struct sockaddr *)&a, len) == 0 &&
        listen(ep->listener, SOMAXCONN) == 0)
        return 0;
    return -errno;
}

/* ---- the life of a connection ---- */

static struct wire *wire_new(struct endpoint *ep, int fd, uint64_t to)
{
    struct wire *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    w->ep = ep;
    w->fd = fd;
    w->to = to;
    ep->domain->unwatched = true;
    list_init(&w->out);
    list_push_back(&ep->wires, &w->node);
    return w;
}

static void drop_out(struct wire *w)
{
    struct list_node *node;
    while ((node = list_pop_front(&w->out)) != NULL)
        free(LIST_ENTRY(node, struct chunk, node));
}

/* Whoever is using it goes on; wire_step frees it. */
static void die(struct wire *w)
{
    w->dead = true;
    drop_out(w);
    LIST_EACH (it, &w->ep->ops) {
        struct op *op = LIST_ENTRY(it, struct op, node);
        if (op->wire == w)
            card_doom(op);
    }
}

static void wire_free(struct wire *w)
{
    drop_out(w);
    target_forget_wire(w);
    list_remove(&w->node);
    if (w->fd >= 0)
        close(w->fd);
    free(w->in);
    free(w);
}

/* The kernel's queue there may be full: then a later step tries again. */
static void connect_now(struct wire *w)
{
    struct sockaddr_un a;
    const socklen_t len = address_of(w->to, &a);
    const int fd = new_socket();
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, len) == 0) {
        w->fd = fd;
        w->ep->domain->unwatched = true;
        return;
    }
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (error != EAGAIN)
        die(w);
}

static struct wire *wire_to(struct endpoint *ep, uint64_t uid)
{
    LIST_EACH (it, &ep->wires) {
        struct wire *w = LIST_ENTRY(it, struct wire, node);
        if (w->to == uid && !w->dead)
            return w;
    }
    return wire_new(ep, -1, uid);
}

/* ---- out ---- */

static void push(struct wire *w)
{
    struct list_node *node;
    if (w->fd < 0 && w->to && !w->dead)
        connect_now(w);
    while (w->fd >= 0 && !w->dead && (node = list_first(&w->out)) != NULL) {
        struct chunk *c = LIST_ENTRY(node, struct chunk, node);
        const size_t all = sizeof c->frame + (size_t)c->frame.payload;
        const ssize_t n =
            send(w->fd, (const char *)&c->frame + c->done, all - c->done, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            w->ep->domain->unwatched |= !w->full;
            w->full = true;
            return;
        }
        if (n < 0) {
            die(w);
            return;
        }
        w->full = false;
        c->done += (size_t)n;
        if (c->done < all)
            continue;
        list_remove(node);
        if (c->op)
            card_over(c->op, 0);
        free(c);
    }
}

static struct chunk *chunk_new(const struct frame *f)
{
    struct chunk *c = calloc(1, sizeof *c + (size_t)f->payload);
    if (!c)
        abort();
    c->frame = *f;
    return c;
}

static bool carries_data(const struct op *op)
{
    return op->kind != OP_READ;
}

static struct chunk *frame_of(struct op *op)
{
    const bool swap = op->kind == OP_SWAP;
    const struct frame f = {.kind = op->kind,
                            .addr = op->addr,
                            .key = op->key,
                            .len = op->len,
                            .payload = carries_data(op) ? op->len * (swap ? 2 : 1) : 0,
                            .datatype = op->datatype,
                            .op = op->op,
                            .late = card_lateness(op->ep->domain, op),
                            .with_word = op->with_word,
                            .word = op->word};
    struct chunk *c = chunk_new(&f);
    unsigned char *to = c->payload;
    for (size_t i = 0; carries_data(op) && i < op->n; i++) {
        memcpy(to, op->iov[i].iov_base, op->iov[i].iov_len);
        to += op->iov[i].iov_len;
    }
    if (swap)
        memcpy(to, op->compare, op->len);
    return c;
}

void wire_send(struct op *op)
{
    struct wire *w = wire_to(op->ep, op->to);
    struct chunk *c = frame_of(op);
    if (op->kind == OP_SEND && !(op->flags & FI_DELIVERY_COMPLETE))
        c->op = op;
    else
        c->frame.id = (uint64_t)(uintptr_t)op;
    op->wire = w;
    list_push_back(&w->out, &c->node);
    push(w);
}

void wire_answer(struct wire *w, const struct frame *f, int status, const void *data, size_t len)
{
    const struct frame answer = {.kind = OP_DONE, .status = status, .id = f->id, .payload = len};
    if (!f->id || !w || w->dead)
        return;
    struct chunk *c = chunk_new(&answer);
    if (len)
        memcpy(c->payload, data, len);
    list_push_back(&w->out, &c->node);
    push(w);
}

/* ---- in ---- */

/* Where the next bytes go, and how many; 0: the frame is complete. */
static size_t wanted(struct wire *w, char **to)
{
    if (!w->in) {
        *to = (char *)&w->head + w->have;
        return sizeof w->head - w->have;
    }
    *to = (char *)w->in->payload + w->in->done;
    return (size_t)w->in->frame.payload - w->in->done;
}

static void take_in(struct wire *w)
{
    char *to;
    while (w->fd >= 0 && !w->dead) {
        const size_t want = wanted(w, &to);
        const ssize_t n = want ? recv(w->fd, to, want, 0) : 0;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0 || (want && !n)) {
            die(w);
            return;
        }
        if (w->in)
            w->in->done += (size_t)n;
        else
            w->have += (size_t)n;
        if (!w->in && w->have == sizeof w->head)
            w->in = chunk_new(&w->head);
        if (w->in && w->in->done == w->in->frame.payload) {
            struct chunk *c = w->in;
            w->in = NULL;
            w->have = 0;
            target_frame(w, c);
        }
    }
}

void wire_step(struct endpoint *ep)
{
    int fd;
    while ((fd = accept4(ep->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        (void)wire_new(ep, fd, 0);
    LIST_EACH (it, &ep->wires) {
        struct wire *w = LIST_ENTRY(it, struct wire, node);
        push(w);
        take_in(w);
    }
    LIST_EACH_SAFE (it, &ep->wires) {
        struct wire *w = LIST_ENTRY(it, struct wire, node);
        if (w->dead)
            wire_free(w);
    }
}

void wire_close(struct endpoint *ep)
{
    struct list_node *node;
    while ((node = list_first(&ep->wires)) != NULL)
        wire_free(LIST_ENTRY(node, struct wire, node));
    if (ep->listener >= 0)
        close(ep->listener);
}
