/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_regions.c - regions of the program and stops of the recording in archive and report: times
 * and waits by region, causes told apart by them, and well-formed archives whatever regions, calls
 * and stops do to each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "archive_print.h"
#include "tool_run.h"

#define DELAY 10000.0 /* us */

enum { INNER, OUTER, UNNAMED };

static void name_region(struct made_job *job, uint32_t rank, uint64_t number, const char *name)
{
    struct trace_text *text;

    make_record(&job->app[rank], 11, TRACE_REGION_NAME)->id = number;
    text = (struct trace_text *)make_record(&job->app[rank], 11, TRACE_TEXT);
    text->length = (uint16_t)strlen(name);
    memcpy(text->text, name, strlen(name));
}

/* The numbers of names differ between processes. */
static void name_regions(struct made_job *job, uint32_t rank)
{
    name_region(job, rank, rank ? 1 : 0, "inner");
    name_region(job, rank, rank ? 0 : 1, "MPI_Win_fence");
}

static void begin(struct made_job *job, uint32_t rank, double us, unsigned region, unsigned depth)
{
    struct trace_record *r = make_record(&job->app[rank], us, TRACE_REGION_BEGIN);

    r->id = region == UNNAMED ? 77 : region ^ (rank ? 1 : 0);
    r->arg = depth;
}

static void end(struct made_job *job, uint32_t rank, double us, unsigned depth)
{
    make_record(&job->app[rank], us, TRACE_REGION_END)->arg = depth;
}

static void recording(struct made_job *job, uint32_t rank, double us, uint32_t on)
{
    make_record(&job->app[rank], us, TRACE_RECORDING)->arg = on;
}

/* The value of a name in the report's object for a region. */
static double of_region(const char *json, const char *region, const char *name)
{
    char words[80];

    snprintf(words, sizeof words, "{\"name\": %s, \"visits\"", region);
    const char *at = strstr(strstr(json, "\"regions\": ["), words);
    assert_non_null(at);
    snprintf(words, sizeof words, "\"%s\": ", name);
    return strtod(strstr(at, words) + strlen(words), NULL) / 1000;
}

static void assert_near(double seen, double expected)
{
    if (seen < expected - 1 || seen > expected + 1)
        print_message("%f us, expected %f\n", seen, expected);
    assert_true(seen >= expected - 1 && seen <= expected + 1);
}

/* Rank 1 computes in the inner region, then in the outer one, before a fence of the outer one:
 *
 *     rank 0  |outer--|fence==================|--|
 *     rank 1  |outer--|inner, DELAY-----|-----DELAY/2------|fence-|--|
 */
static void shares(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    for (uint32_t i = 0; i < 2; i++) {
        name_regions(&job, i);
        begin(&job, i, 100, OUTER, 1);
    }
    begin(&job, 1, 200, INNER, 2);
    begin(&job, 1, 300, INNER, 3); /* within itself */
    end(&job, 1, 400, 3);
    end(&job, 1, 200 + DELAY, 2);
    make_fence(&job, 0, 200, 210 + 1.5 * DELAY, 0);
    make_fence(&job, 1, 200 + 1.5 * DELAY, 210 + 1.5 * DELAY, 0);
    for (uint32_t i = 0; i < 2; i++)
        end(&job, i, 300 + 1.5 * DELAY, 1);
    make_free_all(&job, 400 + 1.5 * DELAY);
    char *json = run_report(&job, "--json %s");
    const char *outer = "\"MPI_Win_fence\"", *inner = "\"inner\"";

    assert_near(of_region(json, outer, "time"), 2 * (200 + 1.5 * DELAY));
    assert_near(of_region(json, outer, "calls"), 20 + 1.5 * DELAY);
    assert_near(of_region(json, outer, "waits"), 1.5 * DELAY);
    assert_near(of_region(json, outer, "computes"), 2 * 190 + 0.5 * DELAY);
    assert_near(of_region(json, outer, "costs"), 0.5 * DELAY);
    assert_near(1000 * of_region(json, inner, "visits"), 1);
    assert_near(of_region(json, inner, "time"), DELAY);
    assert_near(of_region(json, inner, "longest"), DELAY);
    assert_near(of_region(json, inner, "computes"), DELAY);
    assert_near(of_region(json, inner, "calls"), 0);
    assert_near(of_region(json, inner, "costs"), DELAY);
    assert_near(of_region(json, "null", "waits"), 0);
    assert_non_null(strstr(json, "{\"rank\": 1, \"what\": \"computing in \\\"inner\\\" between "
                                 "MPI_Win_create and MPI_Win_fence\""));
    free(json);
    make_free(&job);
}

