/*
 * cma.c - see cma.h.
 *
 * Pieces of both sides are collected into vectors of up to VECTOR entries a call
 * (IOV_MAX is 1024). The kernel may transfer less than asked when a page is
 * missing in the middle: the rest is tried again from there, and an error then
 * says why. Accumulates read a batch of target pieces, operate here, and write
 * back, holding the stripes of the whole batch.
 */
#include "rma/cma.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/err.h"
#include "rma/stripe.h"

enum { VECTOR = 256, BATCH = 64, BATCH_BYTES = 65536 };

struct vec {
    struct iovec iov[VECTOR];
    unsigned n;
    size_t bytes;
};

static int fail(const struct rma_peer *peer, const struct log *log, size_t bytes)
{
    const int err = errno;
    const int code = err == ESRCH    ? MRMA_ERR_PROC_FAILED
                     : err == EFAULT ? MRMA_ERR_RMA_RANGE
                                     : MRMA_ERR_OTHER;
    return log_fail(log, code, "cross-memory attach of %zu bytes with process %d: %s", bytes, peer->pid,
                    strerror(err));
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

/* Transfer all bytes of two vectors of the same length. */
static int transfer(const struct rma_peer *peer, const struct log *log, bool write, struct vec *local,
                    struct vec *remote)
{
    struct iovec *l = local->iov, *r = remote->iov;
    unsigned nl = local->n, nr = remote->n;
    size_t left = local->bytes;
    for (;;) {
        ssize_t got = write ? process_vm_writev(peer->pid, l, nl, r, nr, 0)
                            : process_vm_readv(peer->pid, l, nl, r, nr, 0);
        if (got < 0 || (got == 0 && left))
            return fail(peer, log, left);
        left -= (size_t)got;
        if (!left)
            return MRMA_SUCCESS;
        skip(&l, &nl, (size_t)got);
        skip(&r, &nr, (size_t)got);
    }
}

static void vec_add(struct vec *v, void *base, size_t len)
{
    v->iov[v->n++] = (struct iovec){.iov_base = base, .iov_len = len};
    v->bytes += len;
}

/* One side of a copy: pieces of the walk, cut where the other side's are. */
struct side {
    struct dtype_cursor cur;
    char *base;
    char *at;
    size_t left;
};

static bool side_refill(struct side *s)
{
    ptrdiff_t disp;
    if (s->left)
        return true;
    s->left = dtype_cursor_next(&s->cur, SIZE_MAX, &disp);
    s->at = s->base + disp;
    return s->left != 0;
}

/* Take len bytes of the side's walk into v; stops when v is full. */
static size_t side_take(struct side *s, struct vec *v, size_t len)
{
    size_t taken = 0;
    while (taken < len && v->n < VECTOR && side_refill(s)) {
        const size_t n = s->left < len - taken ? s->left : len - taken;
        vec_add(v, s->at, n);
        s->at += n;
        s->left -= n;
        taken += n;
    }
    return taken;
}

static int copy(const struct rma_peer *peer, const struct log *log, bool write, struct side *local,
                struct side *remote, size_t total)
{
    while (total) {
        struct vec lv = {.n = 0, .bytes = 0}, rv = {.n = 0, .bytes = 0};
        /* The kernel takes at most about 2 GiB a call. */
        const size_t want = total < ((size_t)1 << 30) ? total : (size_t)1 << 30;
        while (lv.bytes < want && lv.n < VECTOR && rv.n < VECTOR && side_refill(remote)) {
            size_t n = remote->left < want - lv.bytes ? remote->left : want - lv.bytes;
            n = side_take(local, &lv, n);
            if (!n)
                break;
            (void)side_take(remote, &rv, n);
        }
        int err = transfer(peer, log, write, &lv, &rv);
        if (err)
            return err;
        total -= lv.bytes;
        if (!lv.bytes)
            return MRMA_ERR_INTERN;
    }
    return MRMA_SUCCESS;
}

/* The common case: one piece on each side. */
static int copy_contig(const struct rma_peer *peer, const struct log *log, bool write, void *local,
                       uint64_t vaddr, size_t len)
{
    struct iovec l = {local, len}, r = {(void *)(uintptr_t)vaddr, len};
    ssize_t got = write ? process_vm_writev(peer->pid, &l, 1, &r, 1, 0)
                        : process_vm_readv(peer->pid, &l, 1, &r, 1, 0);
    if (got == (ssize_t)len)
        return MRMA_SUCCESS;
    const size_t done = got > 0 ? (size_t)got : 0;
    if (got <= 0)
        return fail(peer, log, len);
    return copy_contig(peer, log, write, (char *)local + done, vaddr + done, len - done);
}

static int copy_types(const struct rma_peer *peer, const struct log *log, bool write, void *addr,
                      const struct dtype *type, size_t count, uint64_t vaddr, const struct rma_op *op)
{
    const size_t total = op->tcount * op->ttype->size;
    if (!total)
        return MRMA_SUCCESS;
    if (type->contig && op->ttype->contig)
        return copy_contig(peer, log, write, addr, vaddr, total);
    struct side local = {.base = addr}, remote = {.base = (char *)(uintptr_t)vaddr};
    dtype_cursor_init(&local.cur, type, count, DTYPE_BYTES);
    dtype_cursor_init(&remote.cur, op->ttype, op->tcount, DTYPE_BYTES);
    return copy(peer, log, write, &local, &remote, total);
}

int cma_put(const struct rma_peer *peer, const struct log *log, uint64_t vaddr, const struct rma_op *op)
{
    return copy_types(peer, log, true, (void *)(uintptr_t)op->oaddr, op->otype, op->ocount, vaddr, op);
}

int cma_get(const struct rma_peer *peer, const struct log *log, uint64_t vaddr, const struct rma_op *op)
{
    return copy_types(peer, log, false, op->raddr, op->rtype, op->rcount, vaddr, op);
}

/* A batch of target pieces of an accumulate. */
struct batch {
    struct iovec remote[BATCH];
    unsigned n;
    size_t bytes;
    struct stripe_set stripes;
};

static void batch_fill(struct batch *b, struct dtype_cursor *dst, uint64_t vaddr, size_t unit, size_t max)
{
    *b = (struct batch){.n = 0};
    while (b->n < BATCH && b->bytes < max) {
        ptrdiff_t disp;
        const size_t n = dtype_cursor_next(dst, max - b->bytes, &disp);
        if (!n)
            break;
        const uint64_t at = vaddr + (uint64_t)disp;
        b->remote[b->n++] = (struct iovec){(void *)(uintptr_t)at, n};
        b->bytes += n;
        for (size_t done = 0; done < n; done += stripe_run(at + done, n - done, unit))
            stripe_set_add(&b->stripes, stripe_index(at + done));
    }
}

static int batch_move(const struct rma_peer *peer, const struct log *log, bool write, const struct batch *b,
                      char *buf)
{
    struct vec local = {.n = 0, .bytes = 0}, remote = {.n = b->n, .bytes = b->bytes};
    vec_add(&local, buf, b->bytes);
    memcpy(remote.iov, b->remote, b->n * sizeof *b->remote);
    return transfer(peer, log, write, &local, &remote);
}

int cma_acc(const struct rma_peer *peer, const struct log *log, uint64_t vaddr, const struct rma_op *op,
            bool fetch)
{
    const enum acc_type type = op->ttype->basic;
    const size_t unit = acc_extent(type), max = BATCH_BYTES / unit * unit;
    const bool data = op->op != ACC_NO_OP;
    struct dtype_cursor dst, src, res;
    alignas(64) char buf[BATCH_BYTES], in[BATCH_BYTES];
    const char *origin = op->oaddr;
    dtype_cursor_init(&dst, op->ttype, op->tcount, DTYPE_ELEMENTS);
    if (data)
        dtype_cursor_init(&src, op->otype, op->ocount, DTYPE_ELEMENTS);
    if (fetch)
        dtype_cursor_init(&res, op->rtype, op->rcount, DTYPE_ELEMENTS);
    for (;;) {
        struct batch b;
        batch_fill(&b, &dst, vaddr, unit, max);
        if (!b.bytes)
            return MRMA_SUCCESS;
        if (data && !op->otype->contig)
            dtype_pack(&src, op->oaddr, in, b.bytes);
        stripe_set_lock(peer->stripes, &b.stripes);
        int err = batch_move(peer, log, false, &b, buf);
        if (!err && fetch)
            dtype_unpack(&res, op->raddr, buf, b.bytes);
        if (!err && data) {
            acc_apply(op->op, type, buf, op->otype->contig ? origin : in, b.bytes / unit);
            err = batch_move(peer, log, true, &b, buf);
        }
        stripe_set_unlock(peer->stripes, &b.stripes);
        if (err)
            return err;
        origin += data && op->otype->contig ? b.bytes : 0;
    }
}

int cma_cas(const struct rma_peer *peer, const struct log *log, uint64_t vaddr, const struct rma_op *op)
{
    const size_t unit = acc_extent(op->ttype->basic);
    struct fmutex *mx = &peer->stripes[stripe_index(vaddr)];
    fmutex_lock(mx);
    int err = copy_contig(peer, log, false, op->raddr, vaddr, unit);
    if (!err && memcmp(op->raddr, op->caddr, unit) == 0)
        err = copy_contig(peer, log, true, (void *)(uintptr_t)op->oaddr, vaddr, unit);
    fmutex_unlock(mx);
    return err;
}
