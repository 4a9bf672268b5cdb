/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint.c - the endpoint and its calls for messages, remote memory and atomics.
 *
 * Each call is looked at by the profile's rules, made into a struct op and submitted to the card.
 * A call that breaks a rule is a violation, and fails where violations are only counted.
 *
 * Locks: the domain's. Neighbours: card.c, which has the operations from here on; memory.c.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "test/fabric/objects.h"

static struct endpoint *of(struct fid_ep *fid)
{
    return (struct endpoint *)(void *)fid;
}

/* ---- operations ---- */

/* copied: bytes that the operation takes with it. */
static struct op *op_new(struct fid_ep *fid, enum op_kind kind, void *context, size_t copied)
{
    struct op *op = calloc(1, sizeof *op + copied);
    if (!op)
        abort();
    op->ep = of(fid);
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

/* Takes the pieces of local memory over. */
static bool take_pieces(struct op *op, const struct iovec *iov, void **desc, size_t n)
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

static bool take_copy(struct op *op, const void *buf, size_t len)
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

static bool take_remote(struct op *op, const struct fi_rma_iov *rma, size_t n)
{
    if (n != 1 || rma->len != op->len) {
        rules_broken("%zu pieces of remote memory, where one of the same length is allowed", n);
        return false;
    }
    op->addr = rma->addr;
    op->key = rma->key;
    return true;
}

static bool take_target(struct op *op, fi_addr_t to)
{
    op->to = vector_uid(op->ep->av, to);
    if (!op->to)
        rules_broken("an address that was not inserted");
    return op->to;
}

/* legal: whether it has passed the rules so far. */
static ssize_t submit(struct op *op, bool legal)
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

/* ---- messages ---- */

static ssize_t ep_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
    struct op *op = op_new(fid, OP_RECV, msg->context, 0);
    domain_enter(of(fid)->domain);
    COUNT(receives);
    op->flags = flags;
    const ssize_t ret = submit(op, take_pieces(op, msg->msg_iov, msg->desc, msg->iov_count));
    domain_leave(of(fid)->domain);
    return ret;
}

static ssize_t ep_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
    struct op *op = op_new(fid, OP_SEND, msg->context, 0);
    domain_enter(of(fid)->domain);
    op->flags = FI_SEND | FI_MSG | (flags & FI_DELIVERY_COMPLETE);
    const ssize_t ret = submit(op, take_pieces(op, msg->msg_iov, msg->desc, msg->iov_count) &&
                                       take_target(op, msg->addr));
    if (!ret)
        COUNT(sends);
    domain_leave(of(fid)->domain);
    return ret;
}

static ssize_t ep_send(struct fid_ep *fid, const void *buf, size_t len, void *desc, fi_addr_t to,
                       void *context)
{
    const struct iovec iov = {(void *)(uintptr_t)buf, len};
    const struct fi_msg msg = {
        .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = to, .context = context};
    return ep_sendmsg(fid, &msg, 0);
}

static ssize_t ep_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t to)
{
    struct op *op = op_new(fid, OP_SEND, NULL, len);
    domain_enter(of(fid)->domain);
    const ssize_t ret = submit(op, take_copy(op, buf, len) && take_target(op, to));
    if (!ret)
        COUNT(injects);
    domain_leave(of(fid)->domain);
    return ret;
}

/* ---- remote memory ---- */

static void count_transfer(enum op_kind kind, bool injected)
{
    if (kind == OP_READ) {
        COUNT(reads);
        return;
    }
    COUNT(writes);
    if (injected)
        COUNT(injected_writes);
}

/* What the target is told of the write. */
static bool take_word(struct op *op, const struct fi_msg_rma *msg, uint64_t flags)
{
    op->with_word = flags & FI_REMOTE_CQ_DATA;
    op->word = msg->data;
    if (!op->with_word)
        return true;
    if (op->kind == OP_WRITE && rules->words &&
        (rules->cq_data >= sizeof op->word || op->word >> 8 * rules->cq_data == 0))
        return true;
    rules_broken("a write has data for the target's queue with it, which this fabric has not");
    return false;
}

/* The end of a write that leaves with the call is told all the same. */
static bool take_data(struct op *op, const struct fi_msg_rma *msg, uint64_t flags)
{
    if (op->kind == OP_WRITE && (flags & FI_DELIVERY_COMPLETE) && rules->placed_us) {
        rules_broken("FI_DELIVERY_COMPLETE is asked for of a write, which this fabric has not");
        return false;
    }
    if (!(flags & FI_INJECT))
        return take_pieces(op, msg->msg_iov, msg->desc, msg->iov_count);
    const bool taken =
        msg->iov_count == 1 && take_copy(op, msg->msg_iov[0].iov_base, msg->msg_iov[0].iov_len);
    op->silent = false;
    return taken;
}

