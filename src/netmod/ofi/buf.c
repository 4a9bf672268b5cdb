/*
 * buf.c - transmit buffers of two sizes, made in slabs as they are needed and kept;
 * receive buffers that many messages share.
 *
 * Receive buffers must not run out on a provider that reads sockets itself: 1.17's "net" stops listening to a
 * peer for whose message it finds none, and never begins again when more are posted (it looks through its list
 * of tagged messages instead). In one call it reads at most one large message of a peer, and small ones of a few
 * KiB; there are at most two calls before their completions are read (cq.c: calm) and buffers that are
 * full posted again. A buffer holds 95 KiB before it is returned. So two buffers a link are twice what comes.
 *
 * Everything lies in registered memory if the provider asks for it (FI_MR_LOCAL).
 * All is freed after the endpoint is closed, when the provider has forgotten it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "netmod/ofi/ofi.h"

enum { ALIGN = 64 };

struct slab {
    struct list_node node;
    struct fid_mr *mr;
    void *memory;
};

static int register_local(struct nmofi *nm, void *memory, size_t len, struct fid_mr **mr)
{
    *mr = NULL;
    if (!(nm->info->domain_attr->mr_mode & FI_MR_LOCAL))
        return 0;
    return fi_mr_reg(nm->domain, memory, len, FI_SEND | FI_RECV, 0, 0, 0, mr, NULL);
}

static size_t tx_size(bool small)
{
    const size_t bytes = small ? NM_SMALL : nm_pad(NM_MSG_MAX);
    return (sizeof(struct nm_tx) + bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static bool add_slab(struct nmofi *nm, bool small)
{
    const size_t size = tx_size(small);
    struct slab *slab = NULL;
    if (nm->ntx_slabs[small] >= NM_TX_SLABS || !(slab = calloc(1, sizeof *slab)))
        return false;
    slab->memory = aligned_alloc(ALIGN, NM_TX_SLAB * size);
    if (!slab->memory || register_local(nm, slab->memory, NM_TX_SLAB * size, &slab->mr)) {
        free(slab->memory);
        free(slab);
        return false;
    }
    nm->ntx_slabs[small]++;
    nm->stats.buffer_bytes += NM_TX_SLAB * size;
    list_push_back(&nm->tx_slabs, &slab->node);
    for (int i = 0; i < NM_TX_SLAB; i++) {
        struct nm_tx *tx = (struct nm_tx *)(void *)((char *)slab->memory + (size_t)i * size);
        *tx = (struct nm_tx){.op.kind = NM_OP_TX, .small = small, .desc = slab->mr ? fi_mr_desc(slab->mr) : NULL};
        list_push_back(&nm->tx_free[small], &tx->node);
    }
    return true;
}

struct nm_tx *nm_tx_get(struct nmofi *nm, size_t len)
{
    const bool small = len <= NM_SMALL;
    if (list_empty(&nm->tx_free[small]) && !add_slab(nm, small))
        return NULL;
    return LIST_ENTRY(list_pop_front(&nm->tx_free[small]), struct nm_tx, node);
}

void nm_tx_put(struct nmofi *nm, struct nm_tx *tx)
{
    tx->link = NULL;
    list_push_front(&nm->tx_free[tx->small], &tx->node);
}

/* One that is not taken is tried again by a later poll. */
void nm_rx_post(struct nmofi *nm, struct nm_rx *rx)
{
    struct iovec iov = {rx->bytes, NM_RX_BYTES};
    void *desc = rx->mr ? fi_mr_desc(rx->mr) : NULL;
    const struct fi_msg msg = {
        .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &rx->op};
    if (list_node_queued(&rx->waiting))
        list_remove(&rx->waiting);
    if (fi_recvmsg(nm->ep, &msg, FI_MULTI_RECV))
        list_push_back(&nm->rx_waiting, &rx->waiting);
}

static void rx_free(struct nm_rx *rx)
{
    if (rx->mr)
        fi_close(&rx->mr->fid);
    free(rx->bytes);
    free(rx);
}

static bool add_rx(struct nmofi *nm)
{
    struct nm_rx *rx = calloc(1, sizeof *rx);
    if (!rx)
        return false;
    rx->op.kind = NM_OP_RX;
    rx->bytes = aligned_alloc(4096, NM_RX_BYTES);
    if (!rx->bytes || register_local(nm, rx->bytes, NM_RX_BYTES, &rx->mr)) {
        rx_free(rx);
        return false;
    }
    nm->nrx++;
    nm->stats.buffer_bytes += NM_RX_BYTES;
    list_push_back(&nm->rx, &rx->node);
    nm_rx_post(nm, rx);
    return true;
}

int nm_rx_start(struct nmofi *nm)
{
    while (nm->nrx < NM_RX_BUFFERS)
        if (!add_rx(nm))
            return log_fail(nm->opts.log, MRMA_ERR_NO_MEM, "libfabric: no memory for receive buffers, or none that "
                                                           "may be registered");
    if (!list_empty(&nm->rx_waiting))
        return log_fail(nm->opts.log, MRMA_ERR_OTHER, "libfabric: receive buffers are not accepted");
    return MRMA_SUCCESS;
}

bool nm_rx_grow(struct nmofi *nm, uint64_t links)
{
    const uint64_t want = links ? NM_RX_BUFFERS + NM_RX_PER_LINK * (links - 1) : 0;
    while (nm->software && nm->nrx < want && nm->nrx < NM_RX_MOST)
        if (!add_rx(nm))
            return false;
    return true;
}

void nm_buf_end(struct nmofi *nm)
{
    struct list_node *node;
    while ((node = list_pop_front(&nm->tx_slabs)) != NULL) {
        struct slab *slab = LIST_ENTRY(node, struct slab, node);
        if (slab->mr)
            fi_close(&slab->mr->fid);
        free(slab->memory);
        free(slab);
    }
    while ((node = list_pop_front(&nm->rx)) != NULL)
        rx_free(LIST_ENTRY(node, struct nm_rx, node));
}
