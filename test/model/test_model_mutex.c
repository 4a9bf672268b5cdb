/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model_mutex.c - fmutex.h in every order: one holder at a time, and everybody who waits gets
 * it, also from a holder that has somebody to wake.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "model.h"

#include <cmocka.h>

#include "sys/fmutex.c"

#include "explore.h"

static struct fmutex fm;
static struct elock el;
static _Atomic uint32_t inside;
static unsigned turns;

static void setup(void)
{
    memset(&fm, 0, sizeof fm);
    elock_init(&el);
    atomic_store_explicit(&inside, 0, memory_order_relaxed);
    turns = 0;
}

static void hold(void)
{
    if (atomic_load_explicit(&inside, memory_order_relaxed))
        model_fail("two hold it");
    atomic_store_explicit(&inside, 1, memory_order_relaxed);
    turns++;
    atomic_store_explicit(&inside, 0, memory_order_relaxed);
}

static void lock_fm(uint64_t self)
{
    fmutex_lock(&fm, self);
    hold();
    fmutex_unlock(&fm);
}

/* As fmutex_lock, by somebody who does not spin: the orders in which several sleep are few then. */
static void lock_asleep(uint64_t self)
{
    if (!fmutex_try(&fm, self))
        while (!sleep_and_try(&fm, self, atomic_load_explicit(&fm.word, memory_order_relaxed)))
            ;
    hold();
    fmutex_unlock(&fm);
}

static void first_asleep(void)
{
    lock_asleep(1);
}

static void second_asleep(void)
{
    lock_asleep(2);
}

static void third_asleep(void)
{
    lock_asleep(3);
}

static void first_fm(void)
{
    lock_fm(1);
}

static void second_fm(void)
{
    lock_fm(2);
}

static void third_fm(void)
{
    lock_fm(3);
}

static void lock_el(void)
{
    elock_lock(&el);
    hold();
    elock_unlock(&el);
}

static unsigned expected;

static void all_had_a_turn(void)
{
    if (turns != expected)
        model_fail("somebody had no turn");
}

static void test_fmutex(void **state)
{
    (void)state;
    expected = 2;
    explore(&(struct model_scenario){
        .setup = setup, .thread = {first_fm, second_fm}, .check = all_had_a_turn, .deviations = 3});
    expected = 3;
    explore(&(struct model_scenario){.setup = setup,
                                     .thread = {first_fm, second_fm, third_fm},
                                     .check = all_had_a_turn,
                                     .deviations = 1});
}

static void test_fmutex_asleep(void **state)
{
    (void)state;
    expected = 3;
    explore(&(struct model_scenario){.setup = setup,
                                     .thread = {first_asleep, second_asleep, third_asleep},
                                     .check = all_had_a_turn,
                                     .deviations = 3});
}

static void test_elock(void **state)
{
    (void)state;
    expected = 2;
    explore(&(struct model_scenario){
        .setup = setup, .thread = {lock_el, lock_el}, .check = all_had_a_turn, .deviations = 4});
    expected = 3;
    explore(&(struct model_scenario){.setup = setup,
                                     .thread = {lock_el, lock_el, lock_el},
                                     .check = all_had_a_turn,
                                     .deviations = 3});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_fmutex),
    cmocka_unit_test(test_fmutex_asleep),
    cmocka_unit_test(test_elock),
};
MODEL_MAIN(tests)
