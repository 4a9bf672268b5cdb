/*
 * test_request_table.c - numbers of requests (rma/packet/request_table.h) against a plain list of
 * what is in use: none twice, none 0, found until given back and never after, at random and at the
 * limit; and without memory.
 */
#include "base_helper.h"

#include <stdlib.h>
#include <string.h>

#include "rma/packet/request_table.h"

enum { MANY = 5000, STEPS = 200000, SIZE = 40 };

static bool no_memory;
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    return no_memory ? NULL : __real_malloc(n);
}
void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
    return no_memory ? NULL : __real_realloc(p, n);
}

struct used {
    uint32_t number;
    unsigned char *at;
};

static void check(const struct request_table *t, const struct used *u)
{
    assert_ptr_equal(request_table_find(t, u->number), u->at);
    for (int i = 0; i < SIZE; i++)
        assert_int_equal(u->at[i], (unsigned char)(u->number + (uint32_t)i));
}

static void take(struct request_table *t, struct used *u)
{
    u->at = request_table_take(t, &u->number);
    assert_non_null(u->at);
    assert_int_not_equal(u->number, 0);
    for (int i = 0; i < SIZE; i++)
        u->at[i] = (unsigned char)(u->number + (uint32_t)i);
}

static void test_random(void **state)
{
    static struct used all[MANY];
    struct request_table t;
    unsigned n = 0, seed = 7;
    (void)state;
    request_table_init(&t, SIZE);
    assert_null(request_table_find(&t, 0));
    assert_null(request_table_find(&t, 1));
    for (int i = 0; i < STEPS; i++) {
        seed = seed * 1103515245 + 12345;
        const unsigned r = seed >> 8;
        if (n < MANY && (r & 1 || !n)) {
            take(&t, &all[n]);
            n++;
        } else {
            const unsigned k = r / 2 % n;
            const uint32_t number = all[k].number;
            check(&t, &all[k]);
            request_table_give(&t, number);
            assert_null(request_table_find(&t, number));
            all[k] = all[--n];
        }
        assert_int_equal(request_table_count(&t), n);
    }
    for (unsigned k = 0; k < n; k++)
        for (unsigned j = 0; j < k; j++)
            assert_int_not_equal(all[k].number, all[j].number);
    for (unsigned k = 0; k < n; k++)
        check(&t, &all[k]);
    request_table_fini(&t); /* with some in use */
    assert_int_equal(request_table_count(&t), 0);
}

/* One place, more often than the number has room for. */
static void test_reuse(void **state)
{
    struct request_table t;
    uint32_t number, last = 0;
    (void)state;
    request_table_init(&t, SIZE);
    for (unsigned i = 0; i < 2 * (UINT32_MAX / REQUEST_TABLE_MAX) + 3; i++) {
        void *at = request_table_take(&t, &number);
        assert_true(at && number && number != last && request_table_find(&t, number) == at);
        assert_null(request_table_find(&t, last));
        request_table_give(&t, number);
        last = number;
    }
    request_table_fini(&t);
}

static void test_limit(void **state)
{
    struct request_table t;
    uint32_t number, first = 0;
    (void)state;
    request_table_init(&t, 1);
    for (int i = 0; i < REQUEST_TABLE_MAX; i++) {
        assert_non_null(request_table_take(&t, &number));
        first = first ? first : number;
    }
    assert_null(request_table_take(&t, &number));
    request_table_give(&t, first);
    assert_non_null(request_table_take(&t, &number));
    request_table_fini(&t);
}

static void test_no_memory(void **state)
{
    struct request_table t;
    struct used u[65];
    (void)state;
    request_table_init(&t, SIZE);
    no_memory = true;
    assert_null(request_table_take(&t, &u[0].number));
    no_memory = false;
    for (int i = 0; i < 64; i++)
        take(&t, &u[i]);
    no_memory = true;
    assert_null(request_table_take(&t, &u[64].number)); /* no more places */
    assert_int_equal(request_table_count(&t), 64);
    request_table_give(&t, u[3].number);
    take(&t, &u[3]); /* has its memory */
    no_memory = false;
    take(&t, &u[64]);
    request_table_give(&t, u[64].number);
    no_memory = true;
    assert_null(request_table_take(&t, &u[64].number)); /* a place, which has kept none */
    no_memory = false;
    take(&t, &u[64]);
    for (int i = 0; i < 65; i++)
        check(&t, &u[i]);
    request_table_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_reuse),
                                       cmocka_unit_test(test_limit),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests_name("request_table", tests, NULL, NULL);
}
