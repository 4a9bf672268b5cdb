/*
 * cma.c - see cma.h.
 *
 * Pieces of both sides are collected into vectors of up to VECTOR entries a call
 * (IOV_MAX is 1024). The kernel may transfer less than asked when a page is
 * missing in the middle: the rest is tried again from there, and an error then
 * says why. Every entry of the remote vector costs as much as copying a KiB or more
 * (the kernel pins its pages by itself), so what is read is read in spans: pieces
 * with small gaps and the gaps between them, into an image of the target. What is
 * written is written piece by piece: a gap may be changed by others at any time.
 * Accumulates read a batch of target pieces, operate on the image, and write the
 * pieces back, holding the stripes of the whole batch.
 */
#include "rma/cma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/err.h"
#include "rma/stripe.h"

enum {
    VECTOR = 256,           /* pieces a call */
    GAP_MAX = 1024,         /* less than a page, so a gap has no page that no piece has */
    IMAGE_SMALL = 16384,    /* on the stack */
    IMAGE_LARGE = 1 << 18,  /* allocated: fewer calls, and three of them fit into an L2 cache */
    PACK = 4096
};

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

/* Transfer left bytes, all of two vectors, which change when it takes several calls. */
static int transfer_pieces(const struct rma_peer *peer, const struct log *log, bool write, struct iovec *l,
                           unsigned nl, struct iovec *r, unsigned nr, size_t left)
{
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

static int transfer(const struct rma_peer *peer, const struct log *log, bool write, struct vec *local,
                    struct vec *remote)
{
    return transfer_pieces(peer, log, write, local->iov, local->n, remote->iov, remote->n, local->bytes);
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

/* A batch of pieces of the target and the image that they are read into. */
struct batch {
    struct iovec remote[VECTOR]; /* the pieces */
    struct iovec local[VECTOR];  /* where each is in the image */
    struct vec spans;            /* pieces and gaps, as they are read; bytes is the image's size */
    unsigned n;
    size_t bytes; /* of the pieces */
    struct stripe_set stripes;
    char *image;
    size_t room, unit;
    char small[IMAGE_SMALL];
};

/* Without memory for a large image the small one does. Give back with batch_end. */
static void batch_begin(struct batch *b, size_t unit, size_t total)
{
    char *large = NULL;
    b->room = IMAGE_SMALL;
    b->unit = unit;
    if (total > IMAGE_SMALL) {
        const size_t want = total < IMAGE_LARGE ? total + GAP_MAX : IMAGE_LARGE;
        large = malloc(want);
        b->room = large ? want : IMAGE_SMALL;
    }
    b->image = large ? large : b->small;
}

static void batch_end(struct batch *b)
{
    if (b->image != b->small)
        free(b->image);
}

/* The piece's place in the image: behind the span before, or in it, if that is near. */
static void batch_add(struct batch *b, uint64_t at, size_t len)
{
    struct vec *v = &b->spans;
    struct iovec *last = v->n ? &v->iov[v->n - 1] : NULL;
    const uint64_t gap = last ? at - ((uint64_t)(uintptr_t)last->iov_base + last->iov_len) : GAP_MAX + 1;
    if (gap <= GAP_MAX) {
        last->iov_len += (size_t)gap + len;
        v->bytes += (size_t)gap + len;
    } else {
        vec_add(v, (void *)(uintptr_t)at, len);
    }
    b->remote[b->n] = (struct iovec){(void *)(uintptr_t)at, len};
    b->local[b->n++] = (struct iovec){b->image + v->bytes - len, len};
    b->bytes += len;
}

/* Whole units as long as they and another gap have room. */
static bool batch_fill(struct batch *b, struct dtype_cursor *dst, uint64_t vaddr)
{
    b->n = b->spans.n = 0;
    b->bytes = b->spans.bytes = 0;
    while (b->n < VECTOR) {
        const size_t used = b->spans.bytes + (b->n ? GAP_MAX : 0);
        const size_t max = used < b->room ? (b->room - used) / b->unit * b->unit : 0;
        ptrdiff_t disp;
        const size_t len = max ? dtype_cursor_next(dst, max, &disp) : 0;
        if (!len)
            break;
        batch_add(b, vaddr + (uint64_t)disp, len);
    }
    return b->n != 0;
}

static int batch_read(const struct rma_peer *peer, const struct log *log, struct batch *b)
{
    struct vec local = {.n = 0, .bytes = 0};
    vec_add(&local, b->image, b->spans.bytes);
    return transfer(peer, log, false, &local, &b->spans);
}

/* Only when nothing else needs the vectors any more: transfer may change them. */
static int batch_write(const struct rma_peer *peer, const struct log *log, struct batch *b)
{
    return transfer_pieces(peer, log, true, b->local, b->n, b->remote, b->n, b->bytes);
}

/* Are most pieces and gaps small, so that copying the gaps too costs less than an
 * entry each? Right for regular types; others lose time only. */
static bool spans_pay(const struct dtype *type, size_t count)
{
    const size_t pieces = dtype_pieces(type);
    if (pieces * count < 2)
        return false;
    const size_t extent = pieces == 1 ? (size_t)(type->extent < 0 ? 0 : type->extent) : type->true_extent;
    return type->size / pieces <= GAP_MAX / 2 && extent / pieces <= GAP_MAX;
}

static int get_spans(const struct rma_peer *peer, const struct log *log, uint64_t vaddr, const struct rma_op *op)
{
    struct dtype_cursor src, dst;
    struct batch b;
    char *packed = op->raddr;
    int err = MRMA_SUCCESS;
    batch_begin(&b, 1, op->tcount * op->ttype->size);
    dtype_cursor_init(&src, op->ttype, op->tcount, DTYPE_BYTES);
    dtype_cursor_init(&dst, op->rtype, op->rcount, DTYPE_BYTES);
    while (!err && batch_fill(&b, &src, vaddr)) {
        err = batch_read(peer, log, &b);
        for (unsigned i = 0; !err && i < b.n; i++) {
            if (op->rtype->contig)
                memcpy(packed, b.local[i].iov_base, b.local[i].iov_len);
            else
                dtype_unpack(&dst, op->raddr, b.local[i].iov_base, b.local[i].iov_len);
            packed += b.local[i].iov_len;
        }
    }
    batch_end(&b);
    return err;
}

int cma_get(const struct rma_peer *peer, const struct log *log, uint64_t vaddr, const struct rma_op *op)
{
    if (!op->ttype->contig && spans_pay(op->ttype, op->tcount))
        return get_spans(peer, log, vaddr, op);
    return copy_types(peer, log, false, op->raddr, op->rtype, op->rcount, vaddr, op);
}

/* The two sides' data of an accumulate, as the batches use them up. */
struct operands {
    enum acc_op op;
    enum acc_type type;
    const char *origin; /* packed; NULL: src walks over it, or there is none */
    char *result;       /* the same for res */
    const void *obase;
    void *rbase;
    struct dtype_cursor src, res;
    bool data, fetch;
};

static void operands_init(struct operands *o, const struct rma_op *op, bool fetch)
{
    o->op = op->op;
    o->type = op->ttype->basic;
    o->data = op->op != ACC_NO_OP;
    o->fetch = fetch;
    o->obase = op->oaddr;
    o->rbase = op->raddr;
    o->origin = o->data && op->otype->contig ? op->oaddr : NULL;
    o->result = fetch && op->rtype->contig ? op->raddr : NULL;
    if (o->data && !o->origin)
        dtype_cursor_init(&o->src, op->otype, op->ocount, DTYPE_ELEMENTS);
    if (fetch && !o->result)
        dtype_cursor_init(&o->res, op->rtype, op->rcount, DTYPE_ELEMENTS);
}

static void operate(struct operands *o, char *image, size_t len, size_t unit)
{
    alignas(16) char packed[PACK];
    if (o->fetch && o->result) {
        memcpy(o->result, image, len);
        o->result += len;
    } else if (o->fetch) {
        dtype_unpack(&o->res, o->rbase, image, len);
    }
    if (o->data && o->origin) {
        acc_apply(o->op, o->type, image, o->origin, acc_count(len, unit));
        o->origin += len;
        return;
    }
    while (o->data && len) {
        const size_t n = len < PACK ? len : PACK / unit * unit;
        dtype_pack(&o->src, o->obase, packed, n);
        acc_apply(o->op, o->type, image, packed, acc_count(n, unit));
        image += n;
        len -= n;
    }
}

static void batch_stripes(struct batch *b)
{
    b->stripes = (struct stripe_set){{0}};
    for (unsigned i = 0; i < b->n; i++) {
        const uint64_t at = (uint64_t)(uintptr_t)b->remote[i].iov_base;
        const size_t len = b->remote[i].iov_len;
        for (size_t done = 0; done < len; done += stripe_run(at + done, len - done, b->unit))
            stripe_set_add(&b->stripes, stripe_index(at + done));
    }
}

int cma_acc(const struct rma_peer *peer, const struct log *log, uint64_t vaddr, const struct rma_op *op,
            bool fetch)
{
    struct operands o;
    struct dtype_cursor dst;
    struct batch b;
    int err = MRMA_SUCCESS;
    operands_init(&o, op, fetch);
    batch_begin(&b, acc_extent(o.type), op->tcount * op->ttype->elems * acc_extent(o.type));
    dtype_cursor_init(&dst, op->ttype, op->tcount, DTYPE_ELEMENTS);
    while (!err && batch_fill(&b, &dst, vaddr)) {
        batch_stripes(&b);
        stripe_set_lock(peer->stripes, &b.stripes);
        err = batch_read(peer, log, &b);
        for (unsigned i = 0; !err && i < b.n; i++)
            operate(&o, b.local[i].iov_base, b.local[i].iov_len, b.unit);
        if (!err && o.data)
            err = batch_write(peer, log, &b);
        stripe_set_unlock(peer->stripes, &b.stripes);
    }
    batch_end(&b);
    return err;
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
