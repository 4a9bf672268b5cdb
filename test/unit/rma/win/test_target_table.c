/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_target_table.c - rank to target: unused entries are nobody's and harmless,
 * pages are made on use only, and lookups run beside insertions.
 */
#include "test/support/base_helper.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/err.h"
#include "rma/layer/fast.h"
#include "rma/win/win.h"

/* Page borders, and sizes that end inside one. */
static const int sizes[] = {1, 2, 63, 64, 65, 127, 128, 129, 1000, 10000};

static void test_unused(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct target_table tt;
        assert_int_equal(target_table_init(&tt, sizes[s]), MRMA_SUCCESS);
        for (int i = 0; i < sizes[s]; i++) {
            const struct rma_target *t = target_table_get(&tt, i);
            assert_non_null(t);
            assert_null(t->peer);
            assert_null(t->base);
            assert_null(t->ctl);
            assert_null(t->route);
        }
        target_table_fini(&tt);
    }
}

static void test_put(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int n = sizes[s];
        struct rma_target *t = aligned_alloc(MRMA_CACHE_LINE, (size_t)n * sizeof *t);
        struct target_table tt;
        assert_non_null(t);
        assert_int_equal(target_table_init(&tt, n), MRMA_SUCCESS);
        /* From the end, every other one; the rest stays unused. */
        for (int i = n - 1; i >= 0; i -= 2)
            assert_int_equal(target_table_put(&tt, i, &t[i]), MRMA_SUCCESS);
        for (int i = 0; i < n; i++)
            assert_true((target_table_get(&tt, i) == &t[i]) == ((n - 1 - i) % 2 == 0));
        target_table_fini(&tt);
        free(t);
    }
}

/* The fast paths refuse a rank that has no target, whatever the generation. There is one only in
 * windows with packet targets. */
static void test_fast_paths(void **state)
{
    struct win *w = aligned_alloc(MRMA_CACHE_LINE, sizeof *w);
    struct rma rma = {.threads = false};
    uint64_t word = 0;
    (void)state;
    assert_non_null(w);
    memset(w, 0, sizeof *w);
    assert_int_equal(target_table_init(&w->targets, 3), MRMA_SUCCESS);
    w->rma = &rma;
    w->npackets = 3;
    for (uint32_t gen = 0; gen < 3; gen++) {
        atomic_store_explicit(&w->gen, gen, memory_order_relaxed);
        for (size_t len = 0; len <= 1; len++) {
            assert_false(fast_put(w, &word, 2, 0, len));
            assert_false(fast_get(w, &word, 2, 0, len));
        }
        assert_false(fast_fetch_op(w, ACC_SUM, &word, &word, 2, 0));
        assert_false(fast_cas(w, &word, &word, &word, 2, 0));
        for (int lock_all = 0; lock_all <= 1; lock_all++) {
            atomic_store_explicit(&w->epoch.state, lock_all ? EPOCH_LOCK_ALL : EPOCH_LOCK,
                                  memory_order_relaxed);
            win_set_flush_quick(w);
            assert_false(fast_flush(w, 2));
        }
    }
    target_table_fini(&w->targets);
    free(w);
}

/* A page is made for the first rank that needs it; all others share one. */
static void test_pages(void **state)
{
    enum { MANY = 100000, STEP = 20000, PAGES = (MANY + TARGET_PAGE - 1) / TARGET_PAGE };
    struct rma_target t;
    struct target_table tt;
    int own = 0;
    (void)state;
    assert_int_equal(target_table_init(&tt, MANY), MRMA_SUCCESS);
    target_slot *const unused = atomic_load_explicit(&tt.pages[0], memory_order_relaxed);
    for (int rank = STEP; rank < MANY; rank += STEP)
        for (int k = 0; k < 2; k++) /* two neighbours of one page */
            assert_int_equal(target_table_put(&tt, rank + k, &t), MRMA_SUCCESS);
    for (int i = 0; i < PAGES; i++)
        own += atomic_load_explicit(&tt.pages[i], memory_order_relaxed) != unused;
    assert_int_equal(own, (MANY - 1) / STEP);
    target_table_fini(&tt);
}

/* ---- lookups beside insertions (ThreadSanitizer looks on) ---- */

enum { RANKS = 300 };

static struct target_table shared;
static struct rma_target all[RANKS];
static _Atomic bool stop;

static void *look(void *arg)
{
    uintptr_t bad = 0;
    (void)arg;
    while (!atomic_load_explicit(&stop, memory_order_acquire))
        for (int i = 0; i < RANKS; i++) {
            const struct rma_target *t = target_table_get(&shared, i);
            bad +=
                t == &all[i] ? t->rank != i : t->peer != NULL; /* written before it was entered */
        }
    return (void *)bad;
}

static void test_threads(void **state)
{
    pthread_t thread[2];
    (void)state;
    assert_int_equal(target_table_init(&shared, RANKS), MRMA_SUCCESS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, look, NULL), 0);
    for (int i = 0; i < RANKS; i++) {
        const int rank = i * 7 % RANKS;
        all[rank].rank = rank;
        assert_int_equal(target_table_put(&shared, rank, &all[rank]), MRMA_SUCCESS);
    }
    atomic_store_explicit(&stop, true, memory_order_release);
    for (int i = 0; i < 2; i++) {
        void *bad;
        assert_int_equal(pthread_join(thread[i], &bad), 0);
        assert_null(bad);
    }
    target_table_fini(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unused),     cmocka_unit_test(test_put),
        cmocka_unit_test(test_fast_paths), cmocka_unit_test(test_pages),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
