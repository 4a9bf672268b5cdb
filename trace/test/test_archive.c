/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_archive.c - mpi-rma-trace makes well-formed OTF2 archives of what processes leave: each kind
 * of synchronization, clocks that differ, random programs. test_damage.c has files that are not
 * whole.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "archive_print.h"
#include "tool_run.h"

static void fences(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(&job, i, 20, 25, TRACE_NOPRECEDE);
    make_op(&job, 0, 30, 32, TRACE_PUT, 1, 64, TRACE_MAPPED);
    make_op(&job, 1, 30, 32, TRACE_GET, 0, 128, TRACE_PACKETS);
    make_op(&job, 1, 33, 34, TRACE_FETCH_AND_OP, 0, 8, TRACE_PACKETS);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(&job, i, 40, 50, TRACE_NOSUCCEED);
    make_free_all(&job, 60);
    char *output = archive_make_and_print(&job);
    assert_int_equal(archive_lines(output, "RMA_WIN_CREATE", ""), 2);
    assert_int_equal(archive_lines(output, "RMA_WIN_DESTROY", ""), 2);
    assert_int_equal(archive_lines(output, "RMA_COLLECTIVE_BEGIN", ""), 8);
    assert_int_equal(archive_lines(output, "RMA_COLLECTIVE_END", ""), 8);
    assert_int_equal(archive_lines(output, "RMA_COLLECTIVE_END", "BARRIER"), 4);
    assert_int_equal(archive_lines(output, "RMA_PUT", "Bytes: 64"), 1);
    assert_int_equal(archive_lines(output, "RMA_GET", "Bytes: 128"), 1);
    assert_int_equal(archive_lines(output, "RMA_ATOMIC", ""), 1);
    /* The put into mapped memory was done in its call. */
    assert_int_equal(archive_lines(output, "RMA_OP_COMPLETE_BLOCKING", ""), 1);
    assert_int_equal(archive_lines(output, "RMA_OP_COMPLETE_NON_BLOCKING", ""), 2);
    assert_int_equal(archive_lines(output, "RMA_OP_COMPLETE_REMOTE", ""), 3);
    free(output);
    make_free(&job);
}

static void start_post_complete_wait(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 3);
    make_create_all(&job);
    make_post(&job, 1, 20, 21, 0);
    make_start(&job, 0, 20, 21, 1);
    make_op(&job, 0, 22, 23, TRACE_PUT, 1, 64, TRACE_PACKETS);
    make_complete(&job, 0, 25, 28);
    make_wait(&job, 1, 24, 30);
    make_free_all(&job, 60);
    char *output = archive_make_and_print(&job);
    assert_int_equal(archive_lines(output, "RMA_GROUP_SYNC", ""), 4);
    assert_int_equal(archive_lines(output, "RMA_OP_COMPLETE_NON_BLOCKING", ""), 1);
    assert_int_equal(archive_lines(output, "RMA_OP_COMPLETE_REMOTE", ""), 1);
    assert_int_equal(archive_lines(output, "ENTER", "MPI_Win_wait"), 1);
    free(output);
    make_free(&job);
}

static void locks(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    make_lock(&job, 0, 20, 22, 1, TRACE_LOCK_EXCLUSIVE);
    make_locked(&job, 0, 21, 1, TRACE_LOCK_EXCLUSIVE);
    make_op(&job, 0, 23, 24, TRACE_PUT, 1, 64, TRACE_PACKETS);
    make_flush(&job, 0, 25, 30, 1);
    make_unlock(&job, 0, 31, 33, 1);
    make_lock(&job, 1, 40, 41, 0, TRACE_LOCK_SHARED); /* never needed, so never granted */
    make_unlock(&job, 1, 42, 43, 0);
    make_region(&job.agent[1], 26, 28, TRACE_SERVE, 0);
    make_region(&job.agent[1], 29, 50, TRACE_PARK, 0);
    make_region(&job.agent[0], 41, 42, TRACE_LOCK_QUEUE, 1);
    make_free_all(&job, 60);
    /* The agents' files name windows that their process has created before. */
    char *output = archive_make_and_print(&job);
    assert_int_equal(archive_lines(output, "RMA_REQUEST_LOCK", ""), 2);
    assert_int_equal(archive_lines(output, "RMA_ACQUIRE_LOCK", ""), 2);
    assert_int_equal(archive_lines(output, "RMA_RELEASE_LOCK", ""), 2);
    assert_int_equal(archive_lines(output, "ENTER", "serve packets"), 1);
    assert_int_equal(archive_lines(output, "ENTER", "packet waits for its epoch"), 1);
    assert_int_equal(archive_lines(output, "ENTER", "lock request waits"), 1);
    free(output);
    make_free(&job);
}

