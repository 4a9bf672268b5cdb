/*
 * test_elock.c - the engine's lock: exclusion, sleeping and waking between threads. A lost
 * wake shows as a hang.
 */
#include <pthread.h>
#include <time.h>

#include "base/elock.h"
#include "base_helper.h"
#include "../sim/fabric.h"

enum { THREADS = 4, ROUNDS = 60000, SLOW_ROUNDS = 200 };

struct shared {
    struct elock lock;
    uint64_t a, b; /* plain: the lock is what keeps them equal */
};

static void test_words(void **state)
{
    struct elock l;
    (void)state;
    elock_init(&l);
    elock_lock(&l);
    assert_int_equal(atomic_load(&l.word), 1);
    assert_false(elock_try(&l));
    assert_int_equal(atomic_load(&l.word), 1);
    elock_unlock(&l);
    assert_true(elock_try(&l));
    elock_unlock(&l);
    assert_int_equal(atomic_load(&l.word), 0);
}

static void count(struct shared *s, int rounds, bool slow)
{
    const struct timespec pause = {0, 100000};
    for (int i = 0; i < rounds; i++) {
        if (i % 2 || !elock_try(&s->lock))
            elock_lock(&s->lock);
        FABRIC_CHECK(s->a == s->b);
        s->a++;
        if (slow)
            nanosleep(&pause, NULL);
        s->b++;
        elock_unlock(&s->lock);
    }
}

static void *count_fast(void *arg)
{
    count(arg, ROUNDS, false);
    return NULL;
}

/* Held long enough for the others to fall asleep. */
static void *count_slow(void *arg)
{
    count(arg, SLOW_ROUNDS, true);
    return NULL;
}

static void run_threads(void *(*body)(void *), uint64_t expected)
{
    struct shared s = {.a = 0};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, &s), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(s.a, expected);
    assert_int_equal(s.b, expected);
    assert_int_equal(atomic_load(&s.lock.word), 0);
}

static void test_threads(void **state)
{
    (void)state;
    run_threads(count_fast, (uint64_t)THREADS * ROUNDS);
}

static void test_sleepers(void **state)
{
    (void)state;
    run_threads(count_slow, (uint64_t)THREADS * SLOW_ROUNDS);
}

static void test_sleeper_is_woken(void **state)
{
    struct shared s = {.a = 0};
    pthread_t thread;
    (void)state;
    elock_lock(&s.lock);
    assert_int_equal(pthread_create(&thread, NULL, count_fast, &s), 0);
    while (atomic_load(&s.lock.word) != 2) /* it sleeps, or is about to */
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(s.a, 0);
    elock_unlock(&s.lock);
    pthread_join(thread, NULL);
    assert_int_equal(s.a, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_sleepers),
                                       cmocka_unit_test(test_sleeper_is_woken)};
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("elock", tests, NULL, NULL);
}
