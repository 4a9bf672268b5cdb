/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_counter_table.c - base/counter_table: the three forms, and texts that need quotes.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include "base/counter_table.h"

static const struct counter counters[] = {{"windows", "", "windows \"made\""},
                                          {"never", "", "what does not happen"},
                                          {"moved_bytes", "bytes", "what is moved"}};
static const uint64_t values[][3] = {{1, 0, 7}, {1, 0, UINT64_C(1) << 40}, {0, 0, 9}};
static const struct counter_row rows[] = {{0, "one", "a > b", "", values[0]},
                                          {1, "t,\"wo", "a > b", "net, lo", values[1]},
                                          {3, "four", "c", "net, eth0", values[2]}};
static const int missing[] = {2};
static const struct counter_table table = {.title = "a title",
                                           .version = "1.2",
                                           .counters = counters,
                                           .ncounters = 3,
                                           .rows = rows,
                                           .nrows = 3,
                                           .missing = missing,
                                           .nmissing = 1};

/* The table in this form; the caller frees it. */
static char *written(void (*form)(const struct counter_table *, FILE *),
                     const struct counter_table *t)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    form(t, out);
    fclose(out);
    return text;
}

static void expect(void (*form)(const struct counter_table *, FILE *),
                   const struct counter_table *t, const char *wanted)
{
    char *text = written(form, t);

    assert_string_equal(text, wanted);
    free(text);
}

static void the_text_has_what_is_not_zero(void **state)
{
    (void)state;
    expect(
        counter_table_text, &table,
        "a title\n"
        "counter                           sum            least             most  rank with most\n"
        "windows                             2                0                1  0\n"
        "moved_bytes             1099511627792                7    1099511627776  1\n"
        "routes of rank 0: a > b\n"
        "routes of rank 3: c\n"
        "network of rank 1: net, lo\n");
}

static void a_text_without_counts_says_so(void **state)
{
    static const uint64_t zeros[3];
    const struct counter_row row = {.host = "h", .routes = "", .network = "", .values = zeros};
    struct counter_table nothing = table;
    (void)state;

    nothing.rows = &row;
    nothing.nrows = 1;
    expect(counter_table_text, &nothing, "a title\nall counters are 0\n");
}

static void csv_has_a_row_for_each_rank(void **state)
{
    (void)state;
    expect(counter_table_csv, &table,
           "rank,host,windows,never,moved_bytes,routes,network\n"
           "0,one,1,0,7,a > b,\n"
           "1,\"t,\"\"wo\",1,0,1099511627776,a > b,\"net, lo\"\n"
           "3,four,0,0,9,c,\"net, eth0\"\n");
}

static void json_has_all(void **state)
{
    (void)state;
    expect(
        counter_table_json, &table,
        "{\n  \"version\": \"1.2\",\n  \"processes\": 4,\n  \"missing\": [2],\n  \"counters\": [\n"
        "    {\"name\": \"windows\", \"unit\": \"\", \"meaning\": \"windows \\\"made\\\"\", "
        "\"sum\": 2, "
        "\"least\": 0, \"most\": 1, \"rank_with_most\": 0},\n"
        "    {\"name\": \"never\", \"unit\": \"\", \"meaning\": \"what does not happen\", \"sum\": "
        "0, "
        "\"least\": 0, \"most\": 0, \"rank_with_most\": 0},\n"
        "    {\"name\": \"moved_bytes\", \"unit\": \"bytes\", \"meaning\": \"what is moved\", "
        "\"sum\": 1099511627792, \"least\": 7, \"most\": 1099511627776, \"rank_with_most\": 1}\n"
        "  ],\n  \"ranks\": [\n"
        "    {\"rank\": 0, \"host\": \"one\", \"windows\": 1, \"never\": 0, \"moved_bytes\": 7, "
        "\"routes\": \"a > b\", \"network\": \"\"},\n"
        "    {\"rank\": 1, \"host\": \"t,\\\"wo\", \"windows\": 1, \"never\": 0, "
        "\"moved_bytes\": 1099511627776, \"routes\": \"a > b\", \"network\": \"net, lo\"},\n"
        "    {\"rank\": 3, \"host\": \"four\", \"windows\": 0, \"never\": 0, \"moved_bytes\": 9, "
        "\"routes\": \"c\", \"network\": \"net, eth0\"}\n"
        "  ]\n}\n");
}

/* Bytes that are no ASCII are letters of Latin-1: JSON that every reader takes. */
static void json_is_valid_whatever_a_name_is(void **state)
{
    static const uint64_t none[3];
    const struct counter_row row = {
        .rank = 0, .host = "a\\b\n\x7f\xe4", .routes = "", .network = "", .values = none};
    struct counter_table odd = table;
    (void)state;

    odd.rows = &row;
    odd.nrows = 1;
    char *text = written(counter_table_json, &odd);
    assert_non_null(strstr(text, "\"host\": \"a\\\\b\\u000a\\u007f\\u00e4\""));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_text_has_what_is_not_zero),
                                       cmocka_unit_test(a_text_without_counts_says_so),
                                       cmocka_unit_test(csv_has_a_row_for_each_rank),
                                       cmocka_unit_test(json_has_all),
                                       cmocka_unit_test(json_is_valid_whatever_a_name_is)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
