/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_host_poll_ucx.c - the poll in UCX's progress, in front of a UCX that the test
 * plays, and of calls that it makes as MPICH does.
 */
#include "test/support/base_helper.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include "base/atomic.h"
#include "mpi/host/host_kind.h"
#include "mpi/host/host_poll.h"
#include "mpi/host/host_poll_ucx.h"
#include "rma/rma.h"

unsigned ucp_worker_progress(void *worker);

/* ---- UCX ---- */

enum { EVENTS = 42 };
static int ucx_library, some_worker;
static _Atomic int rounds; /* of UCX's own progress */
static int sought;

static unsigned progress_of_ucx(void *worker)
{
    assert_ptr_equal(worker, &some_worker);
    atomic_fetch_add(&rounds, 1);
    return EVENTS;
}

/* UCX came with dlopen: no other definition follows this library's in the global scope. */
void *__wrap_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name)
{
    unsigned (*fn)(void *) = progress_of_ucx;
    void *found;
    assert_string_equal(name, "ucp_worker_progress");
    sought++;
    if (handle == RTLD_NEXT)
        return NULL;
    assert_ptr_equal(handle, &ucx_library);
    *(unsigned (**)(void *))(void *)&found = fn;
    return found;
}

void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
    assert_string_equal(name, "libucp.so.0");
    assert_true(flags & RTLD_NOLOAD);
    return &ucx_library;
}

static void call(void)
{
    const int before = atomic_load(&rounds);
    assert_int_equal(ucp_worker_progress(&some_worker), EVENTS);
    assert_true(atomic_load(&rounds) > before);
}

/* ---- what is polled ---- */

static struct rma *const engine = (struct rma *)(void *)&some_worker; /* never looked into */
static _Atomic int polls;
static _Atomic bool stay, inside; /* a poll lasts as long as stay is set */
static bool comes_back;           /* it calls UCX itself */

bool __wrap_rma_host_poll(struct rma *rma);
bool __wrap_rma_host_poll(struct rma *rma)
{
    assert_ptr_equal(rma, engine);
    atomic_fetch_add(&polls, 1);
    atomic_store(&inside, true);
    if (comes_back)
        call();
    while (atomic_load(&stay))
        sched_yield();
    atomic_store(&inside, false);
    return true;
}

/* The host of host_poll.c, and a window that uses packets, or none. */
static bool packets = true;
enum host_join host_joins(void)
{
    return HOST_JOIN_BY_UCX;
}
bool __wrap_rma_uses_packets(const struct rma *rma);
bool __wrap_rma_uses_packets(const struct rma *rma)
{
    return rma == engine && packets;
}

static int anew(void **state)
{
    (void)state;
    host_poll_ucx_end();
    comes_back = false;
    packets = true;
    atomic_store(&polls, 0);
    return 0;
}

static void ucx_is_found_once(void **state)
{
    (void)state;
    call();
    call();
    assert_int_equal(sought, 2); /* behind this function, then in its own library */
    assert_int_equal(atomic_load(&polls), 0);
}

static void polls_between_begin_and_end(void **state)
{
    (void)state;
    host_poll_ucx_begin(engine, true);
    host_poll_ucx_begin(engine, true);
    call();
    call();
    assert_int_equal(atomic_load(&polls), 2);
    host_poll_ucx_end();
    host_poll_ucx_end();
    call();
    assert_int_equal(atomic_load(&polls), 2);
}

static void does_not_poll_within_a_poll(void **state)
{
    (void)state;
    comes_back = true;
    host_poll_ucx_begin(engine, true);
    call();
    call();
    assert_int_equal(atomic_load(&polls), 2);
}

/* As long as there are windows that use packets. */
static void polls_for_windows(void **state)
{
    struct log log;
    (void)state;
    log_init(&log, LOG_LEVEL_WARN, 2, "test");
    packets = false;
    host_poll_window_made(engine, true, &log);
    call();
    assert_int_equal(atomic_load(&polls), 0);
    packets = true;
    host_poll_window_made(engine, true, &log);
    call();
    assert_int_equal(atomic_load(&polls), 1);
    host_poll_window_freed();
    call();
    assert_int_equal(atomic_load(&polls), 2);
    host_poll_window_freed();
    call();
    assert_int_equal(atomic_load(&polls), 2);
    host_poll_window_made(engine, true, &log);
    host_poll_end();
    call();
    assert_int_equal(atomic_load(&polls), 2);
}

static void *another_thread(void *arg)
{
    (void)arg;
    call();
    return NULL;
}

/* Where one thread alone may call MPI, others come with UCX of their own. */
static void polls_by_its_owner_alone(void **state)
{
    (void)state;
    pthread_t other;
    comes_back = true;
    host_poll_ucx_begin(engine, false);
    call();
    call();
    assert_int_equal(atomic_load(&polls), 2);
    assert_int_equal(pthread_create(&other, NULL, another_thread, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(atomic_load(&polls), 2);
    host_poll_ucx_end();
    call();
    assert_int_equal(atomic_load(&polls), 2);
}

static _Atomic bool ended;

static void *ending_thread(void *arg)
{
    (void)arg;
    host_poll_ucx_end();
    atomic_store(&ended, true);
    return NULL;
}

/* Whoever ends may destroy the engine next. Other threads that come meanwhile do not wait. */
static void the_end_waits_for_who_is_inside(void **state)
{
    (void)state;
    pthread_t poller, ender;
    atomic_store(&ended, false);
    atomic_store(&stay, true);
    host_poll_ucx_begin(engine, true);
    assert_int_equal(pthread_create(&poller, NULL, another_thread, NULL), 0);
    while (!atomic_load(&inside))
        sched_yield();
    call();
    assert_int_equal(atomic_load(&polls), 1);
    assert_int_equal(pthread_create(&ender, NULL, ending_thread, NULL), 0);
    for (int i = 0; i < 1000; i++) {
        sched_yield();
        assert_false(atomic_load(&ended));
    }
    atomic_store(&stay, false);
    assert_int_equal(pthread_join(ender, NULL), 0);
    assert_false(atomic_load(&inside));
    assert_int_equal(pthread_join(poller, NULL), 0);
}

static _Atomic bool over;

static void *calling_thread(void *arg)
{
    (void)arg;
    while (!atomic_load(&over))
        call();
    return NULL;
}

/* Threads in MPICH poll while windows come and go: nobody is inside behind an end. */
static void ends_beside_polls_of_two_threads(void **state)
{
    (void)state;
    pthread_t callers[2];
    atomic_store(&over, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, calling_thread, NULL), 0);
    for (int i = 0; i < 2000; i++) {
        host_poll_ucx_begin(engine, true);
        if (i % 50 == 0)
            sched_yield();
        host_poll_ucx_end();
        assert_false(atomic_load(&inside));
    }
    host_poll_ucx_begin(engine, true);
    while (atomic_load(&polls) == 0)
        sched_yield();
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(callers[i], NULL), 0);
}

int main(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test_setup(ucx_is_found_once, anew),
        cmocka_unit_test_setup(polls_between_begin_and_end, anew),
        cmocka_unit_test_setup(does_not_poll_within_a_poll, anew),
        cmocka_unit_test_setup(polls_for_windows, anew),
        cmocka_unit_test_setup(polls_by_its_owner_alone, anew),
        cmocka_unit_test_setup(the_end_waits_for_who_is_inside, anew),
        cmocka_unit_test_setup(ends_beside_polls_of_two_threads, anew),
    };
    return cmocka_run_group_tests_name("host_poll_ucx", list, NULL, NULL);
}
