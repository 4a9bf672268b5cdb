/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_messages.c - messages and collective operations: in the archive with their communicators,
 * whatever was not recorded or is damaged, and in the report as waiting of known length where one
 * process is late, and as none where nobody is.
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
#include "message_make.h"
#include "tool_run.h"

#define DELAY 10000.0 /* us */

/* The total of a wait state, us. */
static double waited(const char *json, const char *pattern)
{
    return json_number(json, pattern, "total") / 1000;
}

static void assert_near(double seen, double expected)
{
    if (seen < expected - 1 || seen > expected + 1)
        print_message("%f us, expected %f\n", seen, expected);
    assert_true(seen >= expected - 1 && seen <= expected + 1);
}

/* Rank 1 of PAIR is rank 0 of the world. The first message is for the first receive that began,
 * whose wait comes second; a late one delays the wait for both. */
static void late_senders(void **state)
{
    for (int late = 0; late < 2; late++) {
        struct made_job job;
        const double delay = late * DELAY;

        (void)state;
        make_job(&job, 2);
        make_messages(&job);
        make_enter(&job, 1, 100, RECV);
        make_message(&job, 1, 100, TRACE_RECEIVE, PAIR + 1, -1, 1);
        make_leave(&job, 1, 101, RECV);
        make_enter(&job, 1, 102, RECV);
        make_message(&job, 1, 102, TRACE_RECEIVE, PAIR + 1, -1, 2);
        make_leave(&job, 1, 103, RECV);
        make_send(&job, 0, 104, 105, PAIR, 0);
        make_enter(&job, 1, 110, WAITALL);
        make_send(&job, 0, 110 + delay, 112 + delay, PAIR, 0);
        make_message(&job, 1, 113 + delay, TRACE_RECEIVED, PAIR + 1, 1, 2);
        make_message(&job, 1, 113 + delay, TRACE_RECEIVED, PAIR + 1, 1, 1);
        make_leave(&job, 1, 114 + delay, WAITALL);
        make_free_all(&job, 300 + delay);
        char *output = archive_make_and_print(&job);
        assert_int_equal(archive_lines(output, "MPI_SEND", "Tag: 3, Length: 64"), 2);
        assert_int_equal(archive_lines(output, "MPI_IRECV_REQUEST", ""), 2);
        assert_int_equal(
            archive_lines(output, "MPI_IRECV", "Communicator: \"communicator 5 of rank 1\""), 2);
        free(output);
        char *json = run_report(&job, "--json %s");
        assert_near(waited(json, "late_sender"), delay);
        assert_near(waited(json, "late_receiver"), 0);
        free(json);
        make_free(&job);
    }
}

/* The report's line of a rank has five durations, each under its head: rank 0, which is late with
 * its message, computes for longer than rank 1 waits for that. */
static void shares_in_text(void **state)
{
    static const char head[] = "makes others wait\n";
    struct made_job job;
    double computes, rma, other, waits, costs;
    unsigned rank;

    (void)state;
    make_job(&job, 2);
    make_messages(&job);
    make_send(&job, 0, 100 + DELAY, 101 + DELAY, WORLD, 1);
    make_receive(&job, 1, 100, 102 + DELAY, WORLD, 0);
    make_free_all(&job, 100000);
    char *report = run_report(&job, "%s");
    char *line = strstr(report, head);
    assert_non_null(line);
    const int found = sscanf(line + strlen(head), "%u %lf ms %lf us %lf us %lf ns %lf ms", &rank,
                             &computes, &rma, &other, &waits, &costs);
    if (found != 6)
        print_message("%.400s\n", line);
    assert_int_equal(found, 6);
    assert_int_equal(rank, 0);
    assert_true(computes > 99);
    assert_near(other, 1);
    assert_near(waits, 0);
    assert_near(1000 * costs, DELAY);
    free(report);
    make_free(&job);
}

/* A send that returns before its receiver has come has not waited. */
static void late_receivers(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 3);
    make_messages(&job);
    make_send(&job, 0, 100, 101, WORLD, 2);
    make_send(&job, 0, 200, 210 + DELAY, WORLD, 2);
    make_receive(&job, 2, 150, 160, WORLD, 0);
    make_receive(&job, 2, 200 + DELAY, 211 + DELAY, WORLD, 0);
    make_free_all(&job, 300 + DELAY);
    char *json = run_report(&job, "--json %s");
    assert_near(waited(json, "late_receiver"), DELAY);
    assert_near(waited(json, "late_sender"), 0);
    assert_near(json_number(json, "messages", "ns") / 1000, 1 + 10 + DELAY + 10 + 11);
    free(json);
    make_free(&job);
}

/* Rank 0 is late to each kind of operation, or rank 1 where rank 0 is the root that waits. */
static void operations(void **state)
{
    static const struct {
        unsigned op;
        int32_t root;
        uint32_t late;
        const char *pattern;
        int waiting; /* processes */
    } kinds[] = {
        {TRACE_BARRIER, -1, 0, "wait_at_barrier", 2}, {TRACE_ALLREDUCE, -1, 0, "wait_at_nxn", 2},
        {TRACE_ALLTOALLV, -1, 1, "wait_at_nxn", 2},   {TRACE_BCAST, 0, 0, "late_broadcast", 2},
        {TRACE_SCATTERV, 0, 0, "late_broadcast", 2},  {TRACE_BCAST, 0, 1, "late_broadcast", 0},
        {TRACE_REDUCE, 0, 1, "early_reduce", 1},      {TRACE_GATHER, 0, 0, "early_reduce", 0},
        {TRACE_SCAN, -1, 0, "wait_at_nxn", 0},
    };

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct made_job job;

        make_job(&job, 3);
        make_messages(&job);
        for (uint32_t i = 0; i < 3; i++)
            make_together(&job, i, 100 + (i == kinds[k].late ? DELAY : 0), 110 + DELAY, kinds[k].op,
                          kinds[k].root);
        make_free_all(&job, 300 + DELAY);
        char *output = archive_make_and_print(&job);
        assert_int_equal(archive_lines(output, "MPI_COLLECTIVE_BEGIN", ""), 3);
        assert_int_equal(archive_lines(output, "MPI_COLLECTIVE_END", "\"MPI_COMM_WORLD\""), 3);
        free(output);
        char *json = run_report(&job, "--json %s");
        assert_near(waited(json, kinds[k].pattern), kinds[k].waiting * DELAY);
        free(json);
        make_free(&job);
    }
}

/* Messages of an unknown communicator and to nobody, an operation without its call, and one whose
 * process was killed in it. */
static void not_whole(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_messages(&job);
    make_send(&job, 0, 100, 101, OTHER, 1);
    make_send(&job, 0, 102, 103, PAIR, 7);
    make_message(&job, 0, 104, TRACE_COLLECTIVE, WORLD, -1, 0);
    make_enter(&job, 0, 105, ALLREDUCE);
    make_message(&job, 0, 105, TRACE_COLLECTIVE, WORLD, -1, 0);
    make_free_call(&job, 1, 300, 301);
    char *output = archive_make_and_print(&job);
    assert_int_equal(archive_lines(output, "MPI_SEND", ""), 0);
    assert_int_equal(archive_lines(output, "MPI_COLLECTIVE_BEGIN", ""), 1);
    assert_int_equal(archive_lines(output, "MPI_COLLECTIVE_END", ""), 1);
    free(output);
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_senders),   cmocka_unit_test(shares_in_text),
        cmocka_unit_test(late_receivers), cmocka_unit_test(operations),
        cmocka_unit_test(not_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
