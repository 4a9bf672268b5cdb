/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_atomic.c - atomic operations that the provider does by itself: which there are, and how each
 * is started.
 *
 * The result comes to a transmit buffer, which is registered where the provider asks for that, and
 * the operands lie behind the result in the same buffer; so the user's memory is not used after the
 * call.
 *
 * The end of an operation says that it is done in the target's memory: FI_DELIVERY_COMPLETE is
 * asked for, also for operations with a result, as a card may answer before the new value is in
 * memory. Where a provider does not have it (nm->transmits), the result tells that the operation is
 * done; so there an operation without a result is a fetch whose result is dropped.
 *
 * The order of operations on the same bytes is believed only where the provider promises it for as
 * many bytes as one operation may have (max_order_*_size). For reads behind reads there is no such
 * size.
 *
 * No state. Locks: as nmofi.h says. Neighbours: ofi_rma.c, whose operations these are.
 */
#include <rdma/fi_atomic.h>
#include <string.h>

#include "netmod/ofi/ofi.h"
#include "netmod/ofi/ofi_rma.h"

enum {
    NM_ATOMIC_BYTES = 1024
}; /* bytes of one operation at most; its message may have three times as many */

static const enum fi_op ops[CH3_ATOMIC_OPS] = {
    [CH3_ATOMIC_CAS] = FI_CSWAP,         [CH3_ATOMIC_SUM] = FI_SUM,
    [CH3_ATOMIC_PROD] = FI_PROD,         [CH3_ATOMIC_MIN] = FI_MIN,
    [CH3_ATOMIC_MAX] = FI_MAX,           [CH3_ATOMIC_LAND] = FI_LAND,
    [CH3_ATOMIC_LOR] = FI_LOR,           [CH3_ATOMIC_LXOR] = FI_LXOR,
    [CH3_ATOMIC_BAND] = FI_BAND,         [CH3_ATOMIC_BOR] = FI_BOR,
    [CH3_ATOMIC_BXOR] = FI_BXOR,         [CH3_ATOMIC_REPLACE] = FI_ATOMIC_WRITE,
    [CH3_ATOMIC_NO_OP] = FI_ATOMIC_READ,
};

static const struct {
    enum fi_datatype type;
    size_t size;
} types[CH3_ATOMIC_TYPES] = {
    [CH3_ATOMIC_I8] = {FI_INT8, 1},   [CH3_ATOMIC_U8] = {FI_UINT8, 1},
    [CH3_ATOMIC_I16] = {FI_INT16, 2}, [CH3_ATOMIC_U16] = {FI_UINT16, 2},
    [CH3_ATOMIC_I32] = {FI_INT32, 4}, [CH3_ATOMIC_U32] = {FI_UINT32, 4},
    [CH3_ATOMIC_I64] = {FI_INT64, 8}, [CH3_ATOMIC_U64] = {FI_UINT64, 8},
    [CH3_ATOMIC_F32] = {FI_FLOAT, 4}, [CH3_ATOMIC_F64] = {FI_DOUBLE, 8},
};

/* is_op returns whether op is an operation. The numbers between the first and the last operation
 * include MPI's operations on pairs, which no provider knows. */
static bool is_op(int op)
{
    return op <= CH3_ATOMIC_BXOR || op >= CH3_ATOMIC_REPLACE;
}

/* most returns how many elements the provider takes at once; 0: it does not have the operation. */
static size_t most(const struct nmofi *nm, int op, int type, uint64_t flags)
{
    struct fi_atomic_attr attr = {.count = 0};
    if (fi_query_atomic(nm->domain, types[type].type, ops[op], &attr, flags) != 0 ||
        attr.size != types[type].size)
        return 0;
    return attr.count;
}

