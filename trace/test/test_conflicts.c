/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_conflicts.c - conflicting accesses: what is found in files of known contents, whole, damaged
 * and of killed processes. Real programs, for what is a conflict, are in
 * test/mpi/trace_conflicts.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "message_make.h"
#include "tool_run.h"

enum { ADDRESS = 0x10000 };

static void put(struct made_job *job, uint32_t rank, double us, uint64_t begin, uint64_t length)
{
    make_op(job, rank, us, us + 1, TRACE_PUT, 1, length, TRACE_PACKETS);
    make_access(job, rank, TRACE_AT_TARGET, begin, length);
}

static void fences(struct made_job *job, double us)
{
    for (uint32_t i = 0; i < job->nproc; i++)
        make_fence(job, i, us, us + 5, 0);
}

/* Ranks 0 and 2 put to rank 1, each phase once, the second time to the same bytes in one epoch. */
static void make_two_phases(struct made_job *job)
{
    make_job(job, 3);
    make_create_all(job);
    fences(job, 20);
    put(job, 0, 30, ADDRESS, 8);
    fences(job, 40);
    put(job, 2, 50, ADDRESS, 8);
    fences(job, 60);
    put(job, 0, 70, ADDRESS, 8);
    put(job, 2, 70, ADDRESS + 4, 8);
    fences(job, 80);
    make_free_all(job, 100);
}

static bool contains(const char *text, const char *part)
{
    const bool there = strstr(text, part) != NULL;

    if (!there)
        print_message("no %s in:\n%s\n", part, text);
    return there;
}

static void a_conflict_is_found_and_ordered_accesses_are_not(void **state)
{
    struct made_job job;
    (void)state;

    make_two_phases(&job);
    char *text = run_report(&job, "%s");
    assert_true(contains(text, "1 pair of calls access the same bytes"));
    assert_true(contains(text, "bytes 0x10004 to 0x10007 of the memory of rank 1, window 0"));
    assert_true(contains(text, "rank 0 at 0.000071 s: MPI_Put"));
    assert_true(contains(text, "rank 2 at 0.000071 s: MPI_Put"));
    assert_true(contains(text, "in the epoch of MPI_Win_fence, complete in MPI_Win_fence"));
    free(text);
    make_free(&job);
}

/* Where a record is missing that might order accesses nothing is said about them. */
static void a_damaged_trace_has_no_conflicts(void **state)
{
    struct made_job job;
    (void)state;

    make_two_phases(&job);
    job.app[1].record[job.app[1].n / 2].kind = 999;
    char *text = run_report(&job, "%s");
    assert_true(contains(text, "conflicting accesses are not looked for"));
    assert_null(strstr(text, "access the same bytes"));
    free(text);
    make_free(&job);
}

/* The process that was killed might have told others of what they did later. */
static void conflicts_are_found_up_to_the_end_of_the_first_process(void **state)
{
    for (int late = 0; late < 2; late++) {
        struct made_job job;
        (void)state;

        make_two_phases(&job);
        job.app[1].head.closed = 0;
        while (job.app[1].record[job.app[1].n - 1].time >
               job.app[0].record[0].time + (late ? 79500 : 45000))
            job.app[1].n--;
        char *text = run_report(&job, "%s");
        assert_true(contains(text, "are looked for up to the last record of the first process"));
        assert_true((strstr(text, "1 pair of calls access the same bytes") != NULL) == late);
        free(text);
        make_free(&job);
    }
}

