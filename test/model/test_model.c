/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model.c - does the model (model.h) find what must be found, and nothing else? Small
 * protocols whose outcome is known, with their fences and without.
 */
#include "model.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "explore.h"

static _Atomic uint32_t x, y;
static uint32_t seen_x, seen_y;

static void clear(void)
{
    atomic_store_explicit(&x, 0, memory_order_relaxed);
    atomic_store_explicit(&y, 0, memory_order_relaxed);
    seen_x = seen_y = 0;
}

static const char *outcome(const struct model_scenario *s)
{
    unsigned long runs = 0;
    const char *failure = model_explore(s, &runs);
    print_message("# %lu runs%s%s\n", runs, failure ? ": " : "", failure ? failure : "");
    assert_true(runs > 1 || failure);
    return failure;
}

/* Each stores and then looks at what the other has stored (Dekker). */
static void store_x(void)
{
    atomic_store_explicit(&x, 1, memory_order_release);
    seen_y = atomic_load_explicit(&y, memory_order_acquire);
}

static void store_x_fence(void)
{
    atomic_store_explicit(&x, 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    seen_y = atomic_load_explicit(&y, memory_order_acquire);
}

static void store_y_fence(void)
{
    atomic_store_explicit(&y, 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    seen_x = atomic_load_explicit(&x, memory_order_acquire);
}

static void one_saw(void)
{
    if (!seen_x && !seen_y)
        model_fail("neither saw the other's store");
}

static void test_two_fences(void **state)
{
    (void)state;
    assert_null(outcome(&(struct model_scenario){.setup = clear,
                                                 .thread = {store_x_fence, store_y_fence},
                                                 .check = one_saw,
                                                 .deviations = 4}));
}

static void test_one_fence_is_too_few(void **state)
{
    (void)state;
    assert_non_null(outcome(&(struct model_scenario){
        .setup = clear, .thread = {store_x, store_y_fence}, .check = one_saw, .deviations = 2}));
}

/* A flag behind the data that it announces. */
static memory_order order;

static void announce(void)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 1, order);
}

static void follow(void)
{
    while (!atomic_load_explicit(&y, memory_order_acquire))
        model_pause();
    if (!atomic_load_explicit(&x, memory_order_relaxed))
        model_fail("the flag came before the data");
}

static void test_release(void **state)
{
    (void)state;
    const struct model_scenario s = {.setup = clear, .thread = {announce, follow}, .deviations = 3};
    order = memory_order_release;
    assert_null(outcome(&s));
    order = memory_order_relaxed;
    assert_non_null(outcome(&s));
}

/* Two that count by an exchange, and two that do not. */
static void count(void)
{
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
}

static void count_wrongly(void)
{
    atomic_store_explicit(&x, atomic_load_explicit(&x, memory_order_relaxed) + 1,
                          memory_order_seq_cst);
}

static void counted_two(void)
{
    if (atomic_load_explicit(&x, memory_order_relaxed) != 2)
        model_fail("a count was lost");
}

static void test_exchange(void **state)
{
    (void)state;
    assert_null(outcome(&(struct model_scenario){
        .setup = clear, .thread = {count, count}, .check = counted_two, .deviations = 2}));
    assert_non_null(outcome(&(struct model_scenario){.setup = clear,
                                                     .thread = {count_wrongly, count_wrongly},
                                                     .check = counted_two,
                                                     .deviations = 2}));
}

static void wait_for_nobody(void)
{
    while (!atomic_load_explicit(&y, memory_order_acquire))
        model_pause();
}

static void test_wait_without_end(void **state)
{
    (void)state;
    assert_non_null(outcome(&(struct model_scenario){
        .setup = clear, .thread = {wait_for_nobody, count}, .deviations = 1}));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_two_fences),       cmocka_unit_test(test_one_fence_is_too_few),
    cmocka_unit_test(test_release),          cmocka_unit_test(test_exchange),
    cmocka_unit_test(test_wait_without_end),
};
MODEL_MAIN(tests)