static void query_type(const struct nmofi *nm, int type, struct ch3_atomics *out)
{
    size_t max = NM_ATOMIC_BYTES / types[type].size;
    for (int op = 0; op < CH3_ATOMIC_OPS; op++) {
        const bool cas = op == CH3_ATOMIC_CAS;
        const size_t n =
            is_op(op) ? most(nm, op, type, cas ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC) : 0;
        if (!n)
            continue;
        out->ops[type] |= (uint16_t)(1 << op);
        max = n < max ? n : max;
        const bool blind = !cas && op != CH3_ATOMIC_NO_OP && !nm->transmits;
        if (blind && most(nm, op, type, 0) >= n)
            out->blind[type] |= (uint16_t)(1 << op);
    }
    out->max[type] = (uint16_t)max;
}

static uint16_t order_of(const struct fi_info *info)
{
    const uint64_t order = info->tx_attr->msg_order & info->rx_attr->msg_order;
    const struct fi_ep_attr *ep = info->ep_attr;
    unsigned bits = order & (FI_ORDER_RAR | FI_ORDER_ATOMIC_RAR) ? CH3_ATOMIC_RAR : 0;
    if (order & (FI_ORDER_WAR | FI_ORDER_ATOMIC_WAR) && ep->max_order_war_size >= NM_ATOMIC_BYTES)
        bits |= CH3_ATOMIC_WAR;
    if (order & (FI_ORDER_RAW | FI_ORDER_ATOMIC_RAW) && ep->max_order_raw_size >= NM_ATOMIC_BYTES)
        bits |= CH3_ATOMIC_RAW;
    if (order & (FI_ORDER_WAW | FI_ORDER_ATOMIC_WAW) && ep->max_order_waw_size >= NM_ATOMIC_BYTES)
        bits |= CH3_ATOMIC_WAW;
    return (uint16_t)bits;
}

void nm_atomics_query(const struct nmofi *nm, struct ch3_atomics *out)
{
    *out = (struct ch3_atomics){.order = 0};
    if (!(nm->info->caps & FI_ATOMIC))
        return;
    for (int type = 0; type < CH3_ATOMIC_TYPES; type++)
        query_type(nm, type, out);
    out->order = order_of(nm->info);
}

struct nm_tx *nm_atomic_copy(struct nmofi *nm, const struct ch3_rdma *op)
{
    const struct ch3_atomic *a = op->atomic;
    struct nm_tx *copy = nm_tx_get(nm, 3 * op->len);
    if (copy && a->operand)
        memcpy(copy->bytes + op->len, a->operand, op->len);
    if (copy && a->compare)
        memcpy(copy->bytes + 2 * op->len, a->compare, op->len);
    return copy;
}

ssize_t nm_atomic_start(const struct nmofi *nm, const struct ch3_rdma *op, struct nm_tx *copy,
                        fi_addr_t to, void *context)
{
    const struct ch3_atomic *a = op->atomic;
    const size_t n = op->len / types[a->type].size;
    const struct fi_ioc operand = {copy->bytes + op->len, n};
    const struct fi_ioc compare = {copy->bytes + 2 * op->len, n};
    struct fi_ioc result = {copy->bytes, n};
    const struct fi_rma_ioc remote = {op->remote, n, op->key};
    const struct fi_msg_atomic msg = {.msg_iov = &operand,
                                      .desc = &copy->desc,
                                      .iov_count = 1,
                                      .addr = to,
                                      .rma_iov = &remote,
                                      .rma_iov_count = 1,
                                      .datatype = types[a->type].type,
                                      .op = ops[a->op],
                                      .context = context};
    const uint64_t flags = FI_COMPLETION | (nm->transmits ? 0 : FI_DELIVERY_COMPLETE);
    if (a->op == CH3_ATOMIC_CAS)
        return fi_compare_atomicmsg(nm->ep, &msg, &compare, &copy->desc, 1, &result, &copy->desc, 1,
                                    flags);
    if (!a->fetch && nm->channel.atomics.blind[a->type] >> a->op & 1)
        return fi_atomicmsg(nm->ep, &msg, flags);
    return fi_fetch_atomicmsg(nm->ep, &msg, &result, &copy->desc, 1, flags);
}
