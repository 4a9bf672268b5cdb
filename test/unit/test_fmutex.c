/*
 * test_fmutex.c - the futex mutex in its two modes: exclusion, sleeping and waking, across threads
 * and, where it may be shared, processes. A lost wake shows as a hang.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include "base/fmutex.h"
#include "base_helper.h"
#include "../sim/fabric.h"

enum { THREADS = 4, ROUNDS = 60000, SLOW_ROUNDS = 200 };

struct shared {
    struct fmutex mx;
    struct elock engine;
    bool private; /* which of the two */
    uint64_t a, b; /* plain: the mutex is what keeps them equal */
};

/* Every second time as rma_poll does it: try first. */
static void lock(struct shared *s, int i)
{
    if (!s->private)
        fmutex_lock(&s->mx);
    else if (i % 2 || !elock_try(&s->engine))
        elock_lock(&s->engine);
}

static void unlock(struct shared *s)
{
    s->private ? elock_unlock(&s->engine) : fmutex_unlock(&s->mx);
}

static enum fword word(struct shared *s)
{
    return atomic_load(s->private ? &s->engine.word : &s->mx.word);
}

static void test_words(void **state)
{
    for (int private = 0; private < 2; private++) {
        struct shared s = {.private = private};
        lock(&s, 1);
        assert_int_equal(word(&s), FWORD_HELD);
        unlock(&s);
        assert_int_equal(word(&s), FWORD_FREE);
    }
    (void)state;
    assert_int_equal(sizeof(struct fmutex), MRMA_CACHE_LINE);
}

static void test_try(void **state)
{
    struct elock l;
    (void)state;
    elock_init(&l);
    elock_lock(&l);
    assert_false(elock_try(&l));
    assert_int_equal(atomic_load(&l.word), FWORD_HELD);
    elock_unlock(&l);
    assert_true(elock_try(&l));
    elock_unlock(&l);
    assert_int_equal(atomic_load(&l.word), FWORD_FREE);
}

static void count(struct shared *s, int rounds, bool slow)
{
    const struct timespec pause = {0, 100000};
    for (int i = 0; i < rounds; i++) {
        lock(s, i);
        FABRIC_CHECK(s->a == s->b);
        s->a++;
        if (slow)
            nanosleep(&pause, NULL);
        s->b++;
        unlock(s);
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

static void run_threads(bool private, void *(*body)(void *), uint64_t expected)
{
    struct shared s = {.private = private};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, &s), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(s.a, expected);
    assert_int_equal(s.b, expected);
    assert_int_equal(word(&s), FWORD_FREE);
}

static void test_threads(void **state)
{
    (void)state;
    for (int private = 0; private < 2; private++)
        run_threads(private, count_fast, (uint64_t)THREADS * ROUNDS);
}

static void test_sleepers(void **state)
{
    (void)state;
    for (int private = 0; private < 2; private++)
        run_threads(private, count_slow, (uint64_t)THREADS * SLOW_ROUNDS);
}

static void waiter_is_woken(bool private)
{
    struct shared s = {.private = private};
    pthread_t thread;
    lock(&s, 1);
    assert_int_equal(pthread_create(&thread, NULL, count_fast, &s), 0);
    while (word(&s) != FWORD_WAITERS) /* it has announced that it sleeps */
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(s.a, 0);
    unlock(&s);
    pthread_join(thread, NULL);
    assert_int_equal(s.a, ROUNDS);
}

static void test_waiter_is_woken(void **state)
{
    (void)state;
    waiter_is_woken(false);
    waiter_is_woken(true);
}

static void test_processes(void **state)
{
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pids[THREADS];
    (void)state;
    assert_ptr_not_equal(s, MAP_FAILED);
    for (int i = 0; i < THREADS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            fabric_watchdog(100);
            count(s, ROUNDS, false);
            count(s, SLOW_ROUNDS, true);
            _exit(0);
        }
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(wait_child(pids[i]), 0);
    assert_int_equal(s->a, (uint64_t)THREADS * (ROUNDS + SLOW_ROUNDS));
    assert_int_equal(s->b, s->a);
    munmap(s, sizeof *s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),           cmocka_unit_test(test_try),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_sleepers),
        cmocka_unit_test(test_waiter_is_woken), cmocka_unit_test(test_processes),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("fmutex", tests, NULL, NULL);
}
