/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_rma.c - puts, gets and atomic operations that the provider does by itself, and the memory
 * that they reach.
 *
 * Local memory. Where a card does everything, a put that is short enough is injected: the provider
 * takes the data over with the call. Otherwise memory is registered for the operation, where the
 * provider asks for that (FI_MR_LOCAL); but a short operation on a card uses a transmit buffer
 * instead, which is registered already.
 *
 * The end of a put. FI_DELIVERY_COMPLETE is asked for, so that the end says that the data is in
 * place. Some providers are known not to have this (nm->transmits): with them a get behind the put
 * tells that the data is in place (doc/network.md). Where the provider does not promise to keep
 * that order, the get waits here until the puts have ended.
 *
 * A put may carry a word (FI_REMOTE_CQ_DATA). The target's provider reports the word by an event of
 * its own behind the data (cq.c). Where it needs receive buffers for that, it has its own: a
 * provider that would take this library's buffers (FI_RX_CQ_DATA) is not chosen.
 *
 * Where the provider allows it, this file chooses the keys: 64 random bits, since whoever can
 * connect and knows the key reaches the memory.
 *
 * Locks: as nmofi.h says. Neighbours: cq.c, which brings completions; rma_under_way.c, what the
 * provider is given; ofi_atomic.c, for atomic operations.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "base/memcheck.h"
#include "netmod/ofi/ofi.h"
#include "netmod/ofi/ofi_rma.h"

/* Bytes at most of a put or get that uses a transmit buffer. */
enum { NM_COPIED = 8192 };

struct ch3_mem {
    struct fid_mr *mr;
};

/* nm_rma_done is called when the queue says that the provider has done with the operation. */
void nm_rma_done(struct nmofi *nm, struct nm_op *op, int err)
{
    struct nm_rma *rma = (struct nm_rma *)(void *)op;
    struct ch3_rdma *rdma = rma->rdma;
    struct nmofi_link *link = rma->link;
    if (rma->copy && rdma && !rdma->put && (!rdma->atomic || rdma->atomic->fetch) && !err)
        memcpy(rdma->local, rma->copy->bytes, rdma->len);
    list_remove(&rma->node);
    nm_rma_put(nm, rma);
    nm->events++;
    if (err)
        nm_link_break(link, "%s: %s",
                      rma->atomic ? "an atomic operation failed" : "a put or get did not arrive",
                      fi_strerror(err));
    if (rdma)
        rdma->done(rdma, err ? MRMA_ERR_PROC_FAILED : MRMA_SUCCESS);
}

static void note_unregistered(struct nmofi *nm)
{
    if (nm->stats.unregistered++ == 0)
        log_msg(nm->opts.log, LOG_LEVEL_INFO,
                "network: memory for a put or get cannot be registered (ulimit -l): packets go");
}

static bool asks_for_local(const struct nmofi *nm)
{
    return nm->info->domain_attr->mr_mode & FI_MR_LOCAL;
}

size_t nm_rma_inject(const struct nmofi *nm)
{
    const size_t copied = asks_for_local(nm) ? NM_COPIED : 0;
    if (!nm->card)
        return 0;
    return copied > nm->inject_max ? copied : nm->inject_max;
}

static bool is_injected(const struct nmofi *nm, const struct ch3_rdma *op)
{
    return nm->card && op->put && op->len <= nm->inject_max;
}

/* prepare_local makes the local memory ready for the provider. MRMA_AGAIN: that is impossible now;
 * MRMA_ERR_NO_MEM: it is impossible. */
static int prepare_local(struct nmofi *nm, struct nm_rma *rma, const struct ch3_rdma *op)
{
    if (op->atomic) {
        rma->copy = nm_atomic_copy(nm, op);
        return rma->copy ? MRMA_SUCCESS : MRMA_AGAIN;
    }
    if (!asks_for_local(nm) || is_injected(nm, op))
        return MRMA_SUCCESS;
    if (nm->card && op->len <= NM_COPIED) {
        rma->copy = nm_tx_get(nm, op->len);
        if (rma->copy && op->put)
            memcpy(rma->copy->bytes, op->local, op->len);
        return rma->copy ? MRMA_SUCCESS : MRMA_AGAIN;
    }
    if (fi_mr_reg(nm->domain, op->local, op->len, op->put ? FI_WRITE : FI_READ, 0, 0, 0, &rma->mr,
                  NULL) == 0)
        return MRMA_SUCCESS;
    rma->mr = NULL;
    note_unregistered(nm);
    return MRMA_ERR_NO_MEM;
}

static bool has_puts(const struct nmofi_link *link)
{
    LIST_EACH (it, &link->rdma_ops)
        if (LIST_ENTRY(it, struct nm_rma, node)->put)
            return true;
    return false;
}

/* must_wait returns whether a get that confirms puts must wait until these have ended. */
static bool must_wait(const struct nmofi *nm, const struct nmofi_link *link,
                      const struct ch3_rdma *op)
{
    const uint64_t order = nm->info->tx_attr->msg_order & nm->info->rx_attr->msg_order;
    return op->behind && !(order & FI_ORDER_RAW) && has_puts(link);
}

