/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model_polling.c - polling.h in every order: a packet is served, whether the target's
 * application polls, sleeps in a wait or has just stopped, with its agent asleep; and a call of the
 * host that polls knows of each packet that it is to serve.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "model.h"

#include <cmocka.h>

#include "sys/polling.c"
#include "sys/futex_event.c"

#include "explore.h"

static struct polling at;
static _Atomic uint32_t sent, served;
static uint32_t senders;
static bool membarrier;

static void setup(void)
{
    memset(&at, 0, sizeof at);
    atomic_store_explicit(&at.threads.membarrier, membarrier, memory_order_relaxed);
    atomic_store_explicit(&at.agent.membarrier, membarrier, memory_order_relaxed);
    polling_agent_begins(&at);
    atomic_store_explicit(&sent, 0, memory_order_relaxed);
    atomic_store_explicit(&served, 0, memory_order_relaxed);
}

static bool all_served(void)
{
    return atomic_load_explicit(&served, memory_order_acquire) == senders;
}

/* Serve what has come; was there anything? */
static bool serve(void)
{
    uint32_t done = atomic_load_explicit(&served, memory_order_relaxed);
    const uint32_t come = atomic_load_explicit(&sent, memory_order_acquire);
    return done < come && atomic_compare_exchange_strong_explicit(
                              &served, &done, done + 1, memory_order_seq_cst, memory_order_relaxed);
}

static bool pending(void)
{
    return atomic_load_explicit(&served, memory_order_relaxed) <
           atomic_load_explicit(&sent, memory_order_acquire);
}

static void sender(void)
{
    atomic_fetch_add_explicit(&sent, 1, memory_order_seq_cst);
    (void)polling_call(&at, EVENT_NO_POLL);
}

/* One sender publishes by a store, as a ring does. */
static void only_sender(void)
{
    atomic_store_explicit(&sent, 1, memory_order_release);
    (void)polling_call(&at, EVENT_NO_POLL);
}

/* As rma/progress/agent.c sleeps on an event. */
static void agent(void)
{
    while (!all_served()) {
        if (!polling_threads_poll(&at) && serve())
            continue;
        const uint32_t ticket = event_enter(&at.agent);
        if (!all_served() && (polling_threads_poll(&at) || !pending()))
            event_sleep(&at.agent, ticket, 0);
        event_leave(&at.agent);
    }
}

static void agent_ends(void)
{
    if (all_served())
        event_wake(&at.agent, EVENT_NO_POLL); /* as the end of the job does */
}

/* A call polls for a while, and ends; what comes later is the agent's. */
static void caller(void)
{
    polling_poll_begin(&at);
    (void)serve();
    polling_poll_end(&at);
    if (pending())
        event_notify(&at.agent, EVENT_NO_POLL);
    agent_ends();
}

/* A call waits for the packet: it polls, then it sleeps. */
static void waiter(void)
{
    polling_poll_begin(&at);
    while (!all_served()) {
        if (serve())
            continue;
        const uint32_t ticket = event_enter(&at.threads);
        if (!pending() && !all_served())
            event_sleep(&at.threads, ticket, 0);
        event_leave(&at.threads);
    }
    polling_poll_end(&at);
    agent_ends();
}

static void test_call_that_ends(void **state)
{
    (void)state;
    senders = 1;
    for (int form = 0; form < 2; form++) {
        membarrier = form;
        explore(&(struct model_scenario){
            .setup = setup, .thread = {only_sender, caller, agent}, .deviations = 3});
    }
}

static void test_wait(void **state)
{
    (void)state;
    senders = 1;
    for (int form = 0; form < 2; form++) {
        membarrier = form;
        explore(&(struct model_scenario){
            .setup = setup, .thread = {only_sender, waiter}, .deviations = 4});
    }
}

static void test_agent_alone(void **state)
{
    (void)state;
    senders = 1;
    membarrier = true;
    explore(
        &(struct model_scenario){.setup = setup, .thread = {only_sender, agent}, .deviations = 4});
}

static void test_two_senders(void **state)
{
    (void)state;
    senders = 2;
    membarrier = false;
    explore(&(struct model_scenario){
        .setup = setup, .thread = {sender, caller, agent, sender}, .deviations = 2});
}

/* A call of the host polls, a sender has called it, and the agent has promised to look soon. */
static void setup_host(void)
{
    setup();
    polling_agent_sleeps(&at, true);
    polling_note_host_poll(&at);
    polling_call_host(&at);
}

/* As rma_host_poll rests, after rounds that have found nothing. */
static void resting_host(void)
{
    polling_host_rests(&at);
    if (pending())
        polling_call_host(&at);
}

static void host_is_called(void)
{
    if (!polling_host_is_called(&at))
        model_fail("a packet has come, and the host is not called");
}

static void test_host_that_rests(void **state)
{
    (void)state;
    senders = 1;
    for (int form = 0; form < 2; form++) {
        membarrier = form;
        explore(&(struct model_scenario){.setup = setup_host,
                                         .thread = {only_sender, resting_host},
                                         .check = host_is_called,
                                         .deviations = 4});
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_call_that_ends),  cmocka_unit_test(test_wait),
    cmocka_unit_test(test_agent_alone),     cmocka_unit_test(test_two_senders),
    cmocka_unit_test(test_host_that_rests),
};
MODEL_MAIN(tests)
