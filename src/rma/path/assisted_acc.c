/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted_acc.c - accumulates and compare-and-swap of assisted_copy.h.
 *
 * An accumulate reads a batch of target pieces, operates on the image, and writes the
 * pieces back, holding the stripes of the whole batch. MPI_REPLACE needs no image.
 */
#include "rma/path/assisted_copy.h"

#include <string.h>

#include "base/err.h"
#include "acc/stripe.h"
#include "rma/path/assisted_batch.h"

enum { PACK = 1024 }; /* bytes on the stack, of which a thread may have little */

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
    bool blind; /* every byte is replaced, and nobody wants the old bytes, so they need not be
                   read */
};

static void operands_init(struct operands *o, const struct rma_op *op, bool fetch, size_t unit)
{
    o->op = op->op;
    o->type = op->ttype->basic;
    o->data = op->op != ACC_NO_OP;
    o->fetch = fetch;
    /* This is not so where elements have padding (MPI_DOUBLE_INT; long double), which must keep its
     * contents. */
    o->blind = op->op == ACC_REPLACE && !fetch && unit <= sizeof(uint64_t) &&
               op->ttype->size == op->ttype->elems * unit;
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

/* add_stripes adds the stripes of one contiguous piece. */
static void add_stripes(struct stripe_set *set, uint64_t at, size_t len, size_t unit)
{
    for (size_t done = 0; done < len; done += stripe_run(at + done, len - done, unit))
        stripe_set_add(set, stripe_index(at + done));
}

/* elements_len returns the length of the elements of a batch from piece i on. */
static size_t elements_len(const struct assisted_batch *b, unsigned i)
{
    return b->members ? b->unit : b->local[i].iov_len;
}

int assisted_acc(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op, bool fetch)
{
    const size_t unit = acc_extent(op->ttype->basic), len = op->tcount * op->ttype->elems * unit;
    struct dtype_cursor dst;
    const struct dtype basic = dtype_basic(op->ttype->basic);
    struct assisted_batch *b = assisted_batch_begin(unit, len);
    struct operands o;
    int err = MRMA_SUCCESS;
    if (!b)
        return MRMA_ERR_NO_MEM;
    operands_init(&o, op, fetch, unit);
    assisted_batch_elements(b, &basic);
    dtype_cursor_init(&dst, op->ttype, op->tcount, DTYPE_ELEMENTS);
    while (!err && assisted_batch_fill(b, &dst, vaddr)) {
        struct stripe_set stripes = {{0}};
        for (unsigned i = 0; i < b->n; i += b->nmembers)
            add_stripes(&stripes, (uint64_t)(uintptr_t)b->remote[i].iov_base, elements_len(b, i),
                        b->unit);
        stripe_set_lock(peer->stripes, &stripes, true);
        err = o.blind ? MRMA_SUCCESS : assisted_batch_read(peer, log, b);
        for (unsigned i = 0; !err && i < b->n; i += b->nmembers)
            operate(&o, b->local[i].iov_base, elements_len(b, i), b->unit);
        if (!err && o.data)
            err = assisted_batch_write(peer, log, b);
        stripe_set_lock(peer->stripes, &stripes, false);
    }
    assisted_batch_end(b);
    return err;
}

int assisted_cas(const struct rma_peer *peer, const struct log *log, uint64_t vaddr,
                 const struct rma_op *op)
{
    const size_t unit = acc_extent(op->ttype->basic);
    struct fmutex *mx = &peer->stripes.at[stripe_index(vaddr)];
    fmutex_lock(mx, peer->stripes.self);
    int err = cma_copy(peer->pid, log, false, op->raddr, vaddr, unit);
    if (!err && memcmp(op->raddr, op->caddr, unit) == 0)
        err = cma_copy(peer->pid, log, true, (void *)(uintptr_t)op->oaddr, vaddr, unit);
    fmutex_unlock(mx);
    return err;
}
