/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transfers.c - the endpoint's calls for messages and for remote memory.
 *
 * Locks: the domain's. Neighbours: call.h.
 */
#include "test/fabric/call.h"

/* ---- messages ---- */

static ssize_t ep_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
    struct op *op = op_new(fid, OP_RECV, msg->context, 0);
    domain_enter(endpoint_of(fid)->domain);
    COUNT(receives);
    op->flags = flags;
    const ssize_t ret = submit(op, take_pieces(op, msg->msg_iov, msg->desc, msg->iov_count));
    domain_leave(endpoint_of(fid)->domain);
    return ret;
}

static ssize_t ep_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
    struct op *op = op_new(fid, OP_SEND, msg->context, 0);
    domain_enter(endpoint_of(fid)->domain);
    op->flags = FI_SEND | FI_MSG | (flags & FI_DELIVERY_COMPLETE);
    const ssize_t ret = submit(op, take_pieces(op, msg->msg_iov, msg->desc, msg->iov_count) &&
                                       take_target(op, msg->addr));
    if (!ret)
        COUNT(sends);
    domain_leave(endpoint_of(fid)->domain);
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
    domain_enter(endpoint_of(fid)->domain);
    const ssize_t ret = submit(op, take_copy(op, buf, len) && take_target(op, to));
    if (!ret)
        COUNT(injects);
    domain_leave(endpoint_of(fid)->domain);
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
    domain_enter(endpoint_of(fid)->domain);
    op->flags = FI_RMA | (kind == OP_WRITE ? FI_WRITE : FI_READ) | (flags & FI_DELIVERY_COMPLETE);
    const ssize_t ret = submit(op, take_word(op, msg, flags) && take_data(op, msg, flags) &&
                                       take_remote(op, msg->rma_iov, msg->rma_iov_count) &&
                                       take_target(op, msg->addr));
    if (!ret)
        count_transfer(kind, injected);
    if (!ret && flags & FI_REMOTE_CQ_DATA)
        COUNT(writes_with_word);
    domain_leave(endpoint_of(fid)->domain);
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
    domain_enter(endpoint_of(fid)->domain);
    const ssize_t ret =
        submit(op, take_copy(op, buf, len) && take_remote(op, &rma, 1) && take_target(op, to));
    if (!ret)
        count_transfer(OP_WRITE, true);
    domain_leave(endpoint_of(fid)->domain);
    return ret;
}

/* ---- for the endpoint ---- */

struct fi_ops_msg transfer_msg_ops = {.size = sizeof(struct fi_ops_msg),
                                      .recvmsg = ep_recvmsg,
                                      .send = ep_send,
                                      .sendmsg = ep_sendmsg,
                                      .inject = ep_inject};
struct fi_ops_rma transfer_rma_ops = {.size = sizeof(struct fi_ops_rma),
                                      .read = ep_read,
                                      .readmsg = ep_readmsg,
                                      .write = ep_write,
                                      .writemsg = ep_writemsg,
                                      .inject = ep_inject_write};
