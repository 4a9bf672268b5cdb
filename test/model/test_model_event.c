/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model_event.c - futex_event.h in every order: who sleeps is woken, by the full form and by
 * the one with membarrier, by one notifier and by two, and where the sleeper blocks in poll(2).
 */
#define _GNU_SOURCE 1
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "model.h"

#include <cmocka.h>

static long model_ppoll(struct pollfd *set, const struct timespec *limit);
#define ppoll(set, n, limit, mask) model_ppoll((set), (limit))
#define doorbell_ring model_doorbell_ring
#define doorbell_empty model_doorbell_empty
#include "explore.h"
#include "sys/futex_event.c"

enum { SLEEPER = 0 };

static struct event ev;
static _Atomic uint32_t news;
static uint32_t wanted;
static bool membarrier;
static _Atomic uint32_t rung; /* what lies in the doorbell */
static struct doorbell bell;

bool model_doorbell_ring(uint64_t id, int doorbell_fd)
{
    (void)id, (void)doorbell_fd;
    atomic_store_explicit(&rung, 1, memory_order_seq_cst);
    model_wake(SLEEPER);
    return true;
}

void model_doorbell_empty(const struct doorbell *of)
{
    (void)of;
    atomic_store_explicit(&rung, 0, memory_order_seq_cst);
}

static long model_ppoll(struct pollfd *set, const struct timespec *limit)
{
    assert_null(limit); /* time limits do not end here */
    while (!atomic_load_explicit(&rung, memory_order_seq_cst))
        model_sleep();
    set[0].revents = POLLIN;
    return 1;
}

static void setup(void)
{
    event_init(&ev);
    atomic_store_explicit(&ev.membarrier, membarrier, memory_order_relaxed);
    atomic_store_explicit(&news, 0, memory_order_relaxed);
    atomic_store_explicit(&rung, 0, memory_order_relaxed);
}

static bool has_come(void)
{
    return atomic_load_explicit(&news, memory_order_acquire) == wanted;
}

static void sleeper(void)
{
    while (!has_come()) {
        const uint32_t ticket = event_enter(&ev);
        if (!has_come())
            event_sleep(&ev, ticket, 0);
        event_leave(&ev);
    }
}

static void poller(void)
{
    while (!has_come()) {
        (void)event_enter_polled(&ev);
        if (!has_come())
            event_poll(&bell, NULL, 0, 0);
        event_leave_polled(&ev);
    }
}

static void notifier(void)
{
    atomic_store_explicit(&news, 1, memory_order_release);
    event_notify(&ev, EVENT_NO_POLL);
}

/* The state is changed by an exchange, which is the fence. */
static void exchanger(void)
{
    atomic_fetch_add_explicit(&news, 1, memory_order_seq_cst);
    event_notify_exchanged(&ev, EVENT_NO_POLL);
}

static void test_full(void **state)
{
    (void)state;
    membarrier = false;
    wanted = 1;
    explore(
        &(struct model_scenario){.setup = setup, .thread = {sleeper, notifier}, .deviations = 4});
}

static void test_membarrier(void **state)
{
    (void)state;
    membarrier = true;
    wanted = 1;
    explore(
        &(struct model_scenario){.setup = setup, .thread = {sleeper, notifier}, .deviations = 4});
}

static void test_two_sleepers(void **state)
{
    (void)state;
    membarrier = true;
    wanted = 1;
    explore(&(struct model_scenario){
        .setup = setup, .thread = {sleeper, notifier, sleeper}, .deviations = 2});
}

static void test_two_notifiers(void **state)
{
    (void)state;
    membarrier = false;
    wanted = 2;
    explore(&(struct model_scenario){
        .setup = setup, .thread = {sleeper, exchanger, exchanger}, .deviations = 3});
}

static void test_polled(void **state)
{
    (void)state;
    wanted = 1;
    for (int form = 0; form < 2; form++) {
        membarrier = form;
        explore(&(struct model_scenario){
            .setup = setup, .thread = {poller, notifier}, .deviations = 4});
    }
}

static void test_polled_twice(void **state)
{
    (void)state;
    membarrier = false;
    wanted = 2;
    explore(&(struct model_scenario){
        .setup = setup, .thread = {poller, exchanger, exchanger}, .deviations = 2});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_full),         cmocka_unit_test(test_membarrier),
    cmocka_unit_test(test_two_sleepers), cmocka_unit_test(test_two_notifiers),
    cmocka_unit_test(test_polled),       cmocka_unit_test(test_polled_twice),
};
MODEL_MAIN(tests)
