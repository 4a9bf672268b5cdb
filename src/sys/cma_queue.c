/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma_queue.c - small transfers with another process's memory, done together (cma_queue.h).
 *
 * Invariants: all transfers that are kept go in one direction; here and there have the same number
 * of bytes; data holds the bytes that go out. Locks: the caller's. Neighbour: cma.c, below.
 */
#include "sys/cma_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* The kernel looks up the pages of each piece separately, so more pieces would save little. */
enum { PIECES = 64 };

struct pieces {
    unsigned n;
    struct iovec v[PIECES];
};

struct cma_queue {
    int32_t pid;
    const struct log *log;
    bool write;
    size_t room, bytes;
    struct pieces here, there;
    char data[]; /* the bytes that go out, one transfer behind the other: room bytes */
};

struct cma_queue *cma_queue_create(int32_t pid, const struct log *log, size_t room)
{
    struct cma_queue *q = malloc(sizeof *q + room);
    if (q) {
        q->pid = pid;
        q->log = log;
        q->room = room;
        q->bytes = 0;
    }
    return q;
}

void cma_queue_free(struct cma_queue *q)
{
    free(q);
}

static void append(struct pieces *p, void *base, size_t len)
{
    struct iovec *last = p->n ? &p->v[p->n - 1] : NULL;
    if (last && (char *)last->iov_base + last->iov_len == base)
        last->iov_len += len;
    else
        p->v[p->n++] = (struct iovec){base, len};
}

static bool has_room(const struct cma_queue *q, bool write, size_t len)
{
    return q->write == write && q->bytes + len <= q->room && q->here.n < PIECES &&
           q->there.n < PIECES;
}

int cma_queue_add(struct cma_queue *q, bool write, void *here, uint64_t vaddr, size_t len)
{
    const int err = q->bytes && !has_room(q, write, len) ? cma_queue_run(q) : MRMA_SUCCESS;
    if (!q->bytes) {
        q->write = write;
        q->here.n = q->there.n = 0;
    }
    append(&q->here, write ? memcpy(q->data + q->bytes, here, len) : here, len);
    append(&q->there, (void *)(uintptr_t)vaddr, len);
    q->bytes += len;
    return err;
}

int cma_queue_run(struct cma_queue *q)
{
    const size_t bytes = q->bytes;
    q->bytes = 0;
    return !bytes ? MRMA_SUCCESS
                  : cma_transfer(q->pid, q->log, q->write, (struct cma_iov){q->here.v, q->here.n},
                                 (struct cma_iov){q->there.v, q->there.n}, bytes);
}
