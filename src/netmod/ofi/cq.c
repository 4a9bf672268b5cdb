/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq.c - poll reads completions and errors, then does what they have made possible; and the
 * functions for waiting.
 *
 * Waiting: wait_begin looks at the queue and rearms the descriptor in one step; from then on
 * anything makes it readable. pending has no lock and may not touch the provider: it looks at the
 * descriptor, which may still be readable because of events that were polled long ago, and asks
 * poll to rearm it.
 *
 * Locks: the engine's, except for nm_pending, which needs none. Neighbours: the files whose
 * operations complete: recv.c, msg.c, buf.c, ofi_rma.c.
 */
#include <poll.h>

#include "base/clock.h"
#include "base/memcheck.h"
#include "netmod/ofi/alive_socket.h"
#include "netmod/ofi/ofi.h"
#include "netmod/ofi/ofi_rma.h"

/* sent is called when a message has left, or when it never will. Returns its link. */
static struct nmofi_link *sent(struct nmofi *nm, struct nm_op *op, bool well)
{
    struct nm_tx *tx = (struct nm_tx *)(void *)op;
    struct nmofi_link *link = tx->link;
    link->under_way--;
    if (tx->kind == NM_PROBE)
        link->probing = false;
    if (well && tx->kind == NM_HELLO && link->greeting)
        nm_greeted(link);
    nm_tx_put(nm, tx);
    return link;
}

/* written is called when a peer's put has ended here; its data is in place. Such an event has no
 * context of this library's. */
static void written(struct nmofi *nm, const struct fi_cq_data_entry *entry)
{
    if (!(entry->flags & FI_REMOTE_CQ_DATA) || nm->ending)
        return;
    nm->events++;
    nm->channel.word(&nm->channel, (uint32_t)entry->data);
}

static void completed(struct nmofi *nm, const struct fi_cq_data_entry *entry)
{
    struct nm_op *op = entry->op_context;
    if (entry->flags & FI_REMOTE_WRITE) {
        written(nm, entry);
        return;
    }
    if (op->kind == NM_OP_RX) {
        /* The event is a message, the end of a buffer, or both in one. The end may name the rest of
         * the buffer. */
        const bool message = (entry->flags & FI_RECV) && entry->buf && entry->len;
        if (message)
            nm_received(nm, entry->buf, entry->len);
        nm_rx_done(nm, (struct nm_rx *)(void *)op, message ? entry->buf : NULL,
                   message ? entry->len : 0, entry->flags & FI_MULTI_RECV);
    } else if (op->kind == NM_OP_TX) {
        (void)sent(nm, op, true);
    } else {
        nm_rma_done(nm, op, 0);
    }
}

static void failed(struct nmofi *nm, const struct fi_cq_err_entry *entry)
{
    struct nm_op *op = entry->op_context;
    /* If the operation was injected, nobody knows which one it was; if it was a peer's put, nobody
     * knows whose. */
    if (!op || entry->flags & FI_REMOTE_WRITE) {
        nm_doubt(nm);
        return;
    }
    if (op->kind == NM_OP_RX) {
        if (entry->err != FI_ECANCELED && nm->stats.dropped++ < NM_REPORTED)
            log_msg(nm->opts.log, LOG_LEVEL_WARN, "network: a message is dropped: %s",
                    fi_strerror(entry->err));
        nm_rx_failed(nm, (struct nm_rx *)(void *)op, entry->flags & FI_MULTI_RECV);
    } else if (op->kind == NM_OP_TX) {
        struct nmofi_link *link = sent(nm, op, false);
        if (!nm_has_closed(link))
            nm_link_break(link, "a message did not arrive: %s", fi_strerror(entry->err));
    } else {
        nm_rma_done(nm, op, entry->err);
    }
}

static void read_error(struct nmofi *nm)
{
    struct fi_cq_err_entry entry = {0};
    if (fi_cq_readerr(nm->cq, &entry, 0) > 0)
        failed(nm, &entry);
}

