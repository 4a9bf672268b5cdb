/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.c - see call.h. A call that breaks a rule is a violation, and fails where violations are
 * only counted.
 *
 * Neighbours: card.c, which has the operations from here on; memory.c.
 */
#include "test/fabric/call.h"

#include <stdlib.h>
#include <string.h>

struct op *op_new(struct fid_ep *fid, enum op_kind kind, void *context, size_t copied)
{
    struct op *op = calloc(1, sizeof *op + copied);
    if (!op)
        abort();
    op->ep = endpoint_of(fid);
    op->kind = kind;
    op->context = context;
    return op;
}

static bool context_is_free(const struct endpoint *ep, const struct op *op)
{
    if (!rules->mode || op->silent)
        return true;
    LIST_EACH (it, &ep->ops)
        if (LIST_ENTRY(it, struct op, node)->context == op->context)
            return false;
    return op->context != NULL;
}

static uint64_t access_of(enum op_kind kind)
{
    return kind == OP_SEND                       ? FI_SEND
           : kind == OP_RECV                     ? FI_RECV
           : kind == OP_READ || kind == OP_FETCH ? FI_READ
                                                 : FI_WRITE;
}

bool take_pieces(struct op *op, const struct iovec *iov, void **desc, size_t n)
{
    struct domain *d = op->ep->domain;
    if (n > rules->iov_max || n > PIECES) {
        rules_broken("%zu pieces of memory where %u are allowed", n, rules->iov_max);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        op->iov[i] = iov[i];
        if (!d->local || op->silent)
            continue;
        op->desc[i] = memory_find(d, desc ? desc[i] : NULL, iov[i].iov_base, iov[i].iov_len,
                                  access_of(op->kind));
        if (!op->desc[i] && iov[i].iov_len)
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (op->desc[i])
            op->desc[i]->users++;
        op->len += iov[i].iov_len;
    }
    op->n = n;
    return true;
}

bool take_copy(struct op *op, const void *buf, size_t len)
{
    if (len > rules->inject) {
        rules_broken("%zu bytes are injected where %u are allowed", len, rules->inject);
        return false;
    }
    memcpy(op->copy, buf, len);
    op->silent = true;
    op->iov[0] = (struct iovec){op->copy, len};
    op->n = 1;
    op->len = len;
    return true;
}

bool take_remote(struct op *op, const struct fi_rma_iov *rma, size_t n)
{
    if (n != 1 || rma->len != op->len) {
        rules_broken("%zu pieces of remote memory, where one of the same length is allowed", n);
        return false;
    }
    op->addr = rma->addr;
    op->key = rma->key;
    return true;
}

bool take_target(struct op *op, fi_addr_t to)
{
    op->to = vector_uid(op->ep->av, to);
    if (!op->to)
        rules_broken("an address that was not inserted");
    return op->to;
}

ssize_t submit(struct op *op, bool legal)
{
    struct endpoint *ep = op->ep;
    int ret = -FI_EINVAL;
    if (legal && !ep->enabled) {
        rules_broken("an endpoint is used that is not enabled");
    } else if (legal && !context_is_free(ep, op)) {
        rules_broken("a context is missing, or in use by another operation");
    } else if (legal && op->kind == OP_RECV) {
        list_push_back(&ep->ops, &op->node);
        target_match(ep);
        ret = 0;
    } else if (legal) {
        ret = card_submit(op);
    }
    if (ret)
        op_free(op);
    return ret;
}
