/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_host_poll_mpich.c - the poll in MPICH's progress, in front of an MPICH that
 * the test plays: it has what MPIX_Async_start was given, and calls it when the test says so. And
 * that a refusal of either host is told.
 */
#include "test/support/base_helper.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include "base/atomic.h"
#include "mpi/host/host_kind.h"
#include "mpi/host/host_poll.h"
#include "mpi/host/host_poll_mpich.h"
#include "rma/rma.h"

struct MPIR_Async_thing;
typedef int poll_fn(struct MPIR_Async_thing *);

enum { DONE = 1, HELD_MAX = 4 };

/* The list of MPICH. */
static poll_fn *held[HELD_MAX];
static int nheld, started, refuse;

/* What was polled. */
static struct rma *const engine = (struct rma *)(void *)&nheld; /* never looked into */
static _Atomic int polls;
static _Atomic bool stay, inside; /* a poll lasts as long as stay is set */

static int start(poll_fn *fn, void *state, int stream)
{
    (void)state;
    assert_int_equal(stream, 0x3c000000);
    started++;
    if (refuse)
        return 1;
    assert_true(nheld < HELD_MAX);
    held[nheld++] = fn;
    return 0;
}

static int opal_refuses(int (*poll)(void))
{
    (void)poll;
    return -2;
}

void *__wrap_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name)
{
    void *found;
    int (*fn)(poll_fn *, void *, int) = start;
    assert_ptr_equal(handle, RTLD_DEFAULT);
    if (strcmp(name, "opal_progress_register") == 0) {
        int (*refusing)(int (*)(void)) = opal_refuses;
        *(int (**)(int (*)(void)))(void *)&found = refusing;
        return found;
    }
    assert_string_equal(name, "PMPIX_Async_start");
    *(int (**)(poll_fn *, void *, int))(void *)&found = fn;
    return found;
}

bool __wrap_rma_host_poll(struct rma *rma);
bool __wrap_rma_host_poll(struct rma *rma)
{
    assert_ptr_equal(rma, engine);
    atomic_fetch_add(&polls, 1);
    atomic_store(&inside, true);
    while (atomic_load(&stay))
        sched_yield();
    atomic_store(&inside, false);
    return true;
}

/* The host of host_poll.c, and a window for which it is needed. */
static enum host_join joins;
enum host_join host_joins(void)
{
    return joins;
}
bool __wrap_rma_uses_packets(const struct rma *rma);
bool __wrap_rma_uses_packets(const struct rma *rma)
{
    return rma == engine;
}

static bool is_done(poll_fn *fn)
{
    return fn(NULL) == DONE;
}

/* What is done is forgotten by MPICH's progress. */
static void progress(void)
{
    int kept = 0;
    for (int i = 0; i < nheld; i++)
        if (!is_done(held[i]))
            held[kept++] = held[i];
    nheld = kept;
}

static int anew(void **state)
{
    (void)state;
    host_poll_mpich_end();
    progress();
    assert_int_equal(nheld, 0);
    started = refuse = 0;
    atomic_store(&polls, 0);
    return 0;
}

static void polls_between_begin_and_end(void **state)
{
    (void)state;
    host_poll_mpich_begin(engine, true);
    host_poll_mpich_begin(engine, true);
    assert_int_equal(started, 1);
    progress();
    progress();
    assert_int_equal(atomic_load(&polls), 2);
    host_poll_mpich_end();
    host_poll_mpich_end();
    assert_int_equal(nheld, 1);
    progress();
    assert_int_equal(atomic_load(&polls), 2);
    assert_int_equal(nheld, 0); /* MPICH can end */
}

static void goes_on_if_it_had_not_left(void **state)
{
    (void)state;
    host_poll_mpich_begin(engine, true);
    host_poll_mpich_end();
    host_poll_mpich_begin(engine, true);
    assert_int_equal(started, 1);
    progress();
    assert_int_equal(atomic_load(&polls), 1);
    assert_int_equal(nheld, 1);
}

static void starts_again_after_it_has_left(void **state)
{
    (void)state;
    host_poll_mpich_begin(engine, true);
    host_poll_mpich_end();
    progress();
    host_poll_mpich_begin(engine, true);
    assert_int_equal(started, 2);
    progress();
    assert_int_equal(atomic_load(&polls), 1);
}

static void a_refusal_may_be_asked_again(void **state)
{
    (void)state;
    refuse = 1;
    assert_int_equal(host_poll_mpich_begin(engine, true), 1);
    host_poll_mpich_end();
    refuse = 0;
    assert_int_equal(host_poll_mpich_begin(engine, true), 0);
    assert_int_equal(started, 2);
    assert_int_equal(nheld, 1);
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
    assert_int_equal(nheld, 1);
    host_poll_window_freed();
    log_pipe_close(&lp);
}

static void *another_thread(void *arg)
{
    (void)arg;
    progress();
    return NULL;
}

static _Atomic bool ended;

static void *ending_thread(void *arg)
{
    (void)arg;
    host_poll_mpich_end();
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
    host_poll_mpich_begin(engine, true);
    assert_int_equal(pthread_create(&poller, NULL, another_thread, NULL), 0);
    while (!atomic_load(&inside))
        sched_yield();
    assert_false(is_done(held[0]));
    assert_int_equal(atomic_load(&polls), 1);
    assert_int_equal(pthread_create(&ender, NULL, ending_thread, NULL), 0);
    for (int i = 0; i < 1000; i++) {
        sched_yield();
        assert_false(atomic_load(&ended));
    }
    assert_false(is_done(held[0])); /* not while it is still polled */
    atomic_store(&stay, false);
    assert_int_equal(pthread_join(ender, NULL), 0);
    assert_false(atomic_load(&inside));
    assert_int_equal(pthread_join(poller, NULL), 0);
    progress();
    assert_int_equal(nheld, 0);
}

static _Atomic bool over;

static void *calling_thread(void *arg)
{
    poll_fn *fn = arg;
    int done = 0;
    while (!atomic_load(&over))
        done += is_done(fn);
    return (void *)(intptr_t)done;
}

/* Threads in MPICH poll while windows come and go: nobody is inside behind an end, and each
 * function that MPICH was given says once that it is done. */
static void ends_beside_polls_of_two_threads(void **state)
{
    (void)state;
    pthread_t callers[2];
    void *done[2];
    atomic_store(&over, false);
    host_poll_mpich_begin(engine, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, calling_thread, (void *)held[0]), 0);
    for (int i = 0; i < 2000; i++) {
        host_poll_mpich_end();
        assert_false(atomic_load(&inside));
        nheld = 0; /* the callers have the function all the time */
        host_poll_mpich_begin(engine, true);
    }
    host_poll_mpich_end();
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(callers[i], &done[i]), 0);
    const int last = is_done(held[0]);
    nheld = 0;
    assert_int_equal((intptr_t)done[0] + (intptr_t)done[1] + last, started);
}

int main(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test_setup(polls_between_begin_and_end, anew),
        cmocka_unit_test_setup(goes_on_if_it_had_not_left, anew),
        cmocka_unit_test_setup(starts_again_after_it_has_left, anew),
        cmocka_unit_test_setup(a_refusal_may_be_asked_again, anew),
        cmocka_unit_test_setup(a_refusal_is_told, anew),
        cmocka_unit_test_setup(the_end_waits_for_who_is_inside, anew),
        cmocka_unit_test_setup(ends_beside_polls_of_two_threads, anew),
    };
    return cmocka_run_group_tests_name("host_poll_mpich", list, NULL, NULL);
}
