/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic_calls.c - the endpoint's calls for atomic operations.
 *
 * Locks: the domain's. Neighbours: call.h; atomics.c, which says what there is.
 */
#include <stdint.h>

#include "test/fabric/call.h"

struct atomic {
    const void *buf, *compare;
    void *result;
    void *desc[3]; /* of these three */
    size_t count;
    fi_addr_t to;
    uint64_t addr, key;
    enum fi_datatype datatype;
    enum fi_op op;
    void *context;
    bool inject;
};

/* Whether the descriptors cover what is not injected. */
static bool covers_atomic(struct op *op, const struct atomic *a, size_t bytes)
{
    struct domain *d = op->ep->domain;
    if (!d->local || a->inject)
        return true;
    if (a->op != FI_ATOMIC_READ)
        op->desc[0] = memory_find(d, a->desc[0], a->buf, bytes, FI_WRITE);
    if (op->desc[0])
        op->desc[0]->users++;
    return (a->op == FI_ATOMIC_READ || op->desc[0]) &&
           (!a->compare || memory_find(d, a->desc[1], a->compare, bytes, FI_WRITE)) &&
           (!a->result || memory_find(d, a->desc[2], a->result, bytes, FI_READ));
}

static bool take_atomic(struct op *op, const struct atomic *a)
{
    const size_t bytes = a->count * atomics_size(a->datatype);
    const struct fi_rma_iov rma = {a->addr, bytes, a->key};
    if (!a->count || a->count > atomics_most(op->kind, a->op, a->datatype)) {
        rules_broken("an atomic operation that there is not");
        return false;
    }
    op->flags = FI_ATOMIC | (op->kind == OP_ATOMIC ? FI_WRITE : FI_READ);
    op->datatype = (uint8_t)a->datatype;
    op->op = (uint8_t)a->op;
    op->result = a->result;
    op->compare = a->compare;
    op->iov[0] = (struct iovec){(void *)(uintptr_t)(a->buf ? a->buf : op->copy), bytes};
    op->n = 1;
    op->len = bytes;
    if (!covers_atomic(op, a, bytes))
        return false;
    if (a->inject && !take_copy(op, a->buf, bytes))
        return false;
    if (!take_remote(op, &rma, 1) || !take_target(op, a->to))
        return false;
    if (rules->atomics_fail && rules_counts.atomics >= rules->atomics_fail)
        op->key = ~op->key; /* nobody's */
    return true;
}

static ssize_t atomic(struct fid_ep *fid, enum op_kind kind, const struct atomic *a)
{
    const size_t bytes = a->inject || !a->buf ? a->count * atomics_size(a->datatype) : 0;
    struct op *op = op_new(fid, kind, a->context, bytes);
    domain_enter(endpoint_of(fid)->domain);
    const ssize_t ret = submit(op, take_atomic(op, a));
    if (!ret)
        COUNT(atomics);
    domain_leave(endpoint_of(fid)->domain);
    return ret;
}

/* The end of an operation tells that it is done in the target's memory where the user asks for
 * that; elsewhere the result does, if the fabric does not have what is asked for. */
static void check_completion(enum op_kind kind, uint64_t flags)
{
    const bool asked = flags & FI_DELIVERY_COMPLETE;
    if (asked && rules->placed_us)
        rules_broken("FI_DELIVERY_COMPLETE is asked for of an atomic operation, which this fabric "
                     "has not");
    if (!asked && (kind == OP_ATOMIC || !rules->placed_us))
        rules_broken("the end of an atomic operation does not say that it is done");
}

static ssize_t ep_atomic(struct fid_ep *fid, const void *buf, size_t count, void *desc,
                         fi_addr_t to, uint64_t addr, uint64_t key, enum fi_datatype datatype,
                         enum fi_op op, void *context)
{
    const struct atomic a = {buf,  NULL, NULL,     {desc}, count,   to,
                             addr, key,  datatype, op,     context, false};
    check_completion(OP_ATOMIC, 0);
    return atomic(fid, OP_ATOMIC, &a);
}

