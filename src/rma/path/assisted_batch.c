/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted_batch.c - see assisted_batch.h.
 */
#include "rma/path/assisted_batch.h"

#include <stdlib.h>

#include "base/err.h"

enum { IMAGE_LARGE = 1 << 18 }; /* allocated; saves calls, and three of them fit into an L2 cache */

struct assisted_batch *assisted_batch_begin(size_t unit, size_t total)
{
    struct assisted_batch *b = malloc(sizeof *b); /* little of it is written: see assisted_vec */
    char *large = NULL;
    if (!b)
        return NULL;
    b->room = ASSISTED_IMAGE_SMALL;
    b->unit = unit;
    b->members = NULL;
    b->nmembers = 1;
    if (total > ASSISTED_IMAGE_SMALL) {
        const size_t want = total < IMAGE_LARGE ? total + ASSISTED_GAP_MAX : IMAGE_LARGE;
        large = malloc(want);
        b->room = large ? want : ASSISTED_IMAGE_SMALL;
    }
    b->image = large ? large : b->small;
    return b;
}

void assisted_batch_elements(struct assisted_batch *b, const struct dtype *basic)
{
    if (basic->runs == basic->eruns)
        return;
    b->members = basic->runs;
    b->nmembers = (unsigned)basic->nruns;
}

void assisted_batch_end(struct assisted_batch *b)
{
    if (b->image != b->small)
        free(b->image);
    free(b);
}

/* batch_add finds the piece's place in the image: behind the span before, or in that span if the
 * piece is near to it. */
static void batch_add(struct assisted_batch *b, uint64_t at, size_t len)
{
    struct assisted_vec *v = &b->spans;
    struct iovec *last = v->n ? &v->iov[v->n - 1] : NULL;
    const uint64_t gap =
        last ? at - ((uint64_t)(uintptr_t)last->iov_base + last->iov_len) : ASSISTED_GAP_MAX + 1;
    if (gap <= ASSISTED_GAP_MAX) {
        last->iov_len += (size_t)gap + len;
        v->bytes += (size_t)gap + len;
    } else {
        assisted_vec_add(v, (void *)(uintptr_t)at, len);
    }
    b->remote[b->n] = (struct iovec){(void *)(uintptr_t)at, len};
    b->local[b->n++] = (struct iovec){b->image + v->bytes - len, len};
    b->bytes += len;
}

static void batch_add_members(struct assisted_batch *b, uint64_t at)
{
    for (unsigned i = 0; i < b->nmembers; i++)
        batch_add(b, at + (uint64_t)b->members[i].disp, b->members[i].len);
}

bool assisted_batch_fill(struct assisted_batch *b, struct dtype_cursor *dst, uint64_t vaddr)
{
    b->n = b->spans.n = 0;
    b->bytes = b->spans.bytes = 0;
    while (b->n + b->nmembers <= ASSISTED_VECTOR) {
        const size_t used = b->spans.bytes + (b->n ? ASSISTED_GAP_MAX : 0);
        const size_t max = used < b->room ? (b->room - used) / b->unit * b->unit : 0;
        ptrdiff_t disp;
        const size_t len = max ? dtype_cursor_next(dst, b->members ? b->unit : max, &disp) : 0;
        if (!len)
            break;
        if (b->members)
            batch_add_members(b, vaddr + (uint64_t)disp);
        else
            batch_add(b, vaddr + (uint64_t)disp, len);
    }
    return b->n != 0;
}

int assisted_batch_read(const struct rma_peer *peer, const struct log *log,
                        struct assisted_batch *b)
{
    struct iovec image = {b->image, b->spans.bytes};
    return cma_transfer(peer->pid, log, false, (struct cma_iov){&image, 1},
                        (struct cma_iov){b->spans.iov, b->spans.n}, b->spans.bytes);
}

int assisted_batch_write(const struct rma_peer *peer, const struct log *log,
                         struct assisted_batch *b)
{
    return cma_transfer(peer->pid, log, true, (struct cma_iov){b->local, b->n},
                        (struct cma_iov){b->remote, b->n}, b->bytes);
}
