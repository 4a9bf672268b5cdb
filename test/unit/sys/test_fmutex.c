/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_fmutex.c - the futex mutex in its two modes: exclusion, sleeping and waking, across threads
 * and, where it may be shared, processes. A lost wake shows as a hang.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "test/sim/fabric.h"
#include "test/support/base_helper.h"
#include "sys/fmutex.h"
#include "sys/procstart.h"

enum { THREADS = 4, ROUNDS = 60000, SLOW_ROUNDS = 200 };

struct shared {
    struct fmutex mx;
    struct elock engine;
    bool private;  /* which of the two */
    uint64_t a, b; /* plain: the mutex is what keeps them equal */
};

/* Once a process: it reads files. */
static uint64_t self(void)
{
    static _Atomic uint64_t it;
    static _Atomic pid_t whose;
    if (atomic_load(&whose) != getpid()) {
        atomic_store(&it, fmutex_self(procstart_of(0)));
        atomic_store(&whose, getpid());
    }
    return atomic_load(&it);
}

/* Every second time as rma_poll does it: try first. */
static void lock(struct shared *s, int i)
{
    if (!s->private)
        fmutex_lock(&s->mx, self());
    else if (i % 2 || !elock_try(&s->engine))
        elock_lock(&s->engine);
}

static void unlock(struct shared *s)
{
    s->private ? elock_unlock(&s->engine) : fmutex_unlock(&s->mx);
}

static enum fword word(struct shared *s)
{
    if (s->private)
        return atomic_load(&s->engine.word);
    const uint64_t word = atomic_load(&s->mx.word);
    return !word ? FWORD_FREE : word & FMUTEX_WAITERS ? FWORD_WAITERS : FWORD_HELD;
}

static void test_words(void **state)
{
    for (int private = 0; private < 2; private ++) {
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
    for (int private = 0; private < 2; private ++)
        run_threads(private, count_fast, (uint64_t)THREADS * ROUNDS);
}

static void test_sleepers(void **state)
{
    (void)state;
    for (int private = 0; private < 2; private ++)
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
    struct shared *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
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

/* ---- the holder is killed ---- */

static struct shared *new_shared(void)
{
    struct shared *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(s, MAP_FAILED);
    return s;
}

/* A process that holds it until it is killed. */
static pid_t start_holder(struct shared *s)
{
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fmutex_lock(&s->mx, fmutex_self(procstart_of(0)));
        for (;;)
            pause();
    }
    while (word(s) == FWORD_FREE)
        sched_yield();
    return pid;
}

/* Who wants it later finds that nobody holds it, whether the dead one is a zombie or gone. */
static void test_holder_died(void **state)
{
    struct shared *s = new_shared();
    (void)state;
    for (int zombie = 0; zombie < 2; zombie++) {
        const pid_t pid = start_holder(s);
        kill(pid, SIGKILL);
        if (!zombie)
            assert_int_equal(wait_child(pid), 128 + SIGKILL);
        fabric_watchdog(20);
        lock(s, 0);
        fabric_watchdog(120);
        unlock(s);
        assert_int_equal(word(s), FWORD_FREE);
        if (zombie)
            assert_int_equal(wait_child(pid), 128 + SIGKILL);
    }
    munmap(s, sizeof *s);
}

/* So do all who sleep for it already, and nobody before: who holds it but is stopped still does. */
static void test_holder_dies(void **state)
{
    const struct timespec looks = {.tv_sec = 1};
    struct shared *s = new_shared();
    pthread_t threads[THREADS];
    (void)state;
    const pid_t pid = start_holder(s);
    kill(pid, SIGSTOP);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_fast, s), 0);
    nanosleep(&looks, NULL);
    assert_int_equal(word(s), FWORD_WAITERS);
    fabric_watchdog(20);
    kill(pid, SIGKILL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    fabric_watchdog(120);
    assert_int_equal(s->a, (uint64_t)THREADS * ROUNDS);
    assert_int_equal(s->b, s->a);
    assert_int_equal(word(s), FWORD_FREE);
    assert_int_equal(wait_child(pid), 128 + SIGKILL);
    munmap(s, sizeof *s);
}

/* Its number may be another process's by then. */
static void test_number_reused(void **state)
{
    struct fmutex mx = {0};
    (void)state;
    fmutex_lock(&mx, (fmutex_self(procstart_of(0)) & UINT32_MAX) |
                         (procstart_of(0) - 1) << 32); /* of one that began earlier */
    fabric_watchdog(20);
    fmutex_lock(&mx, fmutex_self(procstart_of(0)));
    fabric_watchdog(120);
    fmutex_unlock(&mx);
    assert_int_equal(atomic_load(&mx.word), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),           cmocka_unit_test(test_try),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_sleepers),
        cmocka_unit_test(test_waiter_is_woken), cmocka_unit_test(test_processes),
        cmocka_unit_test(test_holder_died),     cmocka_unit_test(test_holder_dies),
        cmocka_unit_test(test_number_reused),
    };
    fabric_watchdog(120);
    return cmocka_run_group_tests_name("fmutex", tests, NULL, NULL);
}
