/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shm_channel.c - packets between the processes of a node, through rings in shared memory
 * (shm_channel.h).
 *
 * Room: a process that has taken packets out of a ring whose sender waits for room (ring.h) wakes
 * that sender's threads (polling.h), as for a packet.
 *
 * Waking: commit makes sure that somebody of the receiver looks (polling.h, which has the
 * argument); commit_quietly wakes only threads that sleep in a wait. If quiet packets fill the
 * ring, the first sender that must wait for room wakes the agent as well (shm_wake).
 *
 * Invariants: a ring is read only in state SHM_RX_OPEN; rx[i] belongs to entry i of this process's
 * segment; all entries in use are below nrx.
 *
 * Locks: the engine's, except for shm_pending, whose comment says how it does without a lock.
 * Neighbours: ring.c; procseg.h, where rings are announced; ch3/channel.h, the contract.
 */
#include "shm/shm_channel.h"

#include <sched.h>

#include "base/err.h"
#include "base/list.h"
#include "trace/record.h"

enum { BURST = 64 };

static struct shm_channel *self(const struct ch3_channel *ch)
{
    return (struct shm_channel *)(uintptr_t)ch;
}

/* What the peer has done with the ring to it, which was announced. */
static enum procseg_ring_state heard(const struct shm_peer *peer)
{
    return atomic_load_explicit(&peer->entry->state, memory_order_acquire); /* F of procseg.h */
}

static bool is_refused(const struct shm_peer *peer)
{
    return peer->entry && heard(peer) == PROCSEG_RING_REFUSED;
}

/* look_for_loss looks whether packets to this peer will never be read; if so, the next poll reports
 * the loss. */
static void look_for_loss(struct ch3_channel *ch, struct ch3_vc *vc)
{
    struct shm_peer *peer = ch3_vc_channel_data(vc);
    if ((!peer->tx.bad && !is_refused(peer)) || list_node_queued(&peer->lost_link) ||
        ch3_vc_is_lost(vc))
        return;
    peer->vc = vc;
    list_push_back(&self(ch)->lost, &peer->lost_link);
    ch3_channel_unsent(ch, 1);
}

static void report_lost(struct shm_channel *ch)
{
    struct list_node *node;
    while ((node = list_pop_front(&ch->lost)) != NULL) {
        struct shm_peer *peer = LIST_ENTRY(node, struct shm_peer, lost_link);
        ch3_channel_unsent(&ch->channel, -1);
        log_msg(ch->log, LOG_LEVEL_ERROR, "connection to process %d is lost: %s", peer->pid,
                peer->tx.bad ? "its end of the ring is corrupt"
                             : "it takes no packets from this one any more");
        ch3_vc_lost(peer->vc);
    }
}

/* traced_call records the time before the call, since an agent that is woken may be asleep again
 * after it. */
static void traced_call(const struct shm_channel *ch, const struct shm_peer *peer)
{
    const uint64_t now = trace_now(ch->trace);
    if (polling_call(&peer->seg->polling, ch->env.doorbell_fd))
        trace_add(ch->trace, &(struct trace_record){.time = now,
                                                    .kind = TRACE_WAKE_AGENT,
                                                    .peer = -1,
                                                    .id = (uint64_t)peer->pid});
}

/* call makes somebody of the peer look into its rings. */
static void call(const struct shm_channel *ch, const struct shm_peer *peer)
{
    if (unlikely(ch->trace))
        traced_call(ch, peer);
    else
        (void)polling_call(&peer->seg->polling, ch->env.doorbell_fd);
}

static void *shm_reserve(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct shm_peer *peer = ch3_vc_channel_data(vc);
    void *room = ring_reserve(&peer->tx, len);
    if (unlikely(!room))
        look_for_loss(ch, vc);
    return room;
}

static void shm_commit(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct shm_peer *peer = ch3_vc_channel_data(vc);
    ring_commit(&peer->tx, len);
    if (len)
        call(self(ch), peer);
}

static void shm_commit_quietly(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct shm_peer *peer = ch3_vc_channel_data(vc);
    ring_commit(&peer->tx, len);
    if (len)
        (void)polling_call_threads(&peer->seg->polling, self(ch)->env.doorbell_fd);
}

