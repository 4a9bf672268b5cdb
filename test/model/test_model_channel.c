/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model_channel.c - shm/channel.c in every order: a ring is not unmapped while a thread
 * without the lock looks whether something lies in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#include <cmocka.h>

#include "shm/channel.c"
#include "shm/ring.c"

#include "explore.h"

enum { BYTES = RING_LEAST };

static struct procseg own;
static struct shm_channel ch;
static struct ring *ring;
static unsigned unmapped;

static void unmap(void *ctx, void *handle)
{
    (void)ctx;
    assert_ptr_equal(handle, ring);
    model_forbid(ring, ring_size(BYTES));
    unmapped++;
}

/* One ring that is open and has a record in it. */
static void setup(void)
{
    struct ring_tx tx;
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_forget),
    cmocka_unit_test(test_forget_with_two_lookers),
};
MODEL_MAIN(tests)
