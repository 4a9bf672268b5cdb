/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_futex_event.c - event counts: no wake is lost, nobody pays for sleepers that
 * are not there.
 *
 * A lost wake shows as a hang: sleeps here have no time limit, and the watchdog
 * ends the program.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/sim/fabric.h"
#include "base/clock.h"
#include "base/err.h"
#include "test/support/base_helper.h"
#include "sys/doorbell.h"
#include "sys/futex_event.h"

enum { HANDOVERS = 40000, SLEEPERS = 6, ROUNDS = 1500 };

static void test_notify_without_sleeper(void **state)
{
    struct event ev;
    (void)state;
    event_init(&ev);
    event_notify(&ev, EVENT_NO_POLL);
    assert_int_equal(atomic_load(&ev.seq), 0);
    (void)event_enter(&ev);
    assert_int_equal(atomic_load(&ev.sleepers), 1);
    event_notify(&ev, EVENT_NO_POLL);
    assert_int_equal(atomic_load(&ev.seq), 1);
    event_leave(&ev);
    assert_int_equal(atomic_load(&ev.sleepers), 0);
    event_notify(&ev, EVENT_NO_POLL);
    assert_int_equal(atomic_load(&ev.seq), 1);
}

static void test_stale_ticket(void **state)
{
    struct event ev;
    (void)state;
    event_init(&ev);
    uint32_t ticket = event_enter(&ev);
    event_notify(&ev, EVENT_NO_POLL);
    event_sleep(&ev, ticket, 0); /* would hang if it slept */
    event_leave(&ev);
}

static void test_time_limit(void **state)
{
    struct event ev;
    (void)state;
    event_init(&ev);
    uint64_t start = clock_monotonic_ns();
    uint32_t ticket = event_enter(&ev);
    event_sleep(&ev, ticket, 20000000);
    event_leave(&ev);
    assert_true(clock_monotonic_ns() - start >= 20000000);
}

/* Wait for *word == value, always by sleeping. */
static void await(struct event *ev, _Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load_explicit(word, memory_order_acquire) != value) {
        uint32_t ticket = event_enter(ev);
        if (atomic_load_explicit(word, memory_order_acquire) != value)
            event_sleep(ev, ticket, 0);
        event_leave(ev);
    }
}

struct pair {
    struct event ev[2];
    _Atomic uint32_t turn;
};

static void play(struct pair *p, unsigned me)
{
    for (uint32_t i = me; i < HANDOVERS; i += 2) {
        await(&p->ev[me], &p->turn, i);
        atomic_store_explicit(&p->turn, i + 1, memory_order_release);
        event_notify(&p->ev[!me], EVENT_NO_POLL);
    }
}

static void *play_odd(void *arg)
{
    play(arg, 1);
    return NULL;
}

static void test_handover_threads(void **state)
{
    struct pair p;
    pthread_t thread;
    (void)state;
    memset(&p, 0, sizeof p);
    assert_int_equal(pthread_create(&thread, NULL, play_odd, &p), 0);
    play(&p, 0);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&p.turn), HANDOVERS);
    assert_int_equal(atomic_load(&p.ev[0].sleepers), 0);
    assert_int_equal(atomic_load(&p.ev[1].sleepers), 0);
}

static void test_handover_processes(void **state)
{
    struct pair *p =
        mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(p, MAP_FAILED);
    pid_t pid = fork();
    if (pid == 0) {
        fabric_watchdog(100);
        play(p, 1);
        _exit(0);
    }
    play(p, 0);
    assert_int_equal(wait_child(pid), 0);
    assert_int_equal(atomic_load(&p->turn), HANDOVERS);
    munmap(p, sizeof *p);
}

/* The same, by poll(2) on the doorbell and on a descriptor that is never readable. */
static void await_polled(struct event *ev, const struct doorbell *bell, int quiet,
                         _Atomic uint32_t *word, uint32_t value)
{
    while (atomic_load_explicit(word, memory_order_acquire) != value) {
        (void)event_enter_polled(ev);
        if (atomic_load_explicit(word, memory_order_acquire) != value)
            event_poll(bell, &quiet, 1, 0);
        event_leave_polled(ev);
    }
}