/* Operations, locks, epochs, and a packet that waits when the recording stops; what was not
 * recorded is nobody's computation, and the ends that come behind it belong to nothing. */
static void stops(void **state)
{
    struct made_job job;
    struct trace_record *r;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(&job, i, 90, 91, 0);
    make_lock(&job, 0, 100, 101, 1, TRACE_LOCK_EXCLUSIVE);
    make_locked(&job, 0, 101, 1, TRACE_LOCK_EXCLUSIVE);
    make_op(&job, 0, 102, 103, TRACE_PUT, 1, 64, TRACE_PACKETS);
    make_post(&job, 1, 100, 101, 0);
    r = make_record(&job.agent[1], 120, TRACE_PARK);
    r->win = 1;
    r->peer = 0;
    for (uint32_t i = 0; i < 2; i++)
        recording(&job, i, 200, 0);
    r = make_record(&job.agent[1], 500, TRACE_UNPARK);
    r->win = 1;
    r->peer = 0;
    for (uint32_t i = 0; i < 2; i++)
        recording(&job, i, 200 + DELAY, 1);
    make_unlock(&job, 0, 300 + DELAY, 301 + DELAY, 1);
    make_wait(&job, 1, 300 + DELAY, 301 + DELAY);
    make_free_all(&job, 400 + DELAY);
    char *output = archive_make_and_print(&job);
    assert_int_equal(archive_lines(output, "MEASUREMENT_ON_OFF", ": OFF"), 3); /* the agent, too */
    assert_int_equal(archive_lines(output, "MEASUREMENT_ON_OFF", ": ON"), 3);
    assert_int_equal(archive_lines(output, "RMA_RELEASE_LOCK", ""), 1);
    assert_int_equal(archive_lines(output, "RMA_OP_COMPLETE_REMOTE", ""), 1);
    assert_int_equal(archive_lines(output, "RMA_GROUP_SYNC", ""), 1);
    free(output);
    char *json = run_report(&job, "--json %s");
    const char *by_rank = strstr(json, "\"by_rank\": [\n");
    assert_non_null(by_rank);
    assert_true(strtod(strstr(by_rank, "\"computes\": ") + 12, NULL) / 1000 < 1000);
    assert_true(json_number(json, "parked_packets", "total") / 1000 < 100);
    free(json);
    make_free(&job);
}

/* One process does not stop at the same fence: that is said. */
static void stops_elsewhere(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    recording(&job, 0, 80, 0);
    recording(&job, 0, 100, 1);
    make_fence(&job, 1, 90, 91, 0);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(&job, i, 190, 191, 0);
    make_free_all(&job, 400);
    char *json = run_report(&job, "--json %s");
    assert_non_null(strstr(json, "its processes have recorded from 1 to 2 fences"));
    free(json);
    make_free(&job);
}

/* Ends without a begin, begins without an end or a name, an end inside a call that lies in the
 * region, and a region that a call leaves open. */
static void wrong_order(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 1);
    make_create_all(&job);
    name_regions(&job, 0);
    end(&job, 0, 20, 3);
    begin(&job, 0, 21, UNNAMED, 1);
    end(&job, 0, 22, 1);
    begin(&job, 0, 30, OUTER, 1);
    make_record(&job.app[0], 31, TRACE_ENTER)->what = TRACE_CALL_Win_sync;
    end(&job, 0, 32, 1);
    begin(&job, 0, 33, INNER, 1);
    make_record(&job.app[0], 34, TRACE_LEAVE)->what = TRACE_CALL_Win_sync;
    end(&job, 0, 35, 1);
    begin(&job, 0, 36, INNER, 1);
    make_free_all(&job, 50);
    char *output = archive_make_and_print(&job);
    assert_int_equal(archive_lines(output, "ENTER", "Region: \"inner\""), 2);
    assert_int_equal(archive_lines(output, "LEAVE", "Region: \"inner\""), 2);
    /* The region of that name and no call. */
    assert_int_equal(archive_lines(output, "ENTER", "Region: \"MPI_Win_fence\""), 1);
    free(output);
    char *json = run_report(&job, "--json %s");
    assert_near(of_region(json, "\"MPI_Win_fence\"", "time"), 4); /* to the call's end */
    assert_null(strstr(json, "\"MPI_Win_fence\": {\"calls\""));
    free(json);
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares),
        cmocka_unit_test(stops),
        cmocka_unit_test(stops_elsewhere),
        cmocka_unit_test(wrong_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