/* read_burst reads a burst of events. True: the queue has no more. */
static bool read_burst(struct nmofi *nm)
{
    struct fi_cq_data_entry entries[NM_CQ_BURST];
    memcheck_pause(); /* the provider may now send what was handed to it before */
    ssize_t n = fi_cq_read(nm->cq, entries, NM_CQ_BURST);
    memcheck_resume();
    for (ssize_t i = 0; i < n; i++)
        completed(nm, &entries[i]);
    if (n == -FI_EAVAIL)
        read_error(nm);
    return n != NM_CQ_BURST && n != -FI_EAVAIL;
}

/* rearm returns whether there is nothing to do and the descriptor will tell when there is. */
static bool rearm(struct nmofi *nm)
{
    struct fid *fid = &nm->cq->fid;
    return nm->wait ? nm->wait->ops->wait(nm->wait, 0) == -FI_ETIMEDOUT
                    : fi_trywait(nm->fabric, &fid, 1) == FI_SUCCESS;
}

static void post_again(struct nmofi *nm)
{
    LIST_EACH_SAFE (node, &nm->rx_waiting)
        nm_rx_post(nm, LIST_ENTRY(node, struct nm_rx, waiting));
}

static bool is_short(const struct nmofi *nm)
{
    return atomic_load_explicit(&nm->short_since, memory_order_relaxed) != 0;
}

/* push_stalled tries again to send what the provider has not taken, as far as it is time for that;
 * now is the time of clock_monotonic_ns. Returns whether it has taken anything. The longer this
 * lasts the rarer are the attempts, since a provider may connect anew for each. */
static bool push_stalled(struct nmofi *nm, uint64_t now)
{
    bool moved = false;
    LIST_EACH_SAFE (it, &nm->stalled) {
        struct nmofi_link *link = LIST_ENTRY(it, struct nmofi_link, stalled);
        if (!link->greeted && !link->greeting)
            nm_ask_connect(link);
        else if (now >= link->retry_at && nm_push(link)) {
            moved = true;
            link->stalled_since = now;
        }
        if (!list_node_queued(it))
            continue;
        if (now >= link->retry_at)
            link->retry_at = now + (now - link->stalled_since) / 8;
        nm_reach_poll(link, now);
    }
    return moved;
}

unsigned nm_poll(struct ch3_channel *ch)
{
    struct nmofi *nm = nm_of(ch);
    nm->events = 0;
    if (list_empty(&nm->secrets)) /* no sender can yet show that it belongs to this job */
        return 0;
    bool all = false;
    for (int i = 0; i < NM_CQ_BURSTS && !all; i++) {
        nm->rx_refused = false;
        all = read_burst(nm) && !nm->rx_refused;
    }
    if (!list_empty(&nm->owing))
        nm_give_credits(nm);
    if (!list_empty(&nm->unknown))
        nm_find_unknown(nm);
    if (!list_empty(&nm->stalled) && push_stalled(nm, clock_monotonic_ns()))
        nm->events++;
    if (nm->stray_at)
        nm_gap_watch(nm);
    if (!list_empty(&nm->broken))
        nm_link_report_broken(nm);
    if (nm->closing)
        nm_link_reap(nm);
    if (all) /* all events about buffers that the provider has refused have been read: buf.c */
        post_again(nm);
    if (nm->wait_fd >= 0 && atomic_exchange_explicit(&nm->asked, false, memory_order_relaxed)) {
        if (!nm->events)
            nm_life_in_vain(nm);
        (void)rearm(nm);
    } else if (is_short(nm)) {
        nm_life_in_vain(nm);
    }
    return nm->events;
}

int nm_wait_fd(struct ch3_channel *ch)
{
    const struct nmofi *nm = nm_of(ch);
    return is_short(nm) ? -1 : nm->wait_fd;
}

bool nm_pending(struct ch3_channel *ch)
{
    struct nmofi *nm = nm_of(ch);
    struct pollfd fd = {.fd = nm_wait_fd(ch), .events = POLLIN};
    if (fd.fd < 0 || poll(&fd, 1, 0) <= 0)
        return false;
    atomic_store_explicit(&nm->asked, true, memory_order_relaxed);
    return true;
}

bool nm_wait_begin(struct ch3_channel *ch)
{
    struct nmofi *nm = nm_of(ch);
    return list_empty(&nm->owing) && list_empty(&nm->broken) &&
           rearm(nm); /* unknown senders: ch3_channel_unsent */
}
