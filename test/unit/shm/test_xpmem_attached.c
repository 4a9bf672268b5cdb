/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_xpmem_attached.c - shm/attached: regions are attached once, kept, bounded, and detached with
 * their group, against functions that only count.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include "shm/xpmem_attached.h"

enum { MOST = 100, OWNERS = 7, SEGMENTS = 300, STEPS = 200000 };

/* What is attached now, by segment; addresses are those of these. */
static struct {
    char mapped[SEGMENTS * OWNERS + 1];
    size_t now, ever;
    int error; /* of the next attach */
} fake;

static int fake_attach(void *ctx, uint64_t segment, uint64_t vaddr, uint64_t len,
                       struct shm_xpmem_map *map)
{
    assert_ptr_equal(ctx, &fake);
    assert_true(len > 0 && vaddr > 0);
    if (fake.error)
        return fake.error;
    assert_int_equal(fake.mapped[segment], 0);
    fake.mapped[segment] = 1;
    fake.now++;
    fake.ever++;
    *map = (struct shm_xpmem_map){.permit = (int64_t)segment, .at = &fake.mapped[segment]};
    return 0;
}

static void fake_detach(void *ctx, const struct shm_xpmem_map *map)
{
    assert_ptr_equal(ctx, &fake);
    assert_int_equal(fake.mapped[map->permit], 1);
    fake.mapped[map->permit] = 0;
    fake.now--;
}

static const struct attached_ops ops = {fake_attach, fake_detach, &fake};
static struct attached_cache cache;
static const char groups[OWNERS];

static int begin(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    attached_init(&cache, &ops, MOST);
    return 0;
}

static int end(void **state)
{
    (void)state;
    attached_fini(&cache);
    assert_int_equal(fake.now, 0);
    return 0;
}

static struct attached_region region(unsigned owner, unsigned segment)
{
    return (struct attached_region){owner + 1, segment, 4096, 10, &groups[owner]};
}

static struct attachment *get(unsigned owner, unsigned segment)
{
    const struct attached_region r = region(owner, segment);
    struct attachment *a = NULL;
    void *at = NULL;
    assert_int_equal(attached_get(&cache, &r, &at, &a), 0);
    assert_ptr_equal(at, &fake.mapped[segment]);
    assert_int_equal(fake.mapped[segment], 1);
    return a;
}

static void a_region_is_attached_once_and_kept(void **state)
{
    uint64_t made = 0;
    (void)state;
    struct attachment *a = get(0, 1), *b = get(0, 1);
    assert_ptr_equal(a, b);
    attached_put(&cache, a, true);
    attached_put(&cache, b, true);
    assert_int_equal(fake.now, 1);
    attached_put(&cache, get(0, 1), true);
    assert_int_equal(fake.ever, 1);
    assert_int_equal(attached_count(&cache, &made), 1);
    assert_int_equal(made, 1);
}

static void what_is_not_kept_goes_with_its_last_use(void **state)
{
    (void)state;
    struct attachment *a = get(0, 1), *b = get(0, 1);
    attached_put(&cache, a, false);
    assert_int_equal(fake.now, 1);
    attached_put(&cache, b, true);
    assert_int_equal(fake.now, 0);
    attached_put(&cache, get(0, 1), false);
    assert_int_equal(fake.ever, 2);
    assert_int_equal(fake.now, 0);
}

static bool is_odd(void *arg, const struct attached_region *r)
{
    ++*(int *)arg;
    return r->segment % 2;
}

static void a_group_goes_at_once_or_in_part(void **state)
{
    int asked = 0;
    (void)state;
    for (unsigned s = 1; s <= 10; s++)
        attached_put(&cache, get(s <= 6 ? 0 : 1, s), true);
    struct attachment *used = get(0, 3);
    attached_drop(&cache, &groups[0], is_odd, &asked);
    assert_int_equal(asked, 6);
    assert_int_equal(fake.now, 8); /* without 1 and 5 */
    assert_int_equal(fake.mapped[1] + fake.mapped[5], 0);
    assert_int_equal(fake.mapped[3], 1);
    attached_put(&cache, used, true); /* it was to go */
    assert_int_equal(fake.mapped[3], 0);
    attached_drop(&cache, &groups[1], NULL, NULL);
    assert_int_equal(fake.now, 3);
    assert_int_equal(fake.mapped[2] + fake.mapped[4] + fake.mapped[6], 3);
}