struct belled {
    struct doorbell bell;
    int pipe[2];
};

static void belled_open(struct belled *b, struct event *ev)
{
    struct log log;
    log_init(&log, LOG_LEVEL_ERROR, 2, "test");
    assert_int_equal(doorbell_open(&log, &b->bell), MRMA_SUCCESS);
    assert_int_equal(pipe(b->pipe), 0);
    ev->bell = b->bell.id;
}

static void belled_close(struct belled *b)
{
    doorbell_close(&b->bell);
    close(b->pipe[0]);
    close(b->pipe[1]);
}

static void test_poll_is_woken_by_its_descriptor(void **state)
{
    struct event ev;
    struct belled b;
    (void)state;
    event_init(&ev);
    belled_open(&b, &ev);
    uint64_t start = clock_monotonic_ns();
    (void)event_enter_polled(&ev);
    assert_false(event_poll(&b.bell, &b.pipe[0], 1, 20000000));
    event_leave_polled(&ev);
    assert_true(clock_monotonic_ns() - start >= 20000000);
    assert_int_equal(write(b.pipe[1], "", 1), 1);
    (void)event_enter_polled(&ev);
    assert_true(event_poll(&b.bell, &b.pipe[0], 1, 0)); /* would hang if it slept */
    event_leave_polled(&ev);
    assert_int_equal(atomic_load(&ev.sleepers), 0);
    assert_int_equal(atomic_load(&ev.polled), 0);
    belled_close(&b);
}

/* Rings once, however often it is woken; and the doorbell is quiet afterwards. */
static void test_one_ring_a_sleep(void **state)
{
    struct event ev;
    struct belled b;
    char byte;
    (void)state;
    event_init(&ev);
    belled_open(&b, &ev);
    event_wake(&ev, EVENT_NO_POLL); /* nobody blocks in poll: no ring */
    assert_true(recv(b.bell.fd, &byte, 1, MSG_DONTWAIT) < 0);
    (void)event_enter_polled(&ev);
    for (int i = 0; i < 5; i++)
        event_notify(&ev, EVENT_NO_POLL);
    assert_true(recv(b.bell.fd, &byte, 1, MSG_DONTWAIT) >= 0);
    assert_true(recv(b.bell.fd, &byte, 1, MSG_DONTWAIT) < 0);
    event_leave_polled(&ev);
    (void)event_enter_polled(&ev);
    event_notify(&ev, EVENT_NO_POLL);
    assert_false(event_poll(&b.bell, NULL, 0, 0)); /* would hang without a second ring */
    event_leave_polled(&ev);
    assert_true(recv(b.bell.fd, &byte, 1, MSG_DONTWAIT) < 0);
    belled_close(&b);
}

/* One side blocks in poll, the other on the futex or in poll too. */
static void play_polled(struct pair *p, struct belled *b, unsigned me)
{
    for (uint32_t i = me; i < HANDOVERS / 4; i += 2) {
        await_polled(&p->ev[me], &b[me].bell, b[me].pipe[0], &p->turn, i);
        atomic_store_explicit(&p->turn, i + 1, memory_order_release);
        event_notify(&p->ev[!me], EVENT_NO_POLL);
    }
}

static void play_futex(struct pair *p, unsigned me)
{
    for (uint32_t i = me; i < HANDOVERS / 4; i += 2) {
        await(&p->ev[me], &p->turn, i);
        atomic_store_explicit(&p->turn, i + 1, memory_order_release);
        event_notify(&p->ev[!me], EVENT_NO_POLL);
    }
}

static void handover_polled(bool both)
{
    struct pair *p =
        mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct belled b[2];
    assert_ptr_not_equal(p, MAP_FAILED);
    for (int i = 0; i < 2; i++)
        belled_open(&b[i], &p->ev[i]);
    pid_t pid = fork();
    if (pid == 0) {
        fabric_watchdog(100);
        play_polled(p, b, 1);
        _exit(0);
    }
    if (both)
        play_polled(p, b, 0);
    else
        play_futex(p, 0);
    assert_int_equal(wait_child(pid), 0);
    assert_int_equal(atomic_load(&p->turn), HANDOVERS / 4);
    for (int i = 0; i < 2; i++)
        belled_close(&b[i]);
    munmap(p, sizeof *p);
}

