/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_map.c - base/map against a plain array, and its probe runs after long use.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include "base/err.h"
#include "base/map.h"

static int dummy[4096];

static void an_empty_map_has_nothing(void **state)
{
    struct map map = {.slots = NULL};
    size_t cursor = 0;
    (void)state;

    assert_null(map_get(&map, 0));
    assert_null(map_del(&map, 0));
    assert_false(map_next(&map, &cursor, NULL, NULL));
    assert_int_equal(map_count(&map), 0);
    assert_int_equal(map_put(&map, 1, NULL, NULL), MRMA_ERR_ARG);
    map_fini(&map);
}

static void put_replaces_and_reports_the_old_value(void **state)
{
    struct map map;
    void *old = &dummy[9];
    (void)state;

    map_init(&map);
    assert_int_equal(map_put(&map, UINT64_MAX, &dummy[0], &old), MRMA_SUCCESS);
    assert_null(old);
    assert_int_equal(map_put(&map, UINT64_MAX, &dummy[1], &old), MRMA_SUCCESS);
    assert_ptr_equal(old, &dummy[0]);
    assert_ptr_equal(map_get(&map, UINT64_MAX), &dummy[1]);
    assert_int_equal(map_count(&map), 1);
    assert_ptr_equal(map_del(&map, UINT64_MAX), &dummy[1]);
    assert_null(map_get(&map, UINT64_MAX));
    map_fini(&map);
    assert_int_equal(map_put(&map, 0, &dummy[2], NULL), MRMA_SUCCESS);
    assert_ptr_equal(map_get(&map, 0), &dummy[2]);
    map_fini(&map);
}

/* Keys of one kind: dense, spread by a page, or with only high bits differing. */
static uint64_t key_of(unsigned kind, uint64_t i)
{
    static const unsigned shift[] = {0, 12, 52};
    return i << shift[kind];
}

static void random_use_agrees_with_an_array(void **state)
{
    uint64_t seed = 88172645463325252u;
    (void)state;

    for (unsigned kind = 0; kind < 3; kind++) {
        struct map map;
        void *model[4096] = {NULL};
        size_t count = 0;

        map_init(&map);
        for (int step = 0; step < 100000; step++) {
            uint64_t r = next_random(&seed);
            size_t i = r % 4096;
            if ((r >> 40) % 3 != 0) {
                void *value = &dummy[(r >> 20) % 4096], *old;
                assert_int_equal(map_put(&map, key_of(kind, i), value, &old), MRMA_SUCCESS);
                assert_ptr_equal(old, model[i]);
                count += model[i] == NULL;
                model[i] = value;
            } else {
                assert_ptr_equal(map_del(&map, key_of(kind, i)), model[i]);
                count -= model[i] != NULL;
                model[i] = NULL;
            }
            assert_int_equal(map_count(&map), count);
        }
        for (size_t i = 0; i < 4096; i++)
            assert_ptr_equal(map_get(&map, key_of(kind, i)), model[i]);
        map_fini(&map);
    }
}

static void iteration_sees_each_entry_once(void **state)
{
    struct map map;
    unsigned seen[1000] = {0};
    size_t cursor = 0, n = 0;
    uint64_t key;
    void *value;
    (void)state;

    map_init(&map);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(map_put(&map, i * 4096, &dummy[i], NULL), MRMA_SUCCESS);
    while (map_next(&map, &cursor, &key, &value)) {
        assert_true(key % 4096 == 0 && key / 4096 < 1000);
        assert_ptr_equal(value, &dummy[key / 4096]);
        seen[key / 4096]++;
        n++;
    }
    assert_int_equal(n, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(seen[i], 1);
    map_fini(&map);
}

/* Longest run of used slots: what a look-up of a missing key may have to walk. */
static size_t longest_run(const struct map *map)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i < 2 * map->nslots; i++) {
        run = map->slots[i % map->nslots].value != NULL ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void deletion_leaves_no_decay(void **state)
{
    struct map map;
    (void)state;

    map_init(&map);
    for (uint64_t i = 0; i < 1000000; i++) {
        assert_int_equal(map_put(&map, i * 64, &dummy[i % 4096], NULL), MRMA_SUCCESS);
        if (i >= 100)
            assert_non_null(map_del(&map, (i - 100) * 64));
    }
    assert_int_equal(map_count(&map), 100);
    assert_true(map.nslots <= 256); /* it grew for what it holds, not for what passed */
    assert_true(longest_run(&map) < 64);
    map_fini(&map);
    map_init(&map);
    for (uint64_t i = 0; i < 64; i++)
        map_put(&map, i, &dummy[i], NULL);
    for (uint64_t i = 0; i < 64; i++)
        map_del(&map, i);
    assert_int_equal(longest_run(&map), 0);
    map_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(put_replaces_and_reports_the_old_value),
        cmocka_unit_test(random_use_agrees_with_an_array),
        cmocka_unit_test(iteration_sees_each_entry_once),
        cmocka_unit_test(deletion_leaves_no_decay),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
