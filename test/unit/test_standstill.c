/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_standstill.c - shm/inplace/standstill: nobody runs meanwhile, everybody goes on afterwards,
 * with the signals and waits that they had; what cannot be stopped is refused.
 */
#define _GNU_SOURCE 1
#include "threads_helper.h"

#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "shm/inplace/standstill.h"

enum { WORKERS = 3 };

static void count(void *arg)
{
    ++*(int *)arg;
}

static void alone_it_just_runs(void **state)
{
    char text[200];
    int n = 0;
    (void)state;
    assert_int_equal(standstill_run(count, &n, text, sizeof text), MRMA_SUCCESS);
    assert_int_equal(n, 1);
}

struct watch {
    struct worker workers[WORKERS];
    bool moved;
};

static void watch(void *arg)
{
    struct watch *w = arg;
    uint64_t seen[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        seen[i] = atomic_load(&w->workers[i].done);
    for (const uint64_t end = clock_monotonic_ns() + 5000000; clock_monotonic_ns() < end;)
        for (int i = 0; i < WORKERS; i++)
            w->moved |= seen[i] != atomic_load(&w->workers[i].done);
}

static void nobody_runs_and_all_go_on(void **state)
{
    static uint64_t words[WORKERS];
    struct watch w = {.moved = false};
    char text[200];
    (void)state;
    need_tracing();
    for (int i = 0; i < WORKERS; i++)
        worker_begin(&w.workers[i], &words[i]);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(standstill_run(watch, &w, text, sizeof text), MRMA_SUCCESS);
        assert_false(w.moved);
        for (int i = 0; i < WORKERS; i++)
            for (const uint64_t was = atomic_load(&w.workers[i].done);
                 was == atomic_load(&w.workers[i].done);)
                sched_yield();
    }
    for (int i = 0; i < WORKERS; i++)
        worker_end(&w.workers[i]);
}

static _Atomic int signals;

static void on_signal(int sig)
{
    (void)sig;
    atomic_fetch_add(&signals, 1);
}

struct victim {
    pid_t pid, tid;
};

static void send_signal(void *arg)
{
    const struct victim *v = arg;
    (void)syscall(SYS_tgkill, v->pid, v->tid, SIGUSR1);
}

static void a_signal_comes_later(void **state)
{
    static uint64_t word;
    struct worker w;
    char text[200];
    (void)state;
    need_tracing();
    signal(SIGUSR1, on_signal);
    worker_begin(&w, &word);
    struct victim v = {getpid(), atomic_load(&w.tid)};
    for (int round = 1; round <= 20; round++) {
        send_signal(&v); /* maybe it is about to get this one when it is stopped */
        assert_int_equal(standstill_run(send_signal, &v, text, sizeof text), MRMA_SUCCESS);
        while (atomic_load(&signals) < round)
            sched_yield();
    }
    worker_end(&w);
    signal(SIGUSR1, SIG_DFL);
}

static void *read_byte(void *arg)
{
    char byte;
    return (void *)(intptr_t)read(*(int *)arg, &byte, 1);
}

static void a_wait_goes_on(void **state)
{
    int fd[2], n = 0;
    pthread_t thread;
    void *got;
    char text[200];
    (void)state;
    need_tracing();
    assert_int_equal(pipe(fd), 0);
    pthread_create(&thread, NULL, read_byte, &fd[0]);
    for (int round = 0; round < 20; round++)
        assert_int_equal(standstill_run(count, &n, text, sizeof text), MRMA_SUCCESS);
    assert_int_equal(n, 20);
    assert_int_equal(write(fd[1], "x", 1), 1);
    pthread_join(thread, &got);
    assert_int_equal((intptr_t)got, 1);
    close(fd[0]);
    close(fd[1]);
}

/* Threads come and go while they are stopped. */
static void *maker_main(void *arg)
{
    int n = 0;
    while (!atomic_load((_Atomic bool *)arg)) {
        pthread_t t;
        if (pthread_create(&t, NULL, (void *(*)(void *))(void *)getpid, NULL) == 0)
            pthread_join(t, NULL);
        n++;
    }
    return n ? arg : NULL;
}

static void threads_come_and_go(void **state)
{
    static _Atomic bool stop;
    pthread_t makers[2];
    char text[200] = "";
    int n = 0;
    (void)state;
    need_tracing();
    for (int i = 0; i < 2; i++)
        pthread_create(&makers[i], NULL, maker_main, &stop);
    for (int round = 0; round < 50; round++)
        assert_int_equal(standstill_run(count, &n, text, sizeof text), MRMA_SUCCESS);
    assert_int_equal(n, 50);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(makers[i], NULL);
}

static void who_is_traced_cannot_be_stopped(void **state)
{
    static uint64_t word;
    struct worker w;
    char text[200];
    int n = 0, fd;
    (void)state;
    need_tracing();
    worker_begin(&w, &word);
    const pid_t tracer = hold_by_tracer(atomic_load(&w.tid), &fd);
    assert_int_equal(standstill_run(count, &n, text, sizeof text), MRMA_ERR_OTHER);
    assert_int_equal(n, 0);
    assert_non_null(strstr(text, "ptrace"));
    close(fd);
    assert_int_equal(wait_child(tracer), 0);
    assert_int_equal(standstill_run(count, &n, text, sizeof text), MRMA_SUCCESS);
    assert_int_equal(n, 1);
    worker_end(&w);
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_it_just_runs),   cmocka_unit_test(nobody_runs_and_all_go_on),
        cmocka_unit_test(a_signal_comes_later), cmocka_unit_test(a_wait_goes_on),
        cmocka_unit_test(threads_come_and_go),  cmocka_unit_test(who_is_traced_cannot_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return under_tsan() ? 0 : run_with_skips(all_tests);
}
