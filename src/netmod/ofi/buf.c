/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buf.c - transmit buffers of two sizes, made in slabs as they are needed and kept;
 * receive buffers that many messages share.
 *
 * Receive buffers must not run out on a provider that reads sockets itself: 1.17's "net" stops
 * listening to a peer for whose message it finds none, and never begins again when more are posted
 * (it looks through its list of tagged messages instead). In one call it reads at most one large
 * message of a peer, and small ones of a few KiB; at most two calls pass before their completions
 * are read (cq.c: rearm) and full buffers are posted again. A buffer holds 95 KiB before it is
 * returned. So two buffers for each link are twice what can come. Hardware waits, or has room of
 * its own, where no buffer is posted; there one buffer serves several links.
 *
 * A receive buffer is posted again when the provider says that it is used up (FI_MULTI_RECV). Some
 * providers say so while messages in it are still being received (nm->early_release). "net", and
 * "tcp" before 1.18.3 and 1.19.1, say it with the message that takes the last room. ofi_rxm before
 * 2.0 says it also by an event of its own, when messages that waited for a buffer have been given
 * their places in it, before any byte of the messages beyond its eager size is there. With these
 * providers the buffer is held until all its bytes are complete: messages lie back to back, the
 * first one at the buffer's beginning, and behind the last one is less room than the longest
 * message needs, which is what ends a buffer (FI_OPT_MIN_MULTI_RECV). Meanwhile another buffer
 * takes its place. If a message fails (its sender has died in the middle) the provider tells no
 * length, and before 2.1 it may never say that the buffer is used up. Such a torn buffer is not
 * posted again until every peer has completed a later message, so that no peer can be in the middle
 * of a message in it; with ofi_rxm, whose peers may have several messages under way, it is kept
 * until the end.
 *
 * A buffer that the provider did not take is tried again when all events have been read. The reason
 * is that ofi_rxm may put messages that waited into a buffer before it refuses the rest, and tells
 * by an event that the buffer is used up: then the buffer is held like any other.
 *
 * Everything lies in registered memory if the provider asks for it (FI_MR_LOCAL). All buffers are
 * freed after the endpoint is closed, when the provider has forgotten them.
 *
 * Locks: as nmofi.h says. Neighbours: msg.c and recv.c use the buffers; cq.c says what has become
 * of them.
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
    const uint64_t rma = nm->info->caps & FI_RMA ? FI_READ | FI_WRITE : 0; /* ofi_rma.c */
    return fi_mr_reg(nm->domain, memory, len, FI_SEND | FI_RECV | rma, 0, 0, 0, mr, NULL);
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
        *tx = (struct nm_tx){
            .op.kind = NM_OP_TX, .small = small, .desc = slab->mr ? fi_mr_desc(slab->mr) : NULL};
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