static void test_handover_to_poll(void **state)
{
    (void)state;
    handover_polled(false);
    handover_polled(true);
}

struct polled_player {
    struct pair *p;
    struct belled *b;
};

static void *play_polled_odd(void *arg)
{
    struct polled_player *player = arg;
    play_polled(player->p, player->b, 1);
    return NULL;
}

/* Notifiers without a fence: the sleeper in poll makes it, by membarrier. */
static void test_handover_to_poll_membarrier(void **state)
{
    struct pair p;
    struct belled b[2];
    (void)state;
    memset(&p, 0, sizeof p);
    if (!event_membarrier_register())
        skip();
    for (int i = 0; i < 2; i++) {
        belled_open(&b[i], &p.ev[i]);
        atomic_store(&p.ev[i].membarrier, 1);
    }
    struct polled_player arg = {&p, b};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, play_polled_odd, &arg), 0);
    play_polled(&p, b, 0);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&p.turn), HANDOVERS / 4);
    for (int i = 0; i < 2; i++)
        belled_close(&b[i]);
}

struct crowd {
    struct event go, back;
    _Atomic uint32_t round;
    _Atomic uint32_t arrived;
};

static void *follow(void *arg)
{
    struct crowd *c = arg;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        await(&c->go, &c->round, i);
        atomic_fetch_add_explicit(&c->arrived, 1, memory_order_release);
        event_notify(&c->back, EVENT_NO_POLL);
    }
    return NULL;
}

struct lead_arg {
    struct crowd *c;
    struct belled *b;
};

static void *follow_polled(void *arg)
{
    struct crowd *c = ((struct lead_arg *)arg)->c;
    struct belled *b = ((struct lead_arg *)arg)->b;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        await_polled(&c->go, &b->bell, b->pipe[0], &c->round, i);
        atomic_fetch_add_explicit(&c->arrived, 1, memory_order_release);
        event_notify(&c->back, EVENT_NO_POLL);
    }
    return NULL;
}

static void test_all_are_woken(void **state)
{
    struct crowd c;
    pthread_t threads[SLEEPERS];
    (void)state;
    memset(&c, 0, sizeof c);
    for (int i = 0; i < SLEEPERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, follow, &c), 0);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        atomic_store_explicit(&c.round, i, memory_order_release);
        event_notify(&c.go, EVENT_NO_POLL);
        await(&c.back, &c.arrived, i * SLEEPERS);
    }
    for (int i = 0; i < SLEEPERS; i++)
        pthread_join(threads[i], NULL);
}

/* One of those who are woken blocks in poll, the others on the futex. */
static void test_all_are_woken_and_one_in_poll(void **state)
{
    struct crowd c;
    pthread_t threads[SLEEPERS];
    struct belled b;
    (void)state;
    memset(&c, 0, sizeof c);
    belled_open(&b, &c.go);
    for (int i = 0; i < SLEEPERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, follow, &c), 0);
    pthread_t lead;
    struct lead_arg arg = {&c, &b};
    assert_int_equal(pthread_create(&lead, NULL, follow_polled, &arg), 0);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        atomic_store_explicit(&c.round, i, memory_order_release);
        event_notify(&c.go, EVENT_NO_POLL);
        await(&c.back, &c.arrived, i * (SLEEPERS + 1));
    }
    for (int i = 0; i < SLEEPERS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(lead, NULL);
    belled_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notify_without_sleeper),
        cmocka_unit_test(test_stale_ticket),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_handover_threads),
        cmocka_unit_test(test_handover_processes),
        cmocka_unit_test(test_all_are_woken),
        cmocka_unit_test(test_poll_is_woken_by_its_descriptor),
        cmocka_unit_test(test_one_ring_a_sleep),
        cmocka_unit_test(test_handover_to_poll),
        cmocka_unit_test(test_handover_to_poll_membarrier),
        cmocka_unit_test(test_all_are_woken_and_one_in_poll),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
