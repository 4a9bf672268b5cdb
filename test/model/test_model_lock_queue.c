/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model_lock_queue.c - rma/target/lock_queue.c in every order: who asks for a target's lock by
 * packet gets it, while processes of the node take and release the same lock word by themselves.
 *
 * The target is one thread: it takes in the requests of packets, and sleeps until it is called. A
 * process of its node is another.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#include <cmocka.h>

#include "rma/win/win.h"

static struct rma_target *model_peek(const struct win *w, int rank);
#define win_peek model_peek
#include "rma/target/lock_queue.c"
#include "rma/win/target_lock.c"
#include "sys/polling.c"
#include "sys/futex_event.c"

#include "explore.h"

enum { PACKETS = 2 };

static struct rma rma;
static struct rma_env env;
static struct polling polling;
static struct rma_peer peer;
static struct rma_target target;
static struct win_ctl ctl;
static struct win win;
static struct pkt_origin origin[PACKETS];
static unsigned npackets, holders, turns;
static bool direct_exclusive, packet_exclusive, exclusive_holder;

static struct rma_target *model_peek(const struct win *w, int rank)
{
    (void)w;
    (void)rank;
    return &target;
}

static void setup(void)
{
    memset(&polling, 0, sizeof polling);
    memset(&ctl, 0, sizeof ctl);
    memset(&win, 0, sizeof win);
    memset(origin, 0, sizeof origin);
    env = (struct rma_env){.polling = &polling};
    rma.env = &env;
    list_init(&rma.lock_wins);
    peer.polling = &polling;
    target.ctl = &ctl;
    target.peer = &peer;
    win.rma = &rma;
    win.ctl = win.lead = &ctl;
    list_init(&win.target_side.lockq);
    for (unsigned i = 0; i < PACKETS; i++) {
        origin[i].win = &win;
        origin[i].origin = &target;
    }
    event_init(&ctl.lock_event);
    event_init(&ctl.all_event);
    holders = turns = 0;
    exclusive_holder = false;
}

/* Hold the lock for a moment, in which others can run. */
static void hold(bool exclusive)
{
    if (exclusive_holder || (holders && exclusive))
        model_fail("two hold what is exclusive");
    holders++;
    exclusive_holder = exclusive;
    turns++;
    (void)atomic_load_explicit(&ctl.ticketless, memory_order_relaxed);
    holders--;
    exclusive_holder = false;
}

/* As a call of a process on the node: rma/sync/by_memory.c. */
static void take_by_memory(bool exclusive)
{
    bool granted;
    const uint32_t ticket = lockword_take(&ctl.lock, exclusive, &granted);
    while (!granted) {
        const uint32_t sleep = event_enter(&ctl.lock_event);
        granted = lockword_enter(&ctl.lock, ticket, exclusive);
        if (!granted)
            event_sleep(&ctl.lock_event, sleep, 0);
        event_leave(&ctl.lock_event);
    }
    if (!exclusive)
        lock_notify(&target);
}

static void direct(void)
{
    take_by_memory(direct_exclusive);
    hold(direct_exclusive);
    lockword_release(&ctl.lock, direct_exclusive);
    lock_notify(&target);
}

/* Shared and without a ticket: as under lock_all, at the first access. */
static void direct_counted(void)
{
    lock_count(&target);
    while (!lockword_open_to_all(&ctl.lock)) {
        const uint32_t sleep = event_enter(&ctl.lock_event);
        if (!lockword_open_to_all(&ctl.lock))
            event_sleep(&ctl.lock_event, sleep, 0);
        event_leave(&ctl.lock_event);
    }
    hold(false);
    lock_uncount(&target);
}

static unsigned served;

static void serve(struct pkt_origin *po)
{
    hold(packet_exclusive);
    lock_queue_release(po);
    served++;
}

/* The requests come in, one behind the other; then whoever is called looks whose turn has come. */
static void target_thread(void)
{
    served = 0;
    for (unsigned i = 0; i < npackets; i++)
        if (lock_queue_request(&origin[i], packet_exclusive, false))
            serve(&origin[i]);
    while (served < npackets) {
        struct pkt_origin *po = lock_queue_grant(&win);
        if (po) {
            serve(po);
            continue;
        }
        const uint32_t ticket = event_enter(&polling.threads);
        po = lock_queue_grant(&win);
        if (po)
            serve(po);
        else
            event_sleep(&polling.threads, ticket, 0);
        event_leave(&polling.threads);
    }
}

static unsigned expected;

static void all_had_a_turn(void)
{
    if (turns != expected)
        model_fail("somebody had no turn");
    if (!list_empty(&win.target_side.lockq) || ctl.packets_wait)
        model_fail("a request is left in the queue");
}

static void explore_kinds(unsigned packets, void (*second)(void), unsigned deviations)
{
    npackets = packets;
    expected = packets + 1 + (second != NULL);
    for (int kinds = 0; kinds < 4; kinds++) {
        direct_exclusive = kinds & 1;
        packet_exclusive = kinds & 2;
        explore(&(struct model_scenario){.setup = setup,
                                         .thread = {target_thread, direct, second},
                                         .check = all_had_a_turn,
                                         .deviations = deviations});
    }
}

static void test_one_packet(void **state)
{
    (void)state;
    explore_kinds(1, NULL, 4);
}

static void test_two_packets(void **state)
{
    (void)state;
    explore_kinds(2, NULL, 3);
}

static void test_two_processes(void **state)
{
    (void)state;
    explore_kinds(1, direct, 2);
}

static void test_counted(void **state)
{
    (void)state;
    npackets = 1;
    expected = 2;
    packet_exclusive = true;
    explore(&(struct model_scenario){.setup = setup,
                                     .thread = {target_thread, direct_counted},
                                     .check = all_had_a_turn,
                                     .deviations = 4});
}

/* Two readers, one by packet and one by memory, hold the lock together once the writer has gone. */
static _Atomic uint32_t readers;
static unsigned expected_readers;

static void setup_written(void)
{
    bool granted;
    setup();
    npackets = 1;
    (void)lockword_take(&ctl.lock, true, &granted);
    atomic_store_explicit(&readers, 0, memory_order_relaxed);
}

static void writer(void)
{
    lockword_release(&ctl.lock, true);
    lock_notify(&target);
}

static void meet(void)
{
    atomic_fetch_add_explicit(&readers, 1, memory_order_seq_cst);
    while (atomic_load_explicit(&readers, memory_order_seq_cst) < expected_readers)
        model_pause();
}

static void reader_by_memory(void)
{
    take_by_memory(false);
    meet();
    lockword_release(&ctl.lock, false);
    lock_notify(&target);
}

static void reader_by_packet(void)
{
    bool held = lock_queue_request(&origin[0], false, false);
    while (!held) {
        const uint32_t ticket = event_enter(&polling.threads);
        held = lock_queue_grant(&win) != NULL;
        if (!held)
            event_sleep(&polling.threads, ticket, 0);
        event_leave(&polling.threads);
    }
    meet();
    lock_queue_release(&origin[0]);
}

static void test_readers_together(void **state)
{
    (void)state;
    expected_readers = 2;
    explore(&(struct model_scenario){.setup = setup_written,
                                     .thread = {reader_by_packet, reader_by_memory, writer},
                                     .deviations = 2});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_one_packet),       cmocka_unit_test(test_two_packets),
    cmocka_unit_test(test_two_processes),    cmocka_unit_test(test_counted),
    cmocka_unit_test(test_readers_together),
};
MODEL_MAIN(tests)