static ssize_t transfer(struct fid_ep *fid, enum op_kind kind, const struct fi_msg_rma *msg,
                        uint64_t flags)
{
    const bool injected = flags & FI_INJECT;
    struct op *op = op_new(fid, kind, msg->context, injected ? msg->msg_iov[0].iov_len : 0);
    domain_enter(of(fid)->domain);
    op->flags = FI_RMA | (kind == OP_WRITE ? FI_WRITE : FI_READ) | (flags & FI_DELIVERY_COMPLETE);
    const ssize_t ret = submit(op, take_word(op, msg, flags) && take_data(op, msg, flags) &&
                                       take_remote(op, msg->rma_iov, msg->rma_iov_count) &&
                                       take_target(op, msg->addr));
    if (!ret)
        count_transfer(kind, injected);
    if (!ret && flags & FI_REMOTE_CQ_DATA)
        COUNT(writes_with_word);
    domain_leave(of(fid)->domain);
    return ret;
}

static ssize_t ep_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
    return transfer(fid, OP_READ, msg, flags);
}

static ssize_t ep_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
    return transfer(fid, OP_WRITE, msg, flags);
}

static ssize_t transfer_one(struct fid_ep *fid, enum op_kind kind, void *buf, size_t len,
                            void *desc, fi_addr_t to, struct fi_rma_iov rma, void *context)
{
    const struct iovec iov = {buf, len};
    const struct fi_msg_rma msg = {.msg_iov = &iov,
                                   .desc = &desc,
                                   .iov_count = 1,
                                   .addr = to,
                                   .rma_iov = &rma,
                                   .rma_iov_count = 1,
                                   .context = context};
    return transfer(fid, kind, &msg, 0);
}

static ssize_t ep_read(struct fid_ep *fid, void *buf, size_t len, void *desc, fi_addr_t from,
                       uint64_t addr, uint64_t key, void *context)
{
    return transfer_one(fid, OP_READ, buf, len, desc, from, (struct fi_rma_iov){addr, len, key},
                        context);
}

static ssize_t ep_write(struct fid_ep *fid, const void *buf, size_t len, void *desc, fi_addr_t to,
                        uint64_t addr, uint64_t key, void *context)
{
    return transfer_one(fid, OP_WRITE, (void *)(uintptr_t)buf, len, desc, to,
                        (struct fi_rma_iov){addr, len, key}, context);
}

static ssize_t ep_inject_write(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t to,
                               uint64_t addr, uint64_t key)
{
    const struct fi_rma_iov rma = {addr, len, key};
    struct op *op = op_new(fid, OP_WRITE, NULL, len);
    domain_enter(of(fid)->domain);
    const ssize_t ret =
        submit(op, take_copy(op, buf, len) && take_remote(op, &rma, 1) && take_target(op, to));
    if (!ret)
        count_transfer(OP_WRITE, true);
    domain_leave(of(fid)->domain);
    return ret;
}

/* ---- atomics ---- */

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
    domain_enter(of(fid)->domain);
    const ssize_t ret = submit(op, take_atomic(op, a));
    if (!ret)
        COUNT(atomics);
    domain_leave(of(fid)->domain);
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

/* ---- the endpoint ---- */

static int ep_setopt(fid_t fid, int level, int name, const void *value, size_t len)
{
    struct endpoint *ep = (struct endpoint *)(void *)fid;
    if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV || len != sizeof ep->min_multi)
        return -FI_ENOPROTOOPT;
    memcpy(&ep->min_multi, value, len);
    return 0;
}

static int ep_getname(fid_t fid, void *addr, size_t *len)
{
    const struct endpoint *ep = (struct endpoint *)(void *)fid;
    const size_t need = rules->name_len + (size_t)(ep->uid % 4) * rules->uneven;
    const struct wire_name name = {ep->uid, ep->domain->card};
    unsigned char *bytes = addr;
    const size_t room = *len;
    *len = need;
    if (room < need)
        return -FI_ETOOSMALL;
    for (size_t i = 0; i < need; i++)
        bytes[i] = (unsigned char)i;
    memcpy(bytes, &name, sizeof name);
    return 0;
}

