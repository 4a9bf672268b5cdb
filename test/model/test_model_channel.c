/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model_channel.c - shm/shm_channel.c in every order: a ring is not unmapped while a thread
 * without the lock looks whether something lies in it; and a sender that sleeps without room is
 * woken by who takes packets out.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#include <cmocka.h>

#include "shm/shm_channel.c"
#include "shm/ring.c"
#include "sys/polling.c"
#include "sys/futex_event.c"

#include "explore.h"

enum { BYTES = RING_LEAST };

static struct procseg own;
static struct shm_channel ch;
static struct ring *ring;
static struct ring_tx tx;
static struct shm_peer sender;
static struct ch3_vc_channel connection = {.data = &sender}; /* as much of it as a channel sees */
static unsigned unmapped, delivered;

static void unmap(void *ctx, void *handle)
{
    (void)ctx;
    assert_ptr_equal(handle, ring);
    model_forbid(ring, ring_size(BYTES));
    unmapped++;
    (void)atomic_load_explicit(&ch.nrx, memory_order_relaxed); /* others go on meanwhile */
}

/* One ring that is open and has a record in it. */
static void setup(void)
{
    const struct shm_channel_env env = {.unmap = unmap};
    if (!ring)
        ring = aligned_alloc(MRMA_CACHE_LINE, ring_size(BYTES));
    assert_non_null(ring);
    ring_tx_init(&tx, ring, BYTES);
    memset(ring_reserve(&tx, 8), 1, 8);
    ring_commit(&tx, 8);
    shm_channel_init(&ch, &own, &env, NULL);
    ring_rx_init(&ch.rx[0].rx, ring, BYTES);
    ch.rx[0].mapped = ring;
    ch.rx[0].vc = (struct ch3_vc *)(void *)&connection;
    set_state(&ch.rx[0], SHM_RX_OPEN);
    atomic_store_explicit(&ch.nrx, 1, memory_order_relaxed);
    unmapped = 0;
}

static void looker(void)
{
    for (int i = 0; i < 2; i++)
        (void)shm_pending(&ch.channel);
}

static void forgetter(void)
{
    forget_ring(&ch, 0);
}

static void is_forgotten(void)
{
    if (unmapped != 1)
        model_fail("the ring was not unmapped");
    if (shm_pending(&ch.channel))
        model_fail("a ring that is forgotten has news");
}

static void test_forget(void **state)
{
    (void)state;
    explore(&(struct model_scenario){
        .setup = setup, .thread = {looker, forgetter}, .check = is_forgotten, .deviations = 3});
}

static void test_forget_with_two_lookers(void **state)
{
    (void)state;
    explore(&(struct model_scenario){.setup = setup,
                                     .thread = {looker, forgetter, looker},
                                     .check = is_forgotten,
                                     .deviations = 2});
}

/* The sender's process has the segment of this one, which is as good as its own. */
static void full_ring(void)
{
    setup();
    memset(&own.polling, 0, sizeof own.polling);
    sender.seg = &own;
    while (ring_reserve(&tx, CH3_PACKET_MAX))
        ring_commit(&tx, CH3_PACKET_MAX);
    delivered = 0;
}

static void sender_without_room(void)
{
    struct event *ev = &own.polling.threads;
    while (!ring_reserve(&tx, CH3_PACKET_MAX)) {
        const uint32_t ticket = event_enter(ev);
        if (!ring_reserve(&tx, CH3_PACKET_MAX))
            event_sleep(ev, ticket, 0);
        event_leave(ev);
    }
}

static void deliver(struct ch3_vc *from, const void *packet, size_t len)
{
    (void)from;
    (void)packet;
    (void)len;
    delivered++;
}

static void receiver(void)
{
    ch.channel.deliver = deliver;
    while (drain(&ch, &ch.rx[0]))
        ;
}

static void something_came(void)
{
    if (delivered < 2)
        model_fail("nothing was delivered");
}

static void test_room_is_told(void **state)
{
    (void)state;
    explore(&(struct model_scenario){.setup = full_ring,
                                     .thread = {sender_without_room, receiver},
                                     .check = something_came,
                                     .deviations = 2});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_forget),
    cmocka_unit_test(test_forget_with_two_lookers),
    cmocka_unit_test(test_room_is_told),
};
MODEL_MAIN(tests)
