/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_place.c - a helping thread's processor and time slices: it follows the main thread,
 * looks no oftener than said, and asks for short slices.
 */
#define _GNU_SOURCE 1
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/place.h"
#include "base_helper.h"

struct follower {
    struct place place;
    uint64_t now;
    unsigned most;
    cpu_set_t set;
};

static void *follow(void *arg)
{
    struct follower *f = arg;
    place_follow_main(&f->place, f->now, f->most);
    sched_getaffinity(0, sizeof f->set, &f->set);
    return NULL;
}

/* In a thread of its own; where that may run afterwards. */
static void run(struct follower *f)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, follow, f), 0);
    pthread_join(thread, NULL);
}

static void keep_main_on(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static void test_follow(void **state)
{
    cpu_set_t all;
    uint64_t now = 1;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    struct follower f = {.place = {.cpu = -1}, .most = UINT_MAX - 1};
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all))
            continue;
        keep_main_on(cpu);
        f.now = now += PLACE_LOOK_NS;
        run(&f);
        assert_int_equal(f.place.cpu, cpu);
        assert_int_equal(CPU_COUNT(&f.set), 1);
        assert_true(CPU_ISSET(cpu, &f.set));
        f.place.cpu = -1; /* too early for another look */
        f.now = now + PLACE_LOOK_NS - 1;
        run(&f);
        assert_int_equal(f.place.cpu, -1);
    }
    f.place.cpu = 0; /* more than none want to run: this thread does */
    f.now = now + PLACE_LOOK_NS;
    f.most = 0;
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    run(&f);
    assert_int_equal(f.place.cpu, -1);
    assert_true(CPU_EQUAL(&f.set, &all));
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void *shorten(void *arg)
{
    uint64_t *attr = arg; /* size and policy, flags, nice and priority, runtime, deadline, period */
    place_short_slices();
    assert_int_equal(syscall(SYS_sched_getattr, 0, attr, 6 * sizeof *attr, 0), 0);
    return NULL;
}

static void test_slices(void **state)
{
    uint64_t attr[6] = {6 * sizeof(uint64_t)}, mine[6] = {6 * sizeof(uint64_t)};
    pthread_t thread;
    (void)state;
    assert_int_equal(syscall(SYS_sched_getattr, 0, mine, sizeof mine, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, shorten, attr), 0);
    pthread_join(thread, NULL);
    if (attr[3] == 0) /* a kernel that knows no slices of a thread's own */
        skip();
    assert_int_equal(attr[3], 100000);
    uint64_t after[6] = {6 * sizeof(uint64_t)};
    assert_int_equal(syscall(SYS_sched_getattr, 0, after, sizeof after, 0), 0);
    assert_int_equal(after[3], mine[3]); /* only the calling thread's */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_follow),
                                       cmocka_unit_test(test_slices)};
    return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
