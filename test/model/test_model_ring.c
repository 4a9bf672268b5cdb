/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model_ring.c - ring.h in every order: records come whole and in their order, and a producer
 * that found no room and sleeps is woken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#include <cmocka.h>

#include "shm/ring.c"

#include "explore.h"

enum { PRODUCER = 0, BYTES = RING_LEAST, LARGE = CH3_PACKET_MAX };

static struct ring *ring;
static struct ring_tx tx;
static struct ring_rx rx;
static unsigned total, got;

static void empty_ring(void)
{
    if (!ring)
        ring = aligned_alloc(MRMA_CACHE_LINE, ring_size(BYTES));
    assert_non_null(ring);
    ring_tx_init(&tx, ring, BYTES);
    ring_rx_init(&rx, ring, BYTES);
    got = 0;
}

/* What is sent has its number in its first byte. */
static bool send(unsigned number, size_t len)
{
    unsigned char *packet = ring_reserve(&tx, len);
    if (!packet)
        return false;
    *packet = (unsigned char)number;
    ring_commit(&tx, len);
    return true;
}

static bool receive(void)
{
    size_t len;
    bool bad = false;
    const unsigned char *packet = ring_peek(&rx, &len, &bad);
    if (bad)
        model_fail("the ring is corrupt");
    if (!packet)
        return false;
    if (*packet != got + 1)
        model_fail("not the record that was due");
    got++;
    ring_release(&rx, len);
    return true;
}

/* As many large records as there is room for. */
static void full_ring(void)
{
    empty_ring();
    for (total = 0; send(total + 1, LARGE); total++)
        ;
    assert_true(total >= 2);
    tx.starved = 0;
    atomic_store_explicit(&ring->starved, 0, memory_order_relaxed);
}

/* One more, and sleep without room. */
static void producer_one_more(void)
{
    while (!send(total + 1, LARGE))
        model_sleep();
}

/* As shm/shm_channel.c: until nothing is left, then is there somebody to wake? */
static void consumer(void)
{
    while (got < total + 1) {
        bool some = false;
        while (receive())
            some = true;
        if (some && ring_starved(&rx))
            model_wake(PRODUCER);
        if (got < total + 1 && !ring_has_data(&rx))
            model_pause();
    }
}

static void test_starved(void **state)
{
    (void)state;
    explore(&(struct model_scenario){
        .setup = full_ring, .thread = {producer_one_more, consumer}, .deviations = 3});
}

static void short_ring(void)
{
    empty_ring();
    total = 2;
}

static void producer_of_three(void)
{
    for (unsigned i = 1; i <= 3; i++)
        if (!send(i, i == 2 ? 1000 : 8))
            model_fail("no room");
}

static void test_order(void **state)
{
    (void)state;
    explore(&(struct model_scenario){
        .setup = short_ring, .thread = {producer_of_three, consumer}, .deviations = 3});
}

/* The next record does not fit before the end: a skip, and it lies at the start. */
static void ring_before_its_end(void)
{
    full_ring();
    while (receive())
        ;
    got = 0;
    total = 0;
}

static void test_skip(void **state)
{
    (void)state;
    explore(&(struct model_scenario){
        .setup = ring_before_its_end, .thread = {producer_one_more, consumer}, .deviations = 3});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_starved),
    cmocka_unit_test(test_order),
    cmocka_unit_test(test_skip),
};
MODEL_MAIN(tests)
