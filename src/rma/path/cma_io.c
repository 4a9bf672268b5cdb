/*
 * cma_io.c - see cma_io.h.
 */
#include "rma/path/cma_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { IMAGE_LARGE = 1 << 18 }; /* allocated: fewer calls, and three of them fit into an L2 cache */

static int fail(const struct rma_peer *peer, const struct log *log, size_t bytes)
{
    const int err = errno;
    const int code = err == ESRCH    ? MRMA_ERR_PROC_FAILED
                     : err == EFAULT ? MRMA_ERR_RMA_RANGE
                                     : MRMA_ERR_OTHER;
    return log_fail(log, code, "cross-memory attach of %zu bytes with process %d: %s", bytes,
                    peer->pid, strerror(err));
}

static void skip(struct iovec **iov, unsigned *n, size_t bytes)
{
    while (*n && bytes >= (*iov)->iov_len) {
        bytes -= (*iov)->iov_len;
        ++*iov;
        --*n;
    }
    if (bytes) {
        (*iov)->iov_base = (char *)(*iov)->iov_base + bytes;
        (*iov)->iov_len -= bytes;
    }
}

int cma_transfer(const struct rma_peer *peer, const struct log *log, bool write,
                 struct cma_iov local, struct cma_iov remote, size_t left)
{
    for (;;) {
        ssize_t got = write ? process_vm_writev(peer->pid, local.v, local.n, remote.v, remote.n, 0)
                            : process_vm_readv(peer->pid, local.v, local.n, remote.v, remote.n, 0);
        if (got < 0 || (got == 0 && left))
            return fail(peer, log, left);
        left -= (size_t)got;
        if (!left)
            return MRMA_SUCCESS;
        skip(&local.v, &local.n, (size_t)got);
        skip(&remote.v, &remote.n, (size_t)got);
    }
}

int cma_copy(const struct rma_peer *peer, const struct log *log, bool write, void *local,
             uint64_t vaddr, size_t len)
{
    struct iovec l = {local, len}, r = {(void *)(uintptr_t)vaddr, len};
    return cma_transfer(peer, log, write, (struct cma_iov){&l, 1}, (struct cma_iov){&r, 1}, len);
}

void cma_batch_begin(struct cma_batch *b, size_t unit, size_t total)
{
    char *large = NULL;
    b->room = CMA_IMAGE_SMALL;
    b->unit = unit;
    b->members = NULL;
    b->nmembers = 1;
    if (total > CMA_IMAGE_SMALL) {
        const size_t want = total < IMAGE_LARGE ? total + CMA_GAP_MAX : IMAGE_LARGE;
        large = malloc(want);
        b->room = large ? want : CMA_IMAGE_SMALL;
    }
    b->image = large ? large : b->small;
}

void cma_batch_elements(struct cma_batch *b, const struct dtype *basic)
{
    if (basic->runs == basic->eruns)
        return;
    b->members = basic->runs;
    b->nmembers = (unsigned)basic->nruns;
}

void cma_batch_end(struct cma_batch *b)
{
    if (b->image != b->small)
        free(b->image);
}

/* The piece's place in the image: behind the span before, or in it, if that is near. */
static void batch_add(struct cma_batch *b, uint64_t at, size_t len)
{
    struct cma_vec *v = &b->spans;
    struct iovec *last = v->n ? &v->iov[v->n - 1] : NULL;
    const uint64_t gap =
        last ? at - ((uint64_t)(uintptr_t)last->iov_base + last->iov_len) : CMA_GAP_MAX + 1;
    if (gap <= CMA_GAP_MAX) {
        last->iov_len += (size_t)gap + len;
        v->bytes += (size_t)gap + len;
    } else {
        cma_vec_add(v, (void *)(uintptr_t)at, len);
    }
    b->remote[b->n] = (struct iovec){(void *)(uintptr_t)at, len};
    b->local[b->n++] = (struct iovec){b->image + v->bytes - len, len};
    b->bytes += len;
}

static void batch_add_members(struct cma_batch *b, uint64_t at)
{
    for (unsigned i = 0; i < b->nmembers; i++)
        batch_add(b, at + (uint64_t)b->members[i].disp, b->members[i].len);
}

bool cma_batch_fill(struct cma_batch *b, struct dtype_cursor *dst, uint64_t vaddr)
{
    b->n = b->spans.n = 0;
    b->bytes = b->spans.bytes = 0;
    while (b->n + b->nmembers <= CMA_VECTOR) {
        const size_t used = b->spans.bytes + (b->n ? CMA_GAP_MAX : 0);
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

int cma_batch_read(const struct rma_peer *peer, const struct log *log, struct cma_batch *b)
{
    struct iovec image = {b->image, b->spans.bytes};
    return cma_transfer(peer, log, false, (struct cma_iov){&image, 1},
                        (struct cma_iov){b->spans.iov, b->spans.n}, b->spans.bytes);
}

int cma_batch_write(const struct rma_peer *peer, const struct log *log, struct cma_batch *b)
{
    return cma_transfer(peer, log, true, (struct cma_iov){b->local, b->n},
                        (struct cma_iov){b->remote, b->n}, b->bytes);
}
