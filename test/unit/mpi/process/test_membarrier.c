/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_membarrier.c - the registration for membarrier(2) (sys/futex_event.h): not with
 * threads, where the kernel would wait; and where the kernel refuses it, or the barrier, a process
 * notifies with fences.
 *
 * The C library's syscall is replaced by one that counts membarrier and refuses it where a test
 * says so. Nothing here depends on whether this system has membarrier.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include <dlfcn.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "base/err.h"
#include "engine/engine_impl.h"
#include "sys/futex_event.h"

static struct {
    int registrations, barriers;
    bool refuse_registration, refuse_barrier;
} kernel;

static long pretend(bool refuse)
{
    errno = refuse ? EPERM : 0;
    return refuse ? -1 : 0;
}

/* It takes as many arguments as a system call can have, though callers give fewer. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
    long a[6];
    va_list ap;
    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    if (number == SYS_membarrier && a[0] == MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) {
        kernel.registrations++;
        return pretend(kernel.refuse_registration);
    }
    if (number == SYS_membarrier && a[0] == MEMBARRIER_CMD_GLOBAL_EXPEDITED) {
        kernel.barriers++;
        return pretend(kernel.refuse_barrier);
    }
    long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int reset(void **state)
{
    (void)state;
    memset(&kernel, 0, sizeof kernel);
    return 0;
}

static void *wait_for(void *arg)
{
    pthread_mutex_t *end = arg;
    pthread_mutex_lock(end);
    pthread_mutex_unlock(end);
    return NULL;
}

static void one_thread_registers(void **state)
{
    (void)state;
    assert_true(event_membarrier_register());
    assert_int_equal(kernel.registrations, 1);
    kernel.refuse_registration = true;
    assert_false(event_membarrier_register());
}

static void no_registration_with_threads(void **state)
{
    pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    (void)state;
    pthread_mutex_lock(&end);
    assert_int_equal(pthread_create(&thread, NULL, wait_for, &end), 0);
    assert_false(event_membarrier_register());
    assert_int_equal(kernel.registrations, 0);
    pthread_mutex_unlock(&end);
    pthread_join(thread, NULL);
    assert_true(event_membarrier_register());
}

/* Does the process that it describes notify without a fence, by its own event and by what it tells
 * others? */
static bool engine_membarrier(bool registered)
{
    static const struct conf conf;
    const struct engine_process process = {.membarrier = registered};
    struct engine *e;
    struct log quiet;
    log_init(&quiet, LOG_LEVEL_ERROR, -1, "membarrier");
    assert_int_equal(engine_create(&conf, &quiet, &process, &e), MRMA_SUCCESS);
    const bool own = atomic_load(&e->own->polling.threads.membarrier);
    struct proc_record rec;
    memcpy(&rec, &e->record, sizeof rec);
    assert_int_equal(rec.membarrier, own);
    engine_destroy(e);
    assert_int_equal(kernel.registrations, 0);
    return own;
}

static void an_engine_membarrier_if_it_may_be(void **state)
{
    (void)state;
    assert_true(engine_membarrier(true));
    assert_false(engine_membarrier(false));
    kernel.refuse_barrier = true;
    assert_false(engine_membarrier(true));
}

/* The sleeper's side asks for the barrier only where notifiers have no fence. */
static void a_sleeper_makes_the_barrier(void **state)
{
    struct event ev;
    (void)state;
    event_init(&ev);
    (void)event_enter(&ev);
    event_leave(&ev);
    assert_int_equal(kernel.barriers, 0);
    atomic_store(&ev.membarrier, 1);
    (void)event_enter(&ev);
    event_leave(&ev);
    assert_int_equal(kernel.barriers, 1);
    assert_true(event_membarrier());
    kernel.refuse_barrier = true;
    assert_false(event_membarrier());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_thread_registers, reset),
        cmocka_unit_test_setup(no_registration_with_threads, reset),
        cmocka_unit_test_setup(an_engine_membarrier_if_it_may_be, reset),
        cmocka_unit_test_setup(a_sleeper_makes_the_barrier, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