static int ep_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    struct endpoint *ep = (struct endpoint *)(void *)fid;
    if (to->fclass == FI_CLASS_AV) {
        ep->av = (struct vector *)(void *)to;
        return 0;
    }
    if (to->fclass != FI_CLASS_CQ || flags != (FI_SEND | FI_RECV))
        return -FI_ENOSYS;
    ep->cq = (struct queue *)(void *)to;
    return 0;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
    struct endpoint *ep = (struct endpoint *)(void *)fid;
    (void)arg;
    if (command != FI_ENABLE)
        return -FI_ENOSYS;
    if (!ep->av || !ep->cq) {
        rules_broken("an endpoint is enabled without queue and addresses");
        return -FI_EINVAL;
    }
    rules_of_environment(rules);
    domain_enter(ep->domain);
    const int ret = wire_listen(ep);
    ep->enabled = !ret;
    card_kick(ep->domain);
    domain_leave(ep->domain);
    return ret;
}

static bool has_memory(const struct endpoint *ep)
{
    LIST_EACH (it, &ep->domain->memory)
        if (LIST_ENTRY(it, struct memory, node)->bound == ep)
            return true;
    return false;
}

/* What is not over, and what nobody has received. */
static void forget(struct endpoint *ep)
{
    struct list_node *node;
    while ((node = list_first(&ep->ops)) != NULL)
        op_free(LIST_ENTRY(node, struct op, node));
    while ((node = list_pop_front(&ep->unexpected)) != NULL ||
           (node = list_pop_front(&ep->held)) != NULL)
        free(LIST_ENTRY(node, struct chunk, node));
}

static int ep_close(struct fid *fid)
{
    struct endpoint *ep = (struct endpoint *)(void *)fid;
    struct domain *d = ep->domain;
    domain_enter(d);
    if (ep->owed)
        rules_broken("an endpoint is closed with %u completions to come", ep->owed);
    if (has_memory(ep))
        rules_broken("an endpoint is closed before memory that is bound to it");
    wire_close(ep);
    list_remove(&ep->node);
    forget(ep);
    if (ep->cq)
        queue_forget(ep->cq, ep);
    domain_leave(d);
    free(ep);
    return 0;
}

static struct fi_ops ep_fid_ops = {
    .size = sizeof(struct fi_ops), .close = ep_close, .bind = ep_bind, .control = ep_control};
static struct fi_ops_ep ep_ops = {.size = sizeof(struct fi_ops_ep), .setopt = ep_setopt};
static struct fi_ops_cm cm_ops = {.size = sizeof(struct fi_ops_cm), .getname = ep_getname};
static struct fi_ops_msg msg_ops = {.size = sizeof(struct fi_ops_msg),
                                    .recvmsg = ep_recvmsg,
                                    .send = ep_send,
                                    .sendmsg = ep_sendmsg,
                                    .inject = ep_inject};
static struct fi_ops_rma rma_ops = {.size = sizeof(struct fi_ops_rma),
                                    .read = ep_read,
                                    .readmsg = ep_readmsg,
                                    .write = ep_write,
                                    .writemsg = ep_writemsg,
                                    .inject = ep_inject_write};
static struct fi_ops_atomic atomic_ops = {.size = sizeof(struct fi_ops_atomic),
                                          .write = ep_atomic,
                                          .writemsg = ep_atomicmsg,
                                          .inject = ep_inject_atomic,
                                          .readwrite = ep_fetch,
                                          .readwritemsg = ep_fetchmsg,
                                          .compwrite = ep_swap,
                                          .compwritemsg = ep_swapmsg};

int domain_endpoint(struct fid_domain *fid, struct fi_info *info, struct fid_ep **out,
                    void *context)
{
    struct domain *d = (struct domain *)(void *)fid;
    struct endpoint *ep = calloc(1, sizeof *ep);
    (void)info;
    if (!ep)
        return -FI_ENOMEM;
    ep->domain = d;
    ep->listener = -1;
    if (getrandom(&ep->uid, sizeof ep->uid, 0) != sizeof ep->uid) {
        free(ep);
        return -FI_ENODATA;
    }
    ep->fid.fid = (struct fid){.fclass = FI_CLASS_EP, .context = context, .ops = &ep_fid_ops};
    ep->fid.ops = &ep_ops;
    ep->fid.cm = &cm_ops;
    ep->fid.msg = &msg_ops;
    ep->fid.rma = &rma_ops;
    ep->fid.atomic = &atomic_ops;
    list_init(&ep->ops);
    list_init(&ep->held);
    list_init(&ep->wires);
    list_init(&ep->unexpected);
    domain_enter(d);
    list_push_back(&d->endpoints, &ep->node);
    domain_leave(d);
    *out = &ep->fid;
    return 0;
}