static void shm_wake(struct ch3_channel *ch, struct ch3_vc *vc)
{
    call(self(ch), ch3_vc_channel_data(vc));
}

static enum shm_rx_state state_of(const struct shm_rx *rx)
{
    return atomic_load_explicit(&rx->state, memory_order_relaxed);
}

static void set_state(struct shm_rx *rx, enum shm_rx_state state)
{
    atomic_store_explicit(&rx->state, state, memory_order_release); /* pairs with has_news */
}

/* tell_sender notes where the sender looks what has become of its ring i. */
static void tell_sender(struct shm_channel *ch, ptrdiff_t i, enum procseg_ring_state state)
{
    atomic_store_explicit(&ch->own->rings[i].state, state,
                          memory_order_release); /* E of procseg.h */
}

/* refuse_ring notes, so that the sender sees it, that nothing is read from the ring any more. */
static void refuse_ring(struct shm_channel *ch, struct shm_rx *rx)
{
    set_state(rx, SHM_RX_REFUSED);
    tell_sender(ch, rx - ch->rx, PROCSEG_RING_REFUSED);
}

/* open_ring maps a ring whose sender is known by now. */
static void open_ring(struct shm_channel *ch, struct shm_rx *rx, const struct procseg_ring *ring)
{
    const uint32_t bytes = atomic_load_explicit(&ring->bytes, memory_order_relaxed);
    rx->vc = ch->env.find(ch->env.ctx, atomic_load_explicit(&ring->sender, memory_order_relaxed));
    if (!rx->vc)
        return;
    ch->announced--;
    const bool fits = !ch3_vc_is_lost(rx->vc) && ring_may_have(bytes);
    void *at = fits ? ch->env.map(ch->env.ctx, &ring->where, ring_size(bytes), &rx->mapped) : NULL;
    if (!at) {
        refuse_ring(ch, rx);
        ch3_vc_lost(rx->vc);
        return;
    }
    ring_rx_init(&rx->rx, at, bytes);
    set_state(rx, SHM_RX_OPEN);
    tell_sender(ch, rx - ch->rx, PROCSEG_RING_MAPPED);
}

/* take_over takes over the rings that were announced since the last time; a sender may take any
 * free entry. */
static void take_over(struct shm_channel *ch)
{
    const uint32_t seen = atomic_load_explicit(&ch->own->nrings, memory_order_acquire);
    for (uint32_t i = 0; i < PROCSEG_RINGS; i++) {
        if (state_of(&ch->rx[i]) != SHM_RX_NONE ||
            !atomic_load_explicit(&ch->own->rings[i].bytes, memory_order_acquire))
            continue;
        ch->announced++;
        set_state(&ch->rx[i], SHM_RX_ANNOUNCED);
        if (i >= atomic_load_explicit(&ch->nrx, memory_order_relaxed))
            atomic_store_explicit(&ch->nrx, i + 1,
                                  memory_order_release); /* pairs with shm_pending */
    }
    atomic_store_explicit(&ch->rings_seen, seen, memory_order_relaxed);
}

static bool all_seen(const struct shm_channel *ch)
{
    return atomic_load_explicit(&ch->own->nrings, memory_order_relaxed) ==
           atomic_load_explicit(&ch->rings_seen, memory_order_relaxed);
}

/* accept_rings asks again for senders that are not known yet (because their window is being
 * created). */
static void accept_rings(struct shm_channel *ch)
{
    if (!all_seen(ch))
        take_over(ch);
    const uint32_t n = atomic_load_explicit(&ch->nrx, memory_order_relaxed);
    for (uint32_t i = 0; ch->announced && i < n; i++)
        if (state_of(&ch->rx[i]) == SHM_RX_ANNOUNCED)
            open_ring(ch, &ch->rx[i], &ch->own->rings[i]);
}