static void the_longest_idle_makes_room(void **state)
{
    (void)state;
    for (unsigned s = 1; s <= MOST; s++)
        attached_put(&cache, get(0, s), true);
    attached_put(&cache, get(0, 1), true); /* now 2 is the oldest */
    attached_put(&cache, get(0, MOST + 1), true);
    assert_int_equal(fake.now, MOST);
    assert_int_equal(fake.mapped[2], 0);
    assert_int_equal(fake.mapped[1], 1);
}

static void a_full_cache_refuses_more(void **state)
{
    struct attachment *held[MOST], *more = NULL;
    const struct attached_region r = region(1, MOST + 1);
    void *at = NULL;
    (void)state;
    for (unsigned s = 0; s < MOST; s++)
        held[s] = get(0, s + 1);
    assert_int_equal(attached_get(&cache, &r, &at, &more), ENOSPC);
    assert_null(more);
    attached_put(&cache, held[7], true);
    assert_int_equal(attached_get(&cache, &r, &at, &more), 0);
    assert_int_equal(fake.now, MOST);
    attached_put(&cache, more, false);
    for (unsigned s = 0; s < MOST; s++)
        if (s != 7)
            attached_put(&cache, held[s], s % 2);
    assert_int_equal(fake.now, MOST / 2 - 1);
}

static void what_cannot_be_attached_is_not_entered(void **state)
{
    const struct attached_region r = region(0, 5);
    struct attachment *a = NULL;
    void *at = NULL;
    (void)state;
    fake.error = EACCES;
    assert_int_equal(attached_get(&cache, &r, &at, &a), EACCES);
    assert_null(at);
    assert_int_equal(attached_count(&cache, NULL), 0);
    fake.error = 0;
    attached_put(&cache, get(0, 5), true);
}

/* One segment number of two owners stands for two regions, and so do two groups of one owner. */
static void owners_and_groups_are_told_apart(void **state)
{
    struct attached_region r = region(0, 9);
    struct attachment *a[3];
    void *at;
    (void)state;
    assert_int_equal(attached_get(&cache, &r, &at, &a[0]), 0);
    fake.mapped[9] = 0; /* the functions here know no owners */
    r.owner = 99;
    assert_int_equal(attached_get(&cache, &r, &at, &a[1]), 0);
    fake.mapped[9] = 0;
    r.group = &groups[3];
    assert_int_equal(attached_get(&cache, &r, &at, &a[2]), 0);
    assert_true(a[0] != a[1] && a[1] != a[2]);
    assert_int_equal(attached_count(&cache, NULL), 3);
    for (int i = 0; i < 3; i++) {
        fake.mapped[9] = 1;
        attached_put(&cache, a[i], false);
    }
}

/* Many regions of several owners, in use and put back in any order, far beyond the bound. */
static void any_order_stays_within_the_bound(void **state)
{
    struct attachment *held[MOST - 1] = {NULL};
    unsigned random = 12345;
    (void)state;
    for (int step = 0; step < STEPS; step++) {
        random = random * 1103515245 + 12345;
        const unsigned slot = random / 65536 % (MOST - 1), owner = random / 7 % OWNERS;
        if (held[slot]) {
            attached_put(&cache, held[slot], random / 1024 % 4 != 0);
            held[slot] = NULL;
        } else {
            held[slot] = get(owner, 1 + owner * SEGMENTS + random / 4096 % SEGMENTS);
        }
        if (random / 128 % 1000 == 0)
            attached_drop(&cache, &groups[owner], NULL, NULL);
        assert_true(fake.now <= MOST);
        assert_int_equal(attached_count(&cache, NULL), fake.now);
    }
    assert_true(fake.ever > 10 * MOST); /* or the bound was not met */
    for (int i = 0; i < MOST - 1; i++)
        if (held[i])
            attached_put(&cache, held[i], true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_region_is_attached_once_and_kept, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_kept_goes_with_its_last_use, begin, end),
        cmocka_unit_test_setup_teardown(a_group_goes_at_once_or_in_part, begin, end),
        cmocka_unit_test_setup_teardown(the_longest_idle_makes_room, begin, end),
        cmocka_unit_test_setup_teardown(a_full_cache_refuses_more, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_attached_is_not_entered, begin, end),
        cmocka_unit_test_setup_teardown(owners_and_groups_are_told_apart, begin, end),
        cmocka_unit_test_setup_teardown(any_order_stays_within_the_bound, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
