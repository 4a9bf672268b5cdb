/*
 * test_event.c - event counts: no wake is lost, nobody pays for sleepers that
 * are not there.
 *
 * A lost wake shows as a hang: sleeps here have no time limit, and the watchdog
 * ends the program.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/event.h"
#include "base_helper.h"
#include "../sim/fabric.h"

enum { HANDOVERS = 40000, SLEEPERS = 6, ROUNDS = 1500 };

static void test_notify_without_sleeper(void **state)
{
    struct event ev;
    (void)state;
    event_init(&ev);
    event_notify(&ev);
    assert_int_equal(atomic_load(&ev.seq), 0);
    (void)event_enter(&ev);
    assert_int_equal(atomic_load(&ev.sleepers), 1);
    event_notify(&ev);
    assert_int_equal(atomic_load(&ev.seq), 1);
    event_leave(&ev);
    assert_int_equal(atomic_load(&ev.sleepers), 0);
    event_notify(&ev);
    assert_int_equal(atomic_load(&ev.seq), 1);
}

static void test_stale_ticket(void **state)
{
    struct event ev;
    (void)state;
    event_init(&ev);
    uint32_t ticket = event_enter(&ev);
    event_notify(&ev);
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
        event_notify(&p->ev[!me]);
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
    struct pair *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
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
        event_notify(&c->back);
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
        event_notify(&c.go);
        await(&c.back, &c.arrived, i * SLEEPERS);
    }
    for (int i = 0; i < SLEEPERS; i++)
        pthread_join(threads[i], NULL);
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
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