static unsigned drain(struct shm_channel *ch, struct shm_rx *rx)
{
    unsigned n = 0;
    while (n < BURST && state_of(rx) == SHM_RX_OPEN) {
        size_t len;
        bool bad = false;
        const void *packet = ring_peek(&rx->rx, &len, &bad);
        if (bad) {
            log_msg(ch->log, LOG_LEVEL_ERROR,
                    "the ring of process %d is corrupt: the connection is given up",
                    ch->own->rings[rx - ch->rx].where.seg.pid);
            refuse_ring(ch, rx);
            ch3_vc_lost(rx->vc);
        }
        if (!packet)
            break;
        ch->channel.deliver(rx->vc, packet, len);
        ring_release(&rx->rx, len);
        n++;
    }
    if (n && ring_starved(&rx->rx))
        call(ch, ch3_vc_channel_data(rx->vc));
    return n;
}

static unsigned shm_poll(struct ch3_channel *channel)
{
    struct shm_channel *ch = self(channel);
    unsigned n = 0;
    if (unlikely(!list_empty(&ch->lost))) {
        report_lost(ch);
        n++;
    }
    if (unlikely(ch->announced || !all_seen(ch)))
        accept_rings(ch);
    const uint32_t nrx = atomic_load_explicit(&ch->nrx, memory_order_relaxed);
    for (uint32_t i = 0; i < nrx; i++)
        n += drain(ch, &ch->rx[i]);
    return n;
}

static bool has_news(const struct shm_channel *ch, uint32_t i)
{
    switch (atomic_load_explicit(&ch->rx[i].state, memory_order_acquire)) {
    case SHM_RX_OPEN:
        return ring_has_data(&ch->rx[i].rx);
    case SHM_RX_ANNOUNCED:
        return ch->env.find(ch->env.ctx, atomic_load_explicit(&ch->own->rings[i].sender,
                                                              memory_order_relaxed)) != NULL;
    default:
        return false;
    }
}

/* shm_pending has no lock, so another thread may forget a ring meanwhile (shm_channel_forget):
 *
 *   pending                               forget
 *   E: lookers += 1 (seq_cst); fence      G: state = NONE; fence (seq_cst)
 *   F: OPEN? look into the ring           H: lookers is 0 (acquire)? unmap the ring
 *   I: lookers -= 1 (release)
 *
 * If H does not see E, F sees G. I pairs with H, so the look lies before the unmapping. */
static bool shm_pending(struct ch3_channel *channel)
{
    struct shm_channel *ch = self(channel);
    bool some = !all_seen(ch);
    atomic_fetch_add_explicit(&ch->lookers, 1, memory_order_seq_cst);
    atomic_rmw_fence(); /* the states are loaded with acquire; pairs with forget_ring */
    const uint32_t nrx = atomic_load_explicit(&ch->nrx, memory_order_acquire);
    for (uint32_t i = 0; !some && i < nrx; i++)
        some = has_news(ch, i);
    atomic_fetch_sub_explicit(&ch->lookers, 1, memory_order_release);
    return some;
}

