/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_inplace_absent.c - shm/inplace in a build that was configured without it: everything is
 * refused with the reason, and memory stays as it is.
 */
#include "base_helper.h"

#include "base/err.h"
#include "shm/inplace/inplace.h"

static void refuses_and_says_why(void **state)
{
    struct inplace *ip;
    struct heap_loc loc;
    char memory[100], text[200];
    bool some = true;
    (void)state;

    memset(memory, 7, sizeof memory);
    assert_int_equal(inplace_create("", NULL, &ip), MRMA_SUCCESS);
    assert_int_equal(inplace_hold(ip, memory, sizeof memory, &some), MRMA_SUCCESS);
    assert_false(some);
    assert_int_equal(inplace_take(ip, memory, sizeof memory, false, text, sizeof text),
                     MRMA_ERR_OTHER);
    assert_non_null(strstr(text, "--disable-share-create"));
    assert_string_equal(text, inplace_missing());
    assert_false(inplace_find(ip, memory, sizeof memory, &loc));
    inplace_drop(ip, memory, sizeof memory);
    inplace_fork_prepare(ip);
    inplace_fork_parent(ip);
    for (size_t i = 0; i < sizeof memory; i++)
        assert_int_equal(memory[i], 7);
    inplace_destroy(ip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_and_says_why),
    };
    return cmocka_run_group_tests_name("inplace_absent", tests, NULL, NULL);
}