/* Two machines, the second's clock a second ahead; measured wrongly by 50 us. */
static void skewed_clocks(void **state)
{
    struct made_job job;
    int status;

    (void)state;
    make_job(&job, 2);
    make_machine(&job, 1, 1, INT64_C(1000000000));
    struct trace_record *clock = make_record(&job.app[1], 0, TRACE_CLOCK);
    clock->bytes = (uint64_t)INT64_C(-1000050000);
    clock->id = 50000;
    make_create(&job, 0, 1, 10);
    make_create(&job, 1, 9, 10);
    make_fence(&job, 0, 100, 211, 0);
    make_fence(&job, 1, 210, 211, 0);
    make_fence(&job, 0, 300, 331, 0);
    make_fence(&job, 1, 220, 331, 0);
    make_free_call(&job, 0, 400, 410);
    make_free_call(&job, 1, 400, 410);
    make_write(&job);
    char *said = run_tool(&job, "--archive %s", &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(said, "its clock was shifted by"));
    free(said);
    char *output = archive_print(&job);
    archive_assert_well_formed(output);
    /* After correction nothing leaves a fence before all are in it. */
    uint64_t enter[2][3], leave[2][3];
    int entered[2] = {0}, left[2] = {0};
    for (const char *line = output; line; line = strchr(line, '\n')) {
        char word[64];
        unsigned location;
        uint64_t time;

        line += *line == '\n';
        const char *end = strchrnul(line, '\n'), *name = strstr(line, "MPI_Win_fence");
        if (!name || name > end || sscanf(line, "%63s %u %" SCNu64, word, &location, &time) != 3)
            continue;
        assert_true(location < 2);
        if (strcmp(word, "ENTER") == 0)
            enter[location][entered[location]++] = time;
        else if (strcmp(word, "LEAVE") == 0)
            leave[location][left[location]++] = time;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(entered[i], 2);
        assert_int_equal(left[i], 2);
        for (int k = 0; k < 2; k++)
            assert_true(leave[i][k] >= enter[!i][k]);
    }
    free(output);
    make_free(&job);
}

static void random_programs(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 6; seed++) {
        struct made_job job;

        make_random_program(&job, seed);
        char *output = archive_make_and_print(&job);
        int operations = archive_lines(output, "RMA_PUT", "") +
                         archive_lines(output, "RMA_GET", "") +
                         archive_lines(output, "RMA_ATOMIC", "");
        assert_int_equal(archive_lines(output, "RMA_OP_COMPLETE_BLOCKING", "") +
                             archive_lines(output, "RMA_OP_COMPLETE_NON_BLOCKING", ""),
                         operations);
        assert_int_equal(archive_lines(output, "RMA_OP_COMPLETE_REMOTE", ""), operations);
        assert_int_equal(archive_lines(output, "RMA_REQUEST_LOCK", ""),
                         archive_lines(output, "RMA_RELEASE_LOCK", ""));
        assert_int_equal(archive_lines(output, "RMA_REQUEST_LOCK", ""),
                         archive_lines(output, "RMA_ACQUIRE_LOCK", ""));
        free(output);
        make_free(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fences),          cmocka_unit_test(start_post_complete_wait),
        cmocka_unit_test(locks),           cmocka_unit_test(skewed_clocks),
        cmocka_unit_test(random_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