static void forget_ring(struct shm_channel *ch, uint32_t i)
{
    struct shm_rx *rx = &ch->rx[i];
    struct procseg_ring *entry = &ch->own->rings[i];
    ch->announced -= state_of(rx) == SHM_RX_ANNOUNCED;
    atomic_store_explicit(&rx->state, SHM_RX_NONE, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* see shm_pending */
    while (atomic_load_explicit(&ch->lookers, memory_order_acquire))
        sched_yield();
    if (rx->mapped)
        ch->env.unmap(ch->env.ctx, rx->mapped);
    *rx = (struct shm_rx){.vc = NULL};
    atomic_store_explicit(&entry->state, PROCSEG_RING_UNSEEN, memory_order_relaxed);
    atomic_store_explicit(&entry->bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->sender, 0, memory_order_release); /* pairs with take_entry */
}

void shm_channel_forget(struct shm_channel *ch, const struct ch3_vc *vc, uint64_t uid)
{
    for (uint32_t i = 0; i < PROCSEG_RINGS; i++)
        if (ch->rx[i].vc == vc ||
            atomic_load_explicit(&ch->own->rings[i].sender, memory_order_relaxed) == uid)
            forget_ring(ch, i);
}

bool shm_channel_has_ended(const struct shm_channel *ch, const struct ch3_vc *vc)
{
    const struct shm_peer *peer = ch3_vc_channel_data(vc);
    if (!peer->seg || !polling_has_ended(&peer->seg->polling) || !all_seen(ch) || ch->announced)
        return false;
    const uint32_t nrx = atomic_load_explicit(&ch->nrx, memory_order_relaxed);
    for (uint32_t i = 0; i < nrx; i++)
        if (ch->rx[i].vc == vc && state_of(&ch->rx[i]) == SHM_RX_OPEN &&
            ring_has_data(&ch->rx[i].rx))
            return false;
    return true;
}

bool shm_channel_may_end(const struct shm_peer *peer)
{
    const bool unread = peer->entry && peer->tx.tail && heard(peer) == PROCSEG_RING_UNSEEN;
    return !unread || polling_has_ended(&peer->seg->polling);
}

static void shm_disconnect(struct ch3_channel *ch, struct ch3_vc *vc)
{
    struct shm_peer *peer = ch3_vc_channel_data(vc);
    peer->tx.ring = NULL;
    peer->entry = NULL;
    if (list_node_queued(&peer->lost_link)) {
        list_remove(&peer->lost_link);
        ch3_channel_unsent(ch, -1);
    }
}

static void shm_probe(struct ch3_channel *ch, struct ch3_vc *vc)
{
    look_for_loss(ch, vc);
}

/* Packets that the peer has sent so far are still read, if its ring can be read. */
static void shm_abandon(struct ch3_channel *channel, struct ch3_vc *vc)
{
    struct shm_channel *ch = self(channel);
    const uint32_t nrx = atomic_load_explicit(&ch->nrx, memory_order_relaxed);
    for (uint32_t i = 0; i < nrx; i++)
        if (state_of(&ch->rx[i]) != SHM_RX_NONE && ch->rx[i].vc == vc)
            tell_sender(ch, i, PROCSEG_RING_REFUSED);
}

static const struct ch3_channel_ops shm_ops = {.name = "shm",
                                               .reserve = shm_reserve,
                                               .commit = shm_commit,
                                               .commit_quietly = shm_commit_quietly,
                                               .wake = shm_wake,
                                               .poll = shm_poll,
                                               .pending = shm_pending,
                                               .disconnect = shm_disconnect,
                                               .probe = shm_probe,
                                               .abandon = shm_abandon};

void shm_channel_init(struct shm_channel *ch, struct procseg *own,
                      const struct shm_channel_env *env, const struct log *log)
{
    ch->channel = (struct ch3_channel){
        .ops = &shm_ops, .caps = CH3_CAP_ROOM | CH3_CAP_PROBE | CH3_CAP_ABANDON | CH3_CAP_QUIET};
    ch->own = own;
    ch->env = *env;
    ch->log = log;
    atomic_init(&ch->nrx, 0);
    atomic_init(&ch->rings_seen, 0);
    atomic_init(&ch->lookers, 0);
    ch->announced = 0;
    list_init(&ch->lost);
}

static struct procseg_ring *take_entry(struct procseg *seg, uint64_t uid)
{
    for (uint32_t i = 0; i < PROCSEG_RINGS; i++) {
        uint64_t nobody = 0;
        if (!atomic_load_explicit(&seg->rings[i].sender, memory_order_relaxed) &&
            atomic_compare_exchange_strong_explicit(
                &seg->rings[i].sender, &nobody, uid, memory_order_acquire,
                memory_order_relaxed)) /* pairs with forget_ring */
            return &seg->rings[i];
    }
    return NULL;
}

int shm_channel_connect(struct shm_peer *peer, uint64_t my_uid, struct ring *ring, uint32_t bytes,
                        const struct heap_loc *loc)
{
    struct procseg_ring *entry = take_entry(peer->seg, my_uid);
    if (!entry)
        return MRMA_ERR_NO_MEM;
    entry->where = *loc;
    ring_tx_init(&peer->tx, ring, bytes);
    peer->entry = entry;
    atomic_store_explicit(&entry->bytes, bytes, memory_order_release); /* pairs with take_over */
    atomic_fetch_add_explicit(&peer->seg->nrings, 1, memory_order_release);
    return MRMA_SUCCESS;
}
