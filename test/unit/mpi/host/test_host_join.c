/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_host_join.c - the poll in the host's progress, in front of an MPICH, a UCX and an Open MPI
 * that the test plays. Each test runs for both ways into MPICH's progress (host_poll_mpich.c and
 * host_poll_ucx.c): a round of that progress polls from begin to end, and whoever ends knows that
 * nobody is inside. What only one host does, such as a refusal, has a test of its own.
 */
#include "test/support/base_helper.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include "base/atomic.h"
#include "mpi/host/host_kind.h"
#include "mpi/host/host_poll.h"
#include "mpi/host/host_poll_mpich.h"
#include "mpi/host/host_poll_ucx.h"
#include "rma/rma.h"

struct MPIR_Async_thing;
typedef int poll_fn(struct MPIR_Async_thing *);
typedef int async_start(poll_fn *, void *state, int stream);

enum { DONE = 1, STREAM_NULL = 0x3c000000, EVENTS = 42 };

/* ---- MPICH: it has what MPIX_Async_start was given, and calls that in each round ---- */

static poll_fn *_Atomic given;
static _Atomic int held, started; /* how often it has the function now, and was given it */
static int refuse;

static int mpich_start(poll_fn *fn, void *state, int stream)
{
    (void)state;
    assert_int_equal(stream, STREAM_NULL);
    atomic_fetch_add(&started, 1);
    if (refuse)
        return 1;
    atomic_store(&given, fn);
    atomic_fetch_add(&held, 1);
    return 0;
}

/* MPICH's progress forgets a function that says that it is done. */
static void mpich_round(void)
{
    if (atomic_load(&held) && atomic_load(&given)(NULL) == DONE)
        atomic_fetch_sub(&held, 1);
}

/* ---- UCX: it came with dlopen, so no other definition follows the library's ---- */

unsigned ucp_worker_progress(void *worker);
static int ucx_library, some_worker, sought;
static _Atomic int rounds; /* of UCX's own progress */

static unsigned progress_of_ucx(void *worker)
{
    assert_ptr_equal(worker, &some_worker);
    atomic_fetch_add(&rounds, 1);
    return EVENTS;
}

static void ucx_round(void)
{
    const int before = atomic_load(&rounds);
    assert_int_equal(ucp_worker_progress(&some_worker), EVENTS);
    assert_true(atomic_load(&rounds) > before);
}

/* ---- what the library looks up ---- */

static int opal_refuses(int (*poll)(void))
{
    (void)poll;
    return -2;
}

static void *find_ucx(void *handle)
{
    unsigned (*fn)(void *) = progress_of_ucx;
    void *found;
    sought++;
    if (handle == RTLD_NEXT)
        return NULL;
    assert_ptr_equal(handle, &ucx_library);
    *(unsigned (**)(void *))(void *)&found = fn;
    return found;
}

void *__wrap_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name)
{
    int (*refusing)(int (*)(void)) = opal_refuses;
    async_start *starting = mpich_start;
    void *found;
    if (strcmp(name, "ucp_worker_progress") == 0)
        return find_ucx(handle);
    assert_ptr_equal(handle, RTLD_DEFAULT);
    if (strcmp(name, "opal_progress_register") == 0) {
        *(int (**)(int (*)(void)))(void *)&found = refusing;
    } else {
        assert_string_equal(name, "PMPIX_Async_start");
        *(async_start **)(void *)&found = starting;
    }
    return found;
}

void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
    assert_string_equal(name, "libucp.so.0");
    assert_true(flags & RTLD_NOLOAD);
    return &ucx_library;
}

/* ---- the ways into the host's progress ---- */

struct way {
    enum host_join joins;
    int (*begin)(struct rma *rma, bool threads);
    void (*end)(void);
    void (*round)(void);
};

static int ucx_begin(struct rma *rma, bool threads)
{
    host_poll_ucx_begin(rma, threads);
    return 0;
}

static const struct way ways[] = {
    {HOST_JOIN_BY_ASYNC, host_poll_mpich_begin, host_poll_mpich_end, mpich_round},
    {HOST_JOIN_BY_UCX, ucx_begin, host_poll_ucx_end, ucx_round},
};
static const struct way *way; /* the present one */

