/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted_copy.c - puts and gets of assisted_copy.h, and the choice of the function for a kind of
 * operation.
 *
 * Pieces of both sides are collected into vectors, cut where the other side's are, or,
 * where a get's pieces lie close together, read in spans (assisted_batch.h). Small pieces of this
 * process go through a packed copy: an entry costs the kernel as much as copying a KiB.
 */
#include "rma/path/assisted_copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/path/assisted_batch.h"

/* One side of a copy: the pieces of its walk, cut where the other side's are cut. */
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

/* side_take takes len bytes of the side's walk into v; it stops when v is full. */
static size_t side_take(struct side *s, struct assisted_vec *v, size_t len)
{
    size_t taken = 0;
    while (taken < len && v->n < ASSISTED_VECTOR && side_refill(s)) {
        const size_t n = s->left < len - taken ? s->left : len - taken;
        assisted_vec_add(v, s->at, n);
        s->at += n;
        s->left -= n;
        taken += n;
    }
    return taken;
}

/* The pieces of both sides for one call of the kernel. They are not on the stack, of which a thread
 * may have little. */
struct vectors {
    struct assisted_vec local, remote;
};

/* fill fills both vectors with the same number of bytes, at most total. */
static void fill(struct vectors *v, struct side *local, struct side *remote, size_t total)
{
    /* The kernel takes at most about 2 GiB a call. */
    const size_t want = total < ((size_t)1 << 30) ? total : (size_t)1 << 30;
    assisted_vec_clear(&v->local);
    assisted_vec_clear(&v->remote);
    while (v->local.bytes < want && v->local.n < ASSISTED_VECTOR && v->remote.n < ASSISTED_VECTOR &&
           side_refill(remote)) {
        const size_t rest = want - v->local.bytes;
        const size_t n = side_take(local, &v->local, remote->left < rest ? remote->left : rest);
        if (!n)
            break;
        (void)side_take(remote, &v->remote, n);
    }
}

static int copy(const struct rma_peer *peer, const struct log *log, bool write, struct side *local,
                struct side *remote, size_t total)
{
    struct vectors *v = malloc(sizeof *v);
    int err = v ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
    while (!err && total) {
        fill(v, local, remote, total);
        const size_t bytes = v->local.bytes;
        err = bytes
                  ? cma_transfer(peer->pid, log, write, (struct cma_iov){v->local.iov, v->local.n},
                                 (struct cma_iov){v->remote.iov, v->remote.n}, bytes)
                  : MRMA_ERR_INTERN;
        total -= bytes;
    }
    free(v);
    return err;
}

static bool are_small(const struct dtype *type)
{
    return !type->contig && type->pieces && type->size / type->pieces <= ASSISTED_GAP_MAX / 2;
}

/* copy_packed does the same, with this process's pieces packed into one entry. */
static int copy_packed(const struct rma_peer *peer, const struct log *log, bool write, void *addr,
                       struct dtype_cursor *local, struct side *remote, size_t total)
{
    struct assisted_batch *b = assisted_batch_begin(1, total);
    struct assisted_vec *rv = b ? &b->spans : NULL;
    int err = b ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
    while (!err && total) {
        assisted_vec_clear(rv);
        const size_t n = side_take(remote, rv, total < b->room ? total : b->room);
        struct iovec image = {b->image, n};
        if (write)
            dtype_pack(local, addr, b->image, n);
        err = cma_transfer(peer->pid, log, write, (struct cma_iov){&image, 1},
                           (struct cma_iov){rv->iov, rv->n}, n);
        if (!err && !write)
            dtype_unpack(local, addr, b->image, n);
        total -= n;
    }
    if (b)
        assisted_batch_end(b);
    return err;
}

static int copy_types(const struct rma_peer *peer, const struct log *log, bool write,
                      uint64_t vaddr, const struct rma_op *op)
{
    void *addr = write ? (void *)(uintptr_t)op->oaddr : op->raddr;
    const struct dtype *type = write ? op->otype : op->rtype;
    const size_t count = write ? op->ocount : op->rcount;
    const size_t total = op->tcount * op->ttype->size;
    if (!total)
        return MRMA_SUCCESS;
    if (type->contig && op->ttype->contig)
        return cma_copy(peer->pid, log, write, addr, vaddr, total);
    struct side local = {.base = addr}, remote = {.base = (char *)(uintptr_t)vaddr};
    dtype_cursor_init(&local.cur, type, count, DTYPE_BYTES);
    dtype_cursor_init(&remote.cur, op->ttype, op->tcount, DTYPE_BYTES);
    if (are_small(type))
        return copy_packed(peer, log, write, addr, &local.cur, &remote, total);
    return copy(peer, log, write, &local, &remote, total);
}

int assisted_put(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op)
{
    return copy_types(peer, log, true, vaddr, op);
}

/* spans_pay returns whether most pieces and gaps are small, so that it costs less to copy the gaps,
 * too, than to have an entry for each piece. The answer is right for regular types; with others a
 * wrong answer costs only time. */
static bool spans_pay(const struct dtype *type, size_t count)
{
    const size_t pieces = type->pieces;
    if (!pieces || (pieces == 1 && count < 2))
        return false;
    const size_t extent =
        pieces == 1 ? (size_t)(type->extent < 0 ? 0 : type->extent) : type->true_extent;
    return type->size / pieces <= ASSISTED_GAP_MAX / 2 && extent / pieces <= ASSISTED_GAP_MAX;
}

static int get_spans(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                     const struct rma_op *op)
{
    struct dtype_cursor src, dst;
    struct assisted_batch *b = assisted_batch_begin(1, op->tcount * op->ttype->size);
    char *packed = op->raddr;
    int err = MRMA_SUCCESS;
    if (!b)
        return MRMA_ERR_NO_MEM;
    dtype_cursor_init(&src, op->ttype, op->tcount, DTYPE_BYTES);
    dtype_cursor_init(&dst, op->rtype, op->rcount, DTYPE_BYTES);
    while (!err && assisted_batch_fill(b, &src, vaddr)) {
        err = assisted_batch_read(peer, log, b);
        for (unsigned i = 0; !err && i < b->n; i++) {
            if (op->rtype->contig)
                memcpy(packed, b->local[i].iov_base, b->local[i].iov_len);
            else
                dtype_unpack(&dst, op->raddr, b->local[i].iov_base, b->local[i].iov_len);
            packed += b->local[i].iov_len;
        }
    }
    assisted_batch_end(b);
    return err;
}

int assisted_get(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op)
{
    if (!op->ttype->contig && spans_pay(op->ttype, op->tcount))
        return get_spans(peer, log, vaddr, op);
    return copy_types(peer, log, false, vaddr, op);
}

int assisted_by_kernel(const struct rma_peer *peer, const struct log *log, enum pkt_op_kind kind,
                       uint64_t vaddr, const struct rma_op *op)
{
    switch (kind) {
    case PKT_OP_PUT:
        return assisted_put(peer, log, vaddr, op);
    case PKT_OP_GET:
        return assisted_get(peer, log, vaddr, op);
    case PKT_OP_CAS:
        return assisted_cas(peer, log, vaddr, op);
    default:
        return assisted_acc(peer, log, vaddr, op, kind == PKT_OP_GET_ACC);
    }
}
