/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_causes.c - mpi-rma-trace charges waiting to what has brought it about: along a chain of
 * processes that wait for each other, to one of several that were late, and to nobody more than
 * was waited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tool_run.h"

#define DELAY 10000.0 /* us */

/* The cost (us) of what a rank did, by --json; 0: it is not among the causes. */
static double cost_of(const char *json, unsigned rank, const char *what, const char *name)
{
    char begin[160];

    snprintf(begin, sizeof begin, "{\"rank\": %u, \"what\": \"%s\"", rank, what);
    const char *at = strstr(strstr(json, "\"causes\": ["), begin);
    if (at == NULL)
        return 0;
    snprintf(begin, sizeof begin, "\"%s\": ", name);
    at = strstr(at, begin);
    assert_non_null(at);
    return strtod(at + strlen(begin), NULL) / 1000;
}

static void assert_near(double seen, double expected)
{
    if (seen < 0.95 * expected || seen > 1.05 * expected)
        print_message("%f us, expected %f\n", seen, expected);
    assert_true(seen >= 0.95 * expected && seen <= 1.05 * expected);
}

/* Each rank but the last is the target of the next one, for whose complete it waits before its own
 * complete at the one before it:
 *
 *     rank 0  post  wait-----------------------------.
 *     rank 1  post  wait------------------.  complete
 *     rank 2  post  wait------.  complete
 *     rank 3  start  computes  complete
 */
static void make_chain(struct made_job *job, double delay)
{
    double us = 200 + delay; /* when the last rank completes */

    make_create_all(job);
    for (uint32_t i = 0; i + 1 < job->nproc; i++)
        make_post(job, i, 100, 101, i + 1);
    for (uint32_t i = job->nproc; i-- > 0;) {
        if (i + 1 < job->nproc) {
            make_wait(job, i, 130, us);
            us += 2;
        }
        if (i > 0) {
            make_start(job, i, us - 1, us, i - 1);
            make_op(job, i, us, us + 1, TRACE_PUT, i - 1, 64, TRACE_MAPPED);
            make_complete(job, i, us + 1, us + 2);
            us += 3;
        }
    }
    make_free_all(job, us + 100);
}

static void chain(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 4);
    make_chain(&job, DELAY);
    char *json = run_report(&job, "--json %s");
    static const char what[] = "computing between MPI_Win_create and MPI_Win_start";

    assert_near(json_number(json, "waiting", "total") / 1000, 3 * DELAY);
    assert_near(cost_of(json, 3, what, "cost"), 3 * DELAY);
    assert_near(cost_of(json, 3, what, "direct"), DELAY);
    assert_near(cost_of(json, 3, what, "passed_on"), 2 * DELAY);
    assert_true(strstr(strstr(json, "\"causes\": ["), "\"rank\": 3") ==
                strstr(strstr(json, "\"causes\": ["), "\"rank\": "));
    free(json);
    make_free(&job);
}

/* Two are late for a fence, one half as long: each pays for what would not have been waited
 * without it, as far as it was longest; the rest is nobody's but the last one's. */
static void fence(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 3);
    make_create_all(&job);
    for (uint32_t i = 0; i < 3; i++)
        make_fence(&job, i, 100, 101, 0);
    for (uint32_t i = 0; i < 3; i++)
        make_fence(&job, i, 200 + DELAY * i / 2, 202 + DELAY, 0);
    make_free_all(&job, 300 + DELAY);
    char *json = run_report(&job, "--json %s");

    assert_near(json_number(json, "waiting", "total") / 1000, 1.5 * DELAY);
    assert_near(cost_of(json, 2, "computing between MPI_Win_fence and MPI_Win_fence", "cost"),
                1.5 * DELAY);
    assert_true(cost_of(json, 1, "computing between MPI_Win_fence and MPI_Win_fence", "cost") == 0);
    free(json);
    make_free(&job);
}

/* All that is charged, and what is charged to nobody, is all waiting, in any program. */
static void nothing_twice(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct made_job job;

        make_random_program(&job, seed);
        char *json = run_report(&job, "--json %s");
        double sum = json_number(json, "waiting", "unknown");
        const char *end = strstr(json, "\"by_rank\": [\n");
        double n = 0;

        assert_non_null(end);
        for (const char *at = strstr(json, "\"causes\": [");
             (at = strstr(at, "\"what\"")) != NULL && at < end; n++) {
            at = strstr(at, "\"cost\": ") + strlen("\"cost\": ");
            sum += strtod(at, NULL);
        }
        double total = json_number(json, "waiting", "total");
        if (sum < total - n - 1 || sum > total + n + 1)
            print_message("seed %u: %.0f ns are charged, %.0f waited\n", seed, sum, total);
        assert_true(sum >= total - n - 1 && sum <= total + n + 1);
        free(json);
        make_free(&job);
    }
}

/* The report for people names the same rank first, and says what it did. */
static void in_text(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 4);
    make_chain(&job, DELAY);
    char *text = run_report(&job, "%s");
    const char *at = strstr(text, "Causes of waiting");

    assert_non_null(at);
    assert_non_null(
        strstr(at, "\n  rank 3, computing between MPI_Win_create and MPI_Win_start: 3"));
    assert_non_null(strstr(at, "makes others wait"));
    free(text);
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain),
        cmocka_unit_test(fence),
        cmocka_unit_test(nothing_twice),
        cmocka_unit_test(in_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