static void blocks_beside_each_other_do_not_conflict(void **state)
{
    const struct trace_access even = {.n = 100, .begin = ADDRESS, .length = 8, .stride = 16},
                              odd = {.n = 100, .begin = ADDRESS + 8, .length = 8, .stride = 16},
                              down = {.n = 3, .begin = ADDRESS + 48, .length = 9, .stride = -16},
                              span = {.n = 1, .begin = ADDRESS, .length = 1600};
    const struct {
        const struct trace_access *blocks;
        unsigned what;
        bool conflict;
    } cases[] = {{&odd, TRACE_AT_TARGET, false},
                 {&even, TRACE_AT_TARGET, true},
                 {&down, TRACE_AT_TARGET, true},
                 {&span, TRACE_AT_TARGET, true},
                 {&span, TRACE_AT_TARGET | TRACE_INEXACT, false}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_job job;

        make_job(&job, 3);
        make_create_all(&job);
        fences(&job, 20);
        make_op(&job, 0, 30, 31, TRACE_PUT, 1, 800, TRACE_PACKETS);
        make_blocks(&job, 0, TRACE_AT_TARGET, &even);
        make_op(&job, 2, 30, 31, TRACE_PUT, 1, 800, TRACE_PACKETS);
        make_blocks(&job, 2, cases[i].what, cases[i].blocks);
        fences(&job, 40);
        make_free_all(&job, 100);
        char *text = run_report(&job, "--json %s");
        assert_true((strstr(text, "\"access\": \"put\"") != NULL) == cases[i].conflict);
        assert_true(
            contains(text, cases[i].what & TRACE_INEXACT ? "\"skipped\": 1" : "\"skipped\": 0"));
        free(text);
        make_free(&job);
    }
}

/* An operation of post and start begins at its target with the post, however early it was issued;
 * the target's own accesses before that are over. */
static void an_early_put_begins_with_the_post(void **state)
{
    for (int late = 0; late < 2; late++) {
        struct made_job job;
        (void)state;

        make_job(&job, 2);
        make_create_all(&job);
        make_start(&job, 0, 20, 21, 1);
        put(&job, 0, 30, ADDRESS, 8);
        make_complete(&job, 0, 40, 41);
        if (late)
            make_post(&job, 1, 45, 46, 0);
        make_lock(&job, 1, 50, 51, 0, TRACE_LOCK_SHARED);
        make_locked(&job, 1, 51, 0, TRACE_LOCK_SHARED);
        make_op(&job, 1, 52, 53, TRACE_GET, 0, 8, TRACE_PACKETS);
        make_access(&job, 1, TRACE_STORED, ADDRESS, 8);
        make_unlock(&job, 1, 55, 56, 0);
        if (!late)
            make_post(&job, 1, 60, 61, 0);
        make_wait(&job, 1, 70, 71);
        make_free_all(&job, 100);
        char *text = run_report(&job, "%s");
        assert_true(contains(text, late ? "1 pair of calls access" : "none was found"));
        free(text);
        make_free(&job);
    }
}

/* Memory that a message accesses whose record is the last of the rank. */
static void message_memory(struct made_job *job, uint32_t rank, unsigned side, uint64_t begin,
                           uint32_t n, uint64_t length, int64_t stride)
{
    struct made_file *file = &job->app[rank];
    const uint64_t time = file->record[file->n - 1].time;
    struct trace_access *access = (struct trace_access *)make_record(file, 0, TRACE_ACCESS);

    access->time = time;
    access->what = (uint16_t)side;
    access->n = n;
    access->begin = begin;
    access->length = length;
    access->stride = stride;
}

/* A receive of at most 128 bytes, of which 64 come, is under way at rank 1 while rank 2 puts. */
static void a_receive_stores_what_has_come(void **state)
{
    static const struct {
        uint32_t n; /* blocks of length bytes, twice as far apart */
        uint64_t length, put;
        bool conflict;
    } cases[] = {{1, 128, 0, true},  {1, 128, 56, true},  {1, 128, 64, false},
                 {16, 8, 112, true}, {16, 8, 120, false}, {16, 8, 128, false}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_job job;

        make_job(&job, 3);
        make_messages(&job);
        fences(&job, 20);
        make_enter(&job, 1, 30, IRECV);
        make_message(&job, 1, 31, TRACE_RECEIVE, WORLD, -1, 1);
        message_memory(&job, 1, TRACE_STORED, ADDRESS, cases[i].n, cases[i].length,
                       (int64_t)(2 * cases[i].length));
        make_leave(&job, 1, 32, IRECV);
        put(&job, 2, 35, ADDRESS + cases[i].put, 8);
        make_send(&job, 0, 40, 41, WORLD, 1);
        make_enter(&job, 1, 42, WAITALL);
        make_message(&job, 1, 43, TRACE_RECEIVED, WORLD, 0, 1);
        make_leave(&job, 1, 44, WAITALL);
        fences(&job, 60);
        make_free_all(&job, 100);
        char *text = run_report(&job, "%s");
        assert_true(
            contains(text, cases[i].conflict ? "1 pair of calls access" : "none was found"));
        if (cases[i].conflict) {
            assert_true(contains(text, "rank 1 at 0.000032 s: the buffer that MPI_Irecv writes"));
            assert_true(contains(text, "complete in MPI_Waitall"));
        }
        free(text);
        make_free(&job);
    }
}