static ssize_t start(struct nmofi *nm, struct nm_rma *rma, const struct ch3_rdma *op)
{
    void *desc = rma->mr ? fi_mr_desc(rma->mr) : rma->copy ? rma->copy->desc : NULL;
    void *local = rma->copy ? rma->copy->bytes : op->local;
    const fi_addr_t to = rma->link->addr;
    if (op->atomic)
        return nm_atomic_start(nm, op, rma->copy, to, &rma->op);
    if (!op->put)
        return fi_read(nm->ep, local, op->len, desc, to, op->remote, op->key, &rma->op);
    const uint64_t inject = is_injected(nm, op) ? FI_INJECT : 0,
                   end = nm->transmits ? FI_TRANSMIT_COMPLETE : FI_DELIVERY_COMPLETE;
    const struct iovec iov = {local, op->len};
    const struct fi_rma_iov rma_iov = {op->remote, op->len, op->key};
    const struct fi_msg_rma msg = {.msg_iov = &iov,
                                   .desc = &desc,
                                   .iov_count = 1,
                                   .addr = to,
                                   .rma_iov = &rma_iov,
                                   .rma_iov_count = 1,
                                   .context = &rma->op,
                                   .data = op->word};
    const uint64_t word = op->with_word ? FI_REMOTE_CQ_DATA : 0;
    return fi_writemsg(nm->ep, &msg, FI_COMPLETION | end | inject | word);
}

/* refused is called when the provider has not taken the operation. */
static int refused(struct nmofi_link *link, const struct ch3_rdma *op, int ret)
{
    if (ret == FI_EAGAIN)
        return MRMA_AGAIN;
    if (op->atomic && (ret == FI_EOPNOTSUPP || ret == FI_ENOSYS))
        return log_fail(link->nm->opts.log, MRMA_ERR_OTHER,
                        "libfabric: an atomic operation that is said to be there is not: %s",
                        fi_strerror(ret));
    nm_link_break(link, "cannot put or get: %s", fi_strerror(ret));
    return MRMA_ERR_PROC_FAILED;
}

int nm_rdma(struct ch3_channel *ch, struct ch3_vc *vc, struct ch3_rdma *op)
{
    struct nmofi *nm = nm_of(ch);
    struct nmofi_link *link =
        vc ? nm_link_get(ch3_vc_channel_data(vc), vc, false) : nm_link_own(nm);
    if (link && link->lost)
        return MRMA_ERR_PROC_FAILED;
    const bool may = link && link->greeted && list_empty(&link->waiting);
    struct nm_rma *rma = may && !must_wait(nm, link, op) ? nm_rma_get(nm) : NULL;
    if (!rma)
        return MRMA_AGAIN;
    rma->link = link;
    rma->put = op->put;
    rma->atomic = op->atomic;
    const int err = prepare_local(nm, rma, op);
    if (err) {
        nm_rma_put(nm, rma);
        return err;
    }
    memcheck_pause();
    const ssize_t ret = start(nm, rma, op);
    memcheck_resume();
    if (ret) {
        nm_rma_put(nm, rma);
        return refused(link, op, (int)-ret);
    }
    rma->rdma = op;
    list_push_back(&link->rdma_ops, &rma->node);
    *(op->atomic ? &nm->stats.rdma_atomics
      : op->put  ? &nm->stats.rdma_puts
                 : &nm->stats.rdma_gets) += 1;
    nm->stats.rdma_words += op->with_word;
    nm->stats.rdma_bytes += op->len;
    return MRMA_SUCCESS;
}

int nm_mem_register(struct ch3_channel *ch, void *base, size_t len, struct ch3_mem_key *key,
                    struct ch3_mem **out)
{
    struct nmofi *nm = nm_of(ch);
    const int mode = nm->info->domain_attr->mr_mode;
    uint64_t random = 0;
    struct ch3_mem *mem = calloc(1, sizeof *mem);
    if (!mem)
        return MRMA_ERR_NO_MEM;
    if (getrandom(&random, sizeof random, 0) != sizeof random) {
        free(mem);
        return log_fail(nm->opts.log, MRMA_ERR_OTHER, "no random numbers for a memory key");
    }
    int ret = fi_mr_reg(nm->domain, base, len, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, random, 0,
                        &mem->mr, NULL);
    if (!ret && (mode & FI_MR_ENDPOINT)) {
        ret = fi_mr_bind(mem->mr, &nm->ep->fid, 0);
        if (!ret)
            ret = fi_mr_enable(mem->mr);
        if (ret)
            fi_close(&mem->mr->fid);
    }
    if (ret) {
        free(mem);
        return log_fail(nm->opts.log, ret == -FI_ENOMEM ? MRMA_ERR_NO_MEM : MRMA_ERR_OTHER,
                        "libfabric: %zu bytes cannot be registered: %s", len, fi_strerror(-ret));
    }
    *key = (struct ch3_mem_key){fi_mr_key(mem->mr),
                                mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)base : 0};
    *out = mem;
    return MRMA_SUCCESS;
}

void nm_mem_release(struct ch3_channel *ch, struct ch3_mem *mem)
{
    (void)ch;
    fi_close(&mem->mr->fid);
    free(mem);
}