/* A later poll tries again to post a buffer that the provider has not taken. */
void nm_rx_post(struct nmofi *nm, struct nm_rx *rx)
{
    nm->nheld -= rx->held;
    rx->complete = rx->end = 0;
    rx->used_up = rx->held = rx->torn = false;
    struct iovec iov = {rx->bytes, NM_RX_BYTES};
    void *desc = rx->mr ? fi_mr_desc(rx->mr) : NULL;
    const struct fi_msg msg = {
        .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &rx->op};
    if (list_node_queued(&rx->waiting))
        list_remove(&rx->waiting);
    if (fi_recvmsg(nm->ep, &msg, FI_MULTI_RECV)) {
        list_push_back(&nm->rx_waiting, &rx->waiting);
        nm->rx_refused = true;
    }
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

/* tx_start makes one slab of each size at once, since later it may be impossible to register
 * memory: without a slab a message would wait for ever. */
static bool tx_start(struct nmofi *nm)
{
    return !(nm->info->domain_attr->mr_mode & FI_MR_LOCAL) ||
           (add_slab(nm, true) && add_slab(nm, false));
}

int nm_buf_start(struct nmofi *nm)
{
    if (!tx_start(nm))
        return log_fail(
            nm->opts.log, MRMA_ERR_NO_MEM,
            "libfabric: no memory for transmit buffers, or none that may be registered");
    while (nm->nrx < NM_RX_BUFFERS)
        if (!add_rx(nm))
            return log_fail(nm->opts.log, MRMA_ERR_NO_MEM,
                            "libfabric: no memory for receive buffers, or none that "
                            "may be registered");
    if (!list_empty(&nm->rx_waiting))
        return log_fail(nm->opts.log, MRMA_ERR_OTHER,
                        "libfabric: receive buffers are not accepted");
    return MRMA_SUCCESS;
}

bool nm_rx_grow(struct nmofi *nm, uint64_t links)
{
    const uint64_t behind = links ? links - 1 : 0,
                   more = nm->software ? NM_RX_PER_LINK * behind : behind / NM_RX_LINKS;
    const uint64_t want = NM_RX_BUFFERS + more < NM_RX_MOST ? NM_RX_BUFFERS + more : NM_RX_MOST;
    while (nm->nrx - nm->nheld < want)
        if (!add_rx(nm))
            return false;
    return true;
}

/* heard_from_all returns whether no peer can be in the middle of a message in this torn buffer. */
static bool heard_from_all(struct nmofi *nm, const struct nm_rx *rx)
{
    size_t cursor = 0;
    void *value;
    while (map_next(&nm->from, &cursor, NULL, &value)) {
        const struct nm_from *from = value;
        if (from->heard <= rx->ended_at && !(from->link && from->link->lost))
            return false;
    }
    return true;
}

static bool is_quiet(struct nmofi *nm, const struct nm_rx *rx)
{
    if (rx->torn)
        return nm->sequential && heard_from_all(nm, rx);
    return !nm->early_release || (rx->complete == rx->end && rx->end > NM_RX_BYTES - NM_MSG_MAX);
}

static void hold(struct nmofi *nm, struct nm_rx *rx)
{
    nm->nheld += !rx->held;
    rx->held = true;
    (void)nm_rx_grow(nm, nm->stats.links); /* without memory there are fewer, until a later call */
}

/* note_used_up notes that the provider puts no further messages into this buffer. */
static void note_used_up(struct nm_rx *rx)
{
    rx->used_up = true;
    if (list_node_queued(&rx->waiting))
        list_remove(&rx->waiting);
}

/* post_torn posts torn buffers that are safe again. These wait for peers, not for completions of
 * their own, so it is called when another buffer is full. */
static void post_torn(struct nmofi *nm)
{
    LIST_EACH (it, &nm->rx) {
        struct nm_rx *rx = LIST_ENTRY(it, struct nm_rx, node);
        if (rx->torn && rx->used_up && is_quiet(nm, rx))
            nm_rx_post(nm, rx);
    }
}

void nm_rx_done(struct nmofi *nm, struct nm_rx *rx, const unsigned char *buf, size_t len,
                bool used_up)
{
    const size_t end = buf ? (size_t)(buf - rx->bytes) + len : 0;
    rx->complete += (uint32_t)len;
    rx->end = end > rx->end ? (uint32_t)end : rx->end;
    if (used_up) {
        note_used_up(rx);
        rx->ended_at = nm->stats.received;
        if (nm->nheld)
            post_torn(nm);
    }
    if (!rx->used_up)
        return;
    if (is_quiet(nm, rx))
        nm_rx_post(nm, rx);
    else if (!rx->held)
        hold(nm, rx);
}

void nm_rx_failed(struct nmofi *nm, struct nm_rx *rx, bool used_up)
{
    if (used_up)
        note_used_up(rx);
    if (!nm->early_release) {
        if (used_up)
            nm_rx_post(nm, rx);
        return;
    }
    rx->torn = true;
    rx->ended_at = nm->stats.received;
    hold(nm, rx);
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