/* The target's own accesses in the epoch conflict with a put that comes when the target is in the
 * fence that ends it already; those before the fence that began it do not. */
static void a_put_may_come_while_the_target_is_in_its_closing_fence(void **state)
{
    for (int inside = 0; inside < 2; inside++) {
        struct made_job job;
        (void)state;

        make_job(&job, 2);
        make_messages(&job);
        fences(&job, 20);
        if (inside)
            fences(&job, 30);
        make_enter(&job, 1, 40, RECV);
        make_message(&job, 1, 42, TRACE_RECEIVED, WORLD, 0, 0);
        message_memory(&job, 1, TRACE_STORED, ADDRESS, 1, 64, 0);
        make_leave(&job, 1, 43, RECV);
        make_send(&job, 0, 40, 41, WORLD, 1);
        if (!inside)
            fences(&job, 45);
        make_fence(&job, 1, 55, 80, 0);
        put(&job, 0, 70, ADDRESS, 8);
        make_fence(&job, 0, 75, 80, 0);
        make_free_all(&job, 100);
        char *text = run_report(&job, "%s");
        assert_true(contains(text, inside ? "1 pair of calls access" : "none was found"));
        free(text);
        make_free(&job);
    }
}

/* A sum of elements of 8 bytes each. */
static void sum(struct made_job *job, uint32_t rank, double us, uint64_t begin, uint64_t length)
{
    const unsigned how =
        TRACE_AT_TARGET | TRACE_ACC_SUM << TRACE_ACC_OP_SHIFT | 7 << TRACE_ACC_TYPE_SHIFT;

    make_op(job, rank, us, us + 1, TRACE_ACCUMULATE, 1, length,
            TRACE_PACKETS | 3 << TRACE_OP_ELEMENT_SHIFT);
    make_access(job, rank, how, begin, length);
}

/* Accumulates of several processes meet on whole elements, or conflict; those of one are in order
 * also where they overlap in part. */
static void elements_of_accumulates_meet_as_a_whole(void **state)
{
    static const struct {
        uint64_t begin, length;
        uint32_t rank;
        bool conflict;
    } cases[] = {{0, 16, 2, false}, {8, 16, 2, false}, {16, 8, 2, false}, {4, 8, 2, true},
                 {12, 8, 2, true},  {9, 8, 2, true},   {4, 8, 0, false}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_job job;

        make_job(&job, 3);
        make_create_all(&job);
        fences(&job, 20);
        sum(&job, 0, 30, ADDRESS, 16);
        sum(&job, cases[i].rank, 35, ADDRESS + cases[i].begin, cases[i].length);
        fences(&job, 40);
        make_free_all(&job, 100);
        char *text = run_report(&job, "%s");
        assert_true(
            contains(text, cases[i].conflict ? "1 pair of calls access" : "none was found"));
        free(text);
        make_free(&job);
    }
}

static void together(struct made_job *job, uint32_t rank, unsigned op, int32_t root)
{
    make_together(job, rank, 40, 50, op, root);
    struct trace_record *enter = &job->app[rank].record[job->app[rank].n - 3];
    enter->bytes = WORLD;
    enter->peer = -1;
}

/* A rank puts to rank 1, completes that, and calls a collective operation, after which another rank
 * puts to the same bytes: that is in order where data go from the first to the second. */