static struct atomic of_message(enum op_kind kind, const struct fi_msg_atomic *msg, uint64_t flags)
{
    const struct fi_ioc *ioc = msg->msg_iov;
    const struct fi_rma_ioc *remote = msg->rma_iov;
    if (msg->iov_count != 1 || msg->rma_iov_count != 1 || ioc->count != remote->count)
        rules_broken("an atomic operation in several pieces");
    check_completion(kind, flags);
    return (struct atomic){.buf = ioc->addr,
                           .desc = {msg->desc ? *msg->desc : NULL},
                           .count = ioc->count,
                           .to = msg->addr,
                           .addr = remote->addr,
                           .key = remote->key,
                           .datatype = msg->datatype,
                           .op = msg->op,
                           .context = msg->context};
}

static ssize_t ep_atomicmsg(struct fid_ep *fid, const struct fi_msg_atomic *msg, uint64_t flags)
{
    const struct atomic a = of_message(OP_ATOMIC, msg, flags);
    return atomic(fid, OP_ATOMIC, &a);
}

static ssize_t ep_fetchmsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
                           struct fi_ioc *result, void **desc, size_t n, uint64_t flags)
{
    struct atomic a = of_message(OP_FETCH, msg, flags);
    if (n != 1 || result->count != a.count)
        rules_broken("the result of an atomic operation in several pieces");
    a.result = result->addr;
    a.desc[2] = desc ? *desc : NULL;
    return atomic(fid, OP_FETCH, &a);
}

static ssize_t ep_swapmsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
                          const struct fi_ioc *compare, void **compare_desc, size_t ncompare,
                          struct fi_ioc *result, void **result_desc, size_t nresult, uint64_t flags)
{
    struct atomic a = of_message(OP_SWAP, msg, flags);
    if (ncompare != 1 || nresult != 1 || compare->count != a.count || result->count != a.count)
        rules_broken("the sides of an atomic operation are not in one piece");
    a.compare = compare->addr;
    a.result = result->addr;
    a.desc[1] = compare_desc ? *compare_desc : NULL;
    a.desc[2] = result_desc ? *result_desc : NULL;
    return atomic(fid, OP_SWAP, &a);
}

static ssize_t ep_inject_atomic(struct fid_ep *fid, const void *buf, size_t count, fi_addr_t to,
                                uint64_t addr, uint64_t key, enum fi_datatype datatype,
                                enum fi_op op)
{
    const struct atomic a = {buf,  NULL, NULL,     {NULL}, count, to,
                             addr, key,  datatype, op,     NULL,  true};
    check_completion(OP_ATOMIC, 0);
    return atomic(fid, OP_ATOMIC, &a);
}

static ssize_t ep_fetch(struct fid_ep *fid, const void *buf, size_t count, void *desc, void *result,
                        void *result_desc, fi_addr_t to, uint64_t addr, uint64_t key,
                        enum fi_datatype datatype, enum fi_op op, void *context)
{
    const struct atomic a = {buf,      NULL, result,  {desc, NULL, result_desc},
                             count,    to,   addr,    key,
                             datatype, op,   context, false};
    check_completion(OP_FETCH, 0);
    return atomic(fid, OP_FETCH, &a);
}

static ssize_t ep_swap(struct fid_ep *fid, const void *buf, size_t count, void *desc,
                       const void *compare, void *compare_desc, void *result, void *result_desc,
                       fi_addr_t to, uint64_t addr, uint64_t key, enum fi_datatype datatype,
                       enum fi_op op, void *context)
{
    const struct atomic a = {buf,      compare, result,  {desc, compare_desc, result_desc},
                             count,    to,      addr,    key,
                             datatype, op,      context, false};
    check_completion(OP_SWAP, 0);
    return atomic(fid, OP_SWAP, &a);
}

struct fi_ops_atomic atomic_call_ops = {.size = sizeof(struct fi_ops_atomic),
                                        .write = ep_atomic,
                                        .writemsg = ep_atomicmsg,
                                        .inject = ep_inject_atomic,
                                        .readwrite = ep_fetch,
                                        .readwritemsg = ep_fetchmsg,
                                        .compwrite = ep_swap,
                                        .compwritemsg = ep_swapmsg};