/* ---- what is polled ---- */

static struct rma *const engine = (struct rma *)(void *)&some_worker; /* never looked into */
static _Atomic int polls;
static _Atomic bool stay, inside; /* a poll lasts as long as stay is set */
static bool comes_back;           /* it calls the host itself */

bool __wrap_rma_host_poll(struct rma *rma);
bool __wrap_rma_host_poll(struct rma *rma)
{
    assert_ptr_equal(rma, engine);
    atomic_fetch_add(&polls, 1);
    atomic_store(&inside, true);
    if (comes_back)
        way->round();
    while (atomic_load(&stay))
        sched_yield();
    atomic_store(&inside, false);
    return true;
}

/* The host of host_poll.c, and a window that uses packets, or none. */
static bool packets;
static enum host_join joins;
enum host_join host_joins(void)
{
    return joins;
}
bool __wrap_rma_uses_packets(const struct rma *rma);
bool __wrap_rma_uses_packets(const struct rma *rma)
{
    return rma == engine && packets;
}

static int anew(void **state)
{
    way = *state;
    joins = way->joins;
    host_poll_end();
    mpich_round();
    assert_int_equal(atomic_load(&held), 0);
    atomic_store(&started, 0);
    refuse = 0;
    comes_back = false;
    packets = true;
    atomic_store(&polls, 0);
    return 0;
}

static void rounds_poll(int n, int expected)
{
    const int before = atomic_load(&polls);
    for (int i = 0; i < n; i++)
        way->round();
    assert_int_equal(atomic_load(&polls) - before, expected);
}

/* ---- both ways ---- */

static void polls_between_begin_and_end(void **state)
{
    (void)state;
    way->begin(engine, true);
    way->begin(engine, true);
    rounds_poll(2, 2);
    way->end();
    way->end();
    rounds_poll(1, 0);
    assert_int_equal(atomic_load(&held), 0); /* MPICH can end */
}

static void does_not_poll_within_a_poll(void **state)
{
    (void)state;
    comes_back = true;
    way->begin(engine, true);
    rounds_poll(2, 2);
}

/* As long as there are windows that use packets. */
static void polls_for_windows(void **state)
{
    struct log log;
    (void)state;
    log_init(&log, LOG_LEVEL_WARN, 2, "test");
    packets = false;
    host_poll_window_made(engine, true, &log);
    rounds_poll(1, 0);
    packets = true;
    host_poll_window_made(engine, true, &log);
    rounds_poll(1, 1);
    host_poll_window_freed();
    rounds_poll(1, 1);
    host_poll_window_freed();
    rounds_poll(1, 0);
    host_poll_window_made(engine, true, &log);
    host_poll_end();
    rounds_poll(1, 0);
}

static void *another_thread(void *arg)
{
    (void)arg;
    way->round();
    return NULL;
}

/* Where one thread alone may call MPI, others come with UCX of their own. */
static void polls_by_its_owner_alone(void **state)
{
    (void)state;
    pthread_t other;
    comes_back = true;
    way->begin(engine, false);
    rounds_poll(2, 2);
    assert_int_equal(pthread_create(&other, NULL, another_thread, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(atomic_load(&polls), 2);
    way->end();
    rounds_poll(1, 0);
}

static _Atomic bool ended;

static void *ending_thread(void *arg)
{
    (void)arg;
    way->end();
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
    way->begin(engine, true);
    assert_int_equal(pthread_create(&poller, NULL, another_thread, NULL), 0);
    while (!atomic_load(&inside))
        sched_yield();
    rounds_poll(1, 0);
    assert_int_equal(pthread_create(&ender, NULL, ending_thread, NULL), 0);
    for (int i = 0; i < 1000; i++) {
        sched_yield();
        assert_false(atomic_load(&ended));
    }
    way->round();
    assert_int_equal(atomic_load(&held), way->joins == HOST_JOIN_BY_ASYNC); /* still polled */
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
        way->round();
    return NULL;
}

/* Threads in MPICH poll while windows come and go: nobody is inside behind an end, and the function
 * that MPICH was given says each time that it is done. */
static void ends_beside_polls_of_two_threads(void **state)
{
    (void)state;
    pthread_t callers[2];
    atomic_store(&over, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, calling_thread, NULL), 0);
    for (int i = 0; i < 2000; i++) {
        way->begin(engine, true);
        if (i % 50 == 0)
            sched_yield();
        way->end();
        assert_false(atomic_load(&inside));
    }
    way->begin(engine, true);
    while (atomic_load(&polls) == 0)
        sched_yield();
    way->end();
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(callers[i], NULL), 0);
    way->round();
    assert_int_equal(atomic_load(&held), 0);
}

