/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_json.c - tools/json: texts that need to be escaped, and texts that are no UTF-8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/json.h"

static void json_texts_are_utf8(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c\n\x7f", "\"a\\\"b\\\\c\\u000a\\u007f\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xe4x", "\"\\u00e4x\""},                     /* Latin-1 */
        {"\xc0\x80", "\"\\u00c0\\u0080\""},            /* longer than needed */
        {"\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\""}, /* a surrogate */
        {"\xe2\x82", "\"\\u00e2\\u0082\""}};           /* cut off */
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t len;
        FILE *out = open_memstream(&text, &len);

        json_text(out, cases[i].text);
        fclose(out);
        assert_string_equal(text, cases[i].wanted);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(json_texts_are_utf8)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
