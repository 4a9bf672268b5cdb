/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_process_model.c - sessions that begin and end at the same time in several threads. The host
 * is a double that takes long to say whether it is initialised. Each test is a process of its own,
 * since it is about the first session of a process.
 */
#include "test/support/base_helper.h"

#include <mpi.h>
#include <pthread.h>
#include <time.h>

#include "base/atomic.h"
#include "mpi/host/process_model.h"

enum { THREADS = 4 };

static _Atomic bool world, session; /* what the host has, and says yes to */

static void pause_ms(long ms)
{
    const struct timespec pause = {.tv_nsec = ms * 1000000};

    nanosleep(&pause, NULL);
}

int __wrap_PMPI_Initialized(int *flag);
int __wrap_PMPI_Initialized(int *flag)
{
    pause_ms(50);
    *flag = atomic_load_explicit(&world, memory_order_relaxed) ||
            atomic_load_explicit(&session, memory_order_relaxed);
    return MPI_SUCCESS;
}

int __wrap_PMPI_Finalized(int *flag);
int __wrap_PMPI_Finalized(int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

/* What MPI_Session_init does, and then: is there a world? */
static void *begin(void *arg)
{
    bool *seen = arg;

    session_begins();
    atomic_store_explicit(&session, true, memory_order_relaxed);
    *seen = world_in_use();
    return NULL;
}

static int begin_at_once(bool expected)
{
    pthread_t id[THREADS];
    bool seen[THREADS];

    for (int i = 0; i < THREADS; i++)
        CHILD_CHECK(pthread_create(&id[i], NULL, begin, &seen[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHILD_CHECK(pthread_join(id[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHILD_CHECK(seen[i] == expected);
    CHILD_CHECK(world_in_use() == expected);
    for (int i = 0; i < THREADS; i++)
        CHILD_CHECK(session_ends() == (i == THREADS - 1));
    session_end_over();
    CHILD_CHECK(!sessions_open());
    return 0;
}

/* MPI was initialised before this library was loaded. */
static int in_a_world(void *arg)
{
    (void)arg;
    atomic_store_explicit(&world, true, memory_order_relaxed);
    return begin_at_once(true);
}

/* Intel MPI says that MPI is initialised when there is a session. */
static int without_a_world(void *arg)
{
    (void)arg;
    return begin_at_once(false);
}

static _Atomic bool begun;

static void *begin_again(void *arg)
{
    (void)arg;
    session_begins();
    atomic_store_explicit(&begun, true, memory_order_release);
    return NULL;
}

static int last_and_first(void *arg)
{
    pthread_t id;

    (void)arg;
    session_begins();
    CHILD_CHECK(session_ends());
    CHILD_CHECK(pthread_create(&id, NULL, begin_again, NULL) == 0);
    pause_ms(100);
    CHILD_CHECK(!atomic_load_explicit(&begun, memory_order_acquire));
    CHILD_CHECK(!sessions_open());
    session_end_over();
    CHILD_CHECK(pthread_join(id, NULL) == 0);
    CHILD_CHECK(sessions_open());
    return 0;
}

static void first_sessions_in_a_world(void **state)
{
    (void)state;
    assert_int_equal(run_child(in_a_world, NULL), 0);
}

static void first_sessions_without_a_world(void **state)
{
    (void)state;
    assert_int_equal(run_child(without_a_world, NULL), 0);
}

static void a_first_session_waits_for_the_last(void **state)
{
    (void)state;
    assert_int_equal(run_child(last_and_first, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(first_sessions_in_a_world),
        cmocka_unit_test(first_sessions_without_a_world),
        cmocka_unit_test(a_first_session_waits_for_the_last),
    };
    return cmocka_run_group_tests_name("process_model", list, NULL, NULL);
}