/* ---- one host alone ---- */

static void ucx_is_found_once(void **state)
{
    (void)state;
    ucx_round();
    ucx_round();
    assert_int_equal(sought, 2); /* behind the library's function, then in UCX's own library */
    assert_int_equal(atomic_load(&polls), 0);
}

static void mpich_goes_on_if_it_had_not_left(void **state)
{
    (void)state;
    way->begin(engine, true);
    way->end();
    way->begin(engine, true);
    assert_int_equal(atomic_load(&started), 1);
    rounds_poll(1, 1);
    assert_int_equal(atomic_load(&held), 1);
}

static void mpich_starts_again_after_it_has_left(void **state)
{
    (void)state;
    way->begin(engine, true);
    way->end();
    way->round();
    way->begin(engine, true);
    assert_int_equal(atomic_load(&started), 2);
    rounds_poll(1, 1);
}

static void mpich_may_be_asked_again_after_a_refusal(void **state)
{
    (void)state;
    refuse = 1;
    assert_int_equal(way->begin(engine, true), 1);
    way->end();
    refuse = 0;
    assert_int_equal(way->begin(engine, true), 0);
    assert_int_equal(atomic_load(&started), 2);
    assert_int_equal(atomic_load(&held), 1);
}

/* Who polls is a matter of speed, so a window is made all the same. */
static void a_refusal_is_told(void **state)
{
    (void)state;
    static const struct {
        enum host_join joins;
        const char *error;
    } hosts[] = {{HOST_JOIN_BY_ASYNC, "(its error 1)"}, {HOST_JOIN_BY_OPAL, "(its error -2)"}};
    struct log_pipe lp;
    char text[500];
    log_to_pipe(&lp, LOG_LEVEL_WARN);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        joins = hosts[i].joins;
        refuse = 1;
        host_poll_window_made(engine, true, &lp.log);
        assert_non_null(strstr(log_text(&lp, text, sizeof text), "the host does not poll"));
        assert_non_null(strstr(text, hosts[i].error));
        host_poll_window_made(engine, true, &lp.log);
        assert_string_equal(log_text(&lp, text, sizeof text), ""); /* once */
        host_poll_end();
    }
    joins = HOST_JOIN_BY_ASYNC;
    refuse = 0;
    host_poll_window_made(engine, true, &lp.log);
    assert_string_equal(log_text(&lp, text, sizeof text), "");
    assert_int_equal(atomic_load(&held), 1);
    host_poll_window_freed();
    log_pipe_close(&lp);
}

#define OF(way_, test)                                                    \
    {                                                                     \
#test, test, anew, NULL, (void *)(uintptr_t)&ways[(size_t)(way_)] \
    }
#define BOTH(test) OF(0, test), OF(1, test)

int main(void)
{
    const struct CMUnitTest list[] = {
        OF(1, ucx_is_found_once), /* first */
        BOTH(polls_between_begin_and_end),
        BOTH(does_not_poll_within_a_poll),
        BOTH(polls_for_windows),
        BOTH(polls_by_its_owner_alone),
        BOTH(the_end_waits_for_who_is_inside),
        BOTH(ends_beside_polls_of_two_threads),
        OF(0, mpich_goes_on_if_it_had_not_left),
        OF(0, mpich_starts_again_after_it_has_left),
        OF(0, mpich_may_be_asked_again_after_a_refusal),
        OF(0, a_refusal_is_told),
    };
    return cmocka_run_group_tests_name("host_join", list, NULL, NULL);
}