static void collective_operations_order_as_their_data_go(void **state)
{
    static const struct {
        unsigned op;
        int32_t root;
        uint32_t first, second;
        bool ordered;
    } cases[] = {
        {TRACE_BARRIER, -1, 0, 2, true},        {TRACE_ALLREDUCE, -1, 2, 0, true},
        {TRACE_ALLTOALLW, -1, 2, 0, true},      {TRACE_BCAST, 0, 0, 2, true},
        {TRACE_BCAST, 1, 0, 2, false},          {TRACE_BCAST, 2, 0, 2, false},
        {TRACE_SCATTERV, 2, 2, 0, true},        {TRACE_SCATTER, 0, 2, 0, false},
        {TRACE_REDUCE, 2, 0, 2, true},          {TRACE_REDUCE, 0, 0, 2, false},
        {TRACE_GATHERV, 0, 2, 0, true},         {TRACE_GATHER, 1, 2, 0, false},
        {TRACE_SCAN, -1, 0, 2, true},           {TRACE_SCAN, -1, 2, 0, false},
        {TRACE_EXSCAN, -1, 0, 2, true},         {TRACE_EXSCAN, -1, 2, 0, false},
        {TRACE_REDUCE_SCATTER, -1, 2, 0, true},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_job job;

        make_job(&job, 3);
        make_messages(&job);
        for (uint32_t r = 0; r < 3; r += 2) {
            const double us = r == cases[i].first ? 20 : 60;

            make_lock(&job, r, 15, 16, 1, TRACE_LOCK_SHARED);
            make_locked(&job, r, 16, 1, TRACE_LOCK_SHARED);
            if (r == cases[i].second)
                together(&job, r, cases[i].op, cases[i].root);
            put(&job, r, us, ADDRESS, 8);
            make_flush(&job, r, us + 5, us + 10, 1);
            if (r == cases[i].first)
                together(&job, r, cases[i].op, cases[i].root);
            make_unlock(&job, r, 80, 81, 1);
        }
        together(&job, 1, cases[i].op, cases[i].root);
        make_free_all(&job, 100);
        char *text = run_report(&job, "%s");
        const bool good =
            contains(text, cases[i].ordered ? "none was found" : "1 pair of calls access");
        if (!good)
            print_message("case %zu\n", i);
        assert_true(good);
        free(text);
        make_free(&job);
    }
}

/* Some ten thousand operations on the same bytes and on others take no time that grows with their
 * square: this test would not end. */
static void many_operations_are_looked_at(void **state)
{
    enum { ROUNDS = 300, OPS = 100 };
    struct made_job job;
    double us = 20;
    (void)state;

    make_job(&job, 3);
    make_create_all(&job);
    for (int round = 0; round < ROUNDS; round++, us += 200) {
        fences(&job, us);
        for (int i = 0; i < OPS; i++) {
            put(&job, 0, us + 10 + i, ADDRESS + 16 * (uint64_t)i, 8);
            put(&job, 2, us + 10 + i, ADDRESS + 16 * (uint64_t)i + 8, 8);
        }
    }
    fences(&job, us);
    make_free_all(&job, us + 100);
    char *text = run_report(&job, "%s");
    assert_true(contains(text, "none was found"));
    free(text);
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conflict_is_found_and_ordered_accesses_are_not),
        cmocka_unit_test(a_damaged_trace_has_no_conflicts),
        cmocka_unit_test(conflicts_are_found_up_to_the_end_of_the_first_process),
        cmocka_unit_test(blocks_beside_each_other_do_not_conflict),
        cmocka_unit_test(an_early_put_begins_with_the_post),
        cmocka_unit_test(a_receive_stores_what_has_come),
        cmocka_unit_test(a_put_may_come_while_the_target_is_in_its_closing_fence),
        cmocka_unit_test(elements_of_accumulates_meet_as_a_whole),
        cmocka_unit_test(collective_operations_order_as_their_data_go),
        cmocka_unit_test(many_operations_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
