/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_whatif.c - mpi-rma-trace says how much time a change would save, in programs of which that
 * is known: as much as it is, within a twentieth, and nothing where nothing can be saved. Replayed
 * without a change, each run is as long as it was.
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
#include "whatif_run.h"

enum { ROUNDS = 10 };

/* Rounds of computation and a fence, of each rank as long as work says. The ranks free the window
 * at once. */
static void make_rounds(struct made_job *job, double (*work)(uint32_t rank, int round),
                        uint32_t (*target)(uint32_t rank, uint32_t nproc))
{
    double us = 110, last;

    make_create_all(job);
    for (uint32_t i = 0; i < job->nproc; i++)
        make_fence(job, i, 100, us, TRACE_NOPRECEDE);
    for (int round = 0; round < ROUNDS; round++, us = last + 10) {
        last = us;
        for (uint32_t i = 0; i < job->nproc; i++)
            last = us + work(i, round) > last ? us + work(i, round) : last;
        for (uint32_t i = 0; i < job->nproc; i++) {
            make_op(job, i, us + 1, us + 2, TRACE_PUT, target(i, job->nproc), 64, TRACE_MAPPED);
            make_fence(job, i, us + work(i, round), last + 10, 0);
        }
    }
    make_free_all(job, us + 5);
}

static uint32_t next_rank(uint32_t rank, uint32_t nproc)
{
    return (rank + 1) % nproc;
}

static uint32_t partner(uint32_t rank, uint32_t nproc)
{
    (void)nproc;
    return rank ^ 1;
}

static double rank_1_is_late(uint32_t rank, int round)
{
    (void)round;
    return rank == 1 ? 3 * WORK : WORK;
}

static double pairs_take_turns(uint32_t rank, int round)
{
    return rank == 2 * (uint32_t)(round % 2) ? 3 * WORK : WORK;
}

static double all_the_same(uint32_t rank, int round)
{
    (void)rank, (void)round;
    return WORK;
}

static void late(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 3);
    make_rounds(&job, rank_1_is_late, next_rank);
    char *json = whatif_replayed(&job);
    assert_near_us("not late", whatif_saves(json, "not_late"), ROUNDS * 2 * WORK);
    assert_near_us("balanced", whatif_saves(json, "balanced"), ROUNDS * (3 - 5 / 3.0) * WORK);
    assert_true(whatif_saves(json, "fence_as_pscw") < WORK);
    free(json);
    make_free(&job);
}

/* Two pairs, of which one is late in each round: by fences each waits for the other. */
static void fences(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 4);
    make_rounds(&job, pairs_take_turns, partner);
    char *json = whatif_replayed(&job);
    assert_near_us("pairs", whatif_saves(json, "fence_as_pscw"), ROUNDS * WORK);
    free(json);
    make_free(&job);
    make_job(&job, 2); /* nobody else to be out of step with */
    make_rounds(&job, rank_1_is_late, partner);
    json = whatif_replayed(&job);
    assert_true(whatif_saves(json, "fence_as_pscw") == 0);
    free(json);
    make_free(&job);
}

static double one_by_chance(uint32_t rank, int round)
{
    static const uint32_t late[] = {2, 0, 3, 1, 1, 2, 0, 3, 0, 2};

    return rank == late[round % 10] ? 8 * WORK : WORK;
}

/* Who puts to the next rank need not wait for its post before MPI_Win_complete, so it computes
 * meanwhile. */
static void posts(void **state)
{
    enum { N = 4 };
    struct made_job job;
    double done[N] = {0}, last = 0;

    (void)state;
    make_job(&job, N);
    make_rounds(&job, one_by_chance, next_rank);
    char *json = whatif_replayed(&job);
    for (int round = 0; round < ROUNDS; round++) {
        double complete[N];

        for (int i = 0; i < N; i++) { /* its own work, and the next one's post */
            const double own = done[i] + one_by_chance((uint32_t)i, round);
            const double posted = done[(i + 1) % N];

            complete[i] = own > posted ? own : posted;
        }
        for (int i = 0; i < N; i++) {
            const double origin = complete[(i + N - 1) % N];

            done[i] = complete[i] > origin ? complete[i] : origin;
            last = done[i] > last ? done[i] : last;
        }
    }
    assert_near_us("a ring", whatif_saves(json, "fence_as_pscw"), ROUNDS * 8 * WORK - last);
    free(json);
    make_free(&job);
}

static void nothing(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 3);
    make_rounds(&job, all_the_same, next_rank);
    free(whatif_replayed(&job));
    char *text = run_report(&job, "%s");
    assert_non_null(strstr(text, "no change would save more than 1 %"));
    free(text);
    make_free(&job);
}

/* Ranks 1 and above do something under an exclusive lock at rank 0, one after the other. */
static void make_queue(struct made_job *job, unsigned op)
{
    double us = 100;

    make_create_all(job);
    for (uint32_t i = 1; i < job->nproc; i++) {
        make_lock(job, i, 100, us + 2, 0, TRACE_LOCK_EXCLUSIVE);
        make_locked(job, i, us + 1, 0, TRACE_LOCK_EXCLUSIVE);
        make_op(job, i, us + 3, us + 5, op, 0, 64, TRACE_MAPPED);
        make_unlock(job, i, us + WORK, us + WORK + 2, 0);
        us += WORK + 2;
    }
    make_free_call(job, 0, 100, us + 20);
    for (uint32_t i = 1; i < job->nproc; i++)
        make_free_call(job, i, 100 + i * (WORK + 2) + 5, us + 20);
}

static void locks(void **state)
{
    static const unsigned ops[] = {TRACE_GET, TRACE_ACCUMULATE, TRACE_PUT};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct made_job job;

        make_job(&job, 5);
        make_queue(&job, ops[i]);
        char *json = whatif_replayed(&job);
        if (ops[i] == TRACE_PUT) /* which others would see half done */
            assert_true(whatif_saves(json, "locks_shared") == 0);
        else
            assert_near_us("shared locks", whatif_saves(json, "locks_shared"), 3 * WORK);
        assert_near_us("early unlock", whatif_saves(json, "unlock_earlier"), 3 * WORK);
        free(json);
        make_free(&job);
    }
}

/* The operation is complete inside the last call of the rank, which ends later. */
static void make_done_inside(struct made_job *job, uint32_t rank, double us, uint32_t target,
                             uint64_t id)
{
    struct made_file *file = &job->app[rank];
    const struct trace_record last = file->record[--file->n];

    make_done(job, rank, us, target, id);
    *make_record(file, us, last.kind) = last;
}

/* n operations by packet of 100 us each, and as many flushes of 200 us, or one. */
static void make_small(struct made_job *job, int n, bool each, unsigned op)
{
    uint64_t id[64];
    double us = 100;

    make_create_all(job);
    make_lock(job, 0, us, us + 1, 1, TRACE_LOCK_SHARED);
    us += 5;
    for (int i = 0; i < n; i++) {
        id[i] = make_op(job, 0, us, us + 100, op, 1, 8, TRACE_PACKETS);
        us += 101;
        if (each) {
            make_flush(job, 0, us, us + 200, 1);
            make_done_inside(job, 0, us + 199, 1, id[i]);
            us += 201;
        }
    }
    if (!each) {
        make_flush(job, 0, us, us + 200, 1);
        for (int i = 0; i < n; i++)
            make_done_inside(job, 0, us + 199, 1, id[i]);
        us += 201;
    }
    make_unlock(job, 0, us, us + 1, 1);
    make_free_call(job, 0, us + 5, us + 10);
    make_free_call(job, 1, 100, us + 10);
}

static void small_puts(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_small(&job, 32, false, TRACE_PUT);
    char *json = whatif_replayed(&job);
    assert_near_us("one put", whatif_saves(json, "small_gathered"), 31 * 100);
    assert_true(whatif_saves(json, "flush_once") == 0);
    free(json);
    make_free(&job);
    make_job(&job, 2);
    make_small(&job, 32, true, TRACE_PUT);
    json = whatif_replayed(&job);
    assert_near_us("one flush", whatif_saves(json, "flush_once"), 31 * 200);
    assert_true(whatif_saves(json, "small_gathered") == 0);
    free(json);
    make_free(&job);
    make_job(&job, 2); /* what is got may be needed before the next is */
    make_small(&job, 32, true, TRACE_GET);
    json = whatif_replayed(&job);
    assert_true(whatif_saves(json, "flush_once") == 0);
    free(json);
    make_free(&job);
}

/* The origin computes between its put and its complete, the target behind its wait. */
static void late_complete(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    make_post(&job, 1, 100, 101, 0);
    make_start(&job, 0, 100, 101, 1);
    make_op(&job, 0, 110, 115, TRACE_PUT, 1, 64, TRACE_MAPPED);
    make_complete(&job, 0, 120 + WORK, 121 + WORK);
    make_wait(&job, 1, 120, 122 + WORK);
    make_free_call(&job, 0, 130 + WORK, 140 + 2 * WORK);
    make_free_call(&job, 1, 130 + 2 * WORK, 140 + 2 * WORK);
    char *json = whatif_replayed(&job);
    assert_near_us("early complete", whatif_saves(json, "complete_earlier"), WORK);
    assert_near_us("late wait", whatif_saves(json, "wait_later"), WORK);
    free(json);
    make_free(&job);
}

/* The target computes before its post, the origin behind its complete. */
static void late_post(void **state)
{
    struct made_job job;
    struct trace_record *r;

    (void)state;
    make_job(&job, 2);
    make_create_all(&job);
    make_start(&job, 0, 100, 101, 1);
    make_record(&job.app[0], 110, TRACE_ENTER)->what = TRACE_CALL_Put;
    for (int i = 0; i < 2; i++) {
        r = make_record(&job.app[0], i ? 112 + WORK : 110, i ? TRACE_POST_SEEN : TRACE_POST_WAIT);
        r->win = 1;
        r->peer = 1;
    }
    r = make_record(&job.app[0], 113 + WORK, TRACE_OP);
    r->win = 1;
    r->peer = 1;
    r->what = TRACE_PUT;
    r->arg = TRACE_MAPPED;
    r->id = ++job.next_id;
    make_done(&job, 0, 114 + WORK, 1, job.next_id);
    make_record(&job.app[0], 115 + WORK, TRACE_LEAVE)->what = TRACE_CALL_Put;
    make_complete(&job, 0, 120 + WORK, 121 + WORK);
    make_call(&job, 1, 100, 101, TRACE_CALL_Win_sync);
    make_post(&job, 1, 110 + WORK, 111 + WORK, 0);
    make_wait(&job, 1, 121 + WORK, 122 + WORK);
    make_free_call(&job, 0, 130 + 2 * WORK, 140 + 2 * WORK);
    make_free_call(&job, 1, 130 + WORK, 140 + 2 * WORK);
    char *json = whatif_replayed(&job);
    assert_near_us("early post", whatif_saves(json, "post_earlier"), WORK);
    free(json);
    make_free(&job);
}

/* Any program is replayed as it was, or it is said why not. */
static void any_program(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 30; seed++) {
        struct made_job job;

        make_random_program(&job, seed);
        char *json = run_report(&job, "--json %s");
        const double was = json_number(json, "what_if", "measured");
        const double is = json_number(json, "what_if", "replayed");

        if (strstr(json, "\"why_not\": null"))
            assert_near_us("replay of any program", is, was);
        else
            assert_non_null(strstr(json, "\"scenarios\": []"));
        free(json);
        make_free(&job);
    }
}

static void assert_not_replayed(struct made_job *job, const char *why)
{
    char *said = run_report(job, "%s");

    if (!strstr(said, "no estimate is made: ") || !strstr(said, why))
        print_message("%.600s\n", said);
    assert_non_null(strstr(said, "no estimate is made: "));
    assert_non_null(strstr(said, why));
    free(said);
    make_free(job);
}

/* What cannot be replayed is said. */
static void not_replayed(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    make_rounds(&job, rank_1_is_late, next_rank);
    make_record(&job.agent[0], 200, TRACE_ENTER)->what = TRACE_CALL_Win_sync;
    make_record(&job.agent[0], 210, TRACE_LEAVE)->what = TRACE_CALL_Win_sync;
    assert_not_replayed(&job, "several threads");
}

/* The gain comes before all else in the report for people, with the rank and the call. */
static void first(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 3);
    make_rounds(&job, rank_1_is_late, next_rank);
    char *text = run_report(&job, "%s");
    const char *at = strstr(text, "  1. saves ");
    assert_non_null(at);
    assert_true(at < strstr(text, "Overview"));
    assert_non_null(strstr(at, "rank 1, computing between"));
    free(text);
    make_free(&job);
}

/* A job that was killed in a fence. */
static void killed(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 3);
    make_rounds(&job, rank_1_is_late, next_rank);
    for (uint32_t i = 0; i < 3; i++)
        job.app[i].n -= 3 + 5 * i; /* the call of MPI_Win_free, and more */
    char *json = run_report(&job, "--json %s");
    assert_near_us("killed", json_number(json, "what_if", "replayed"),
                   json_number(json, "what_if", "measured"));
    free(json);
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late),          cmocka_unit_test(fences),    cmocka_unit_test(nothing),
        cmocka_unit_test(posts),         cmocka_unit_test(locks),     cmocka_unit_test(small_puts),
        cmocka_unit_test(late_complete), cmocka_unit_test(late_post), cmocka_unit_test(any_program),
        cmocka_unit_test(not_replayed),  cmocka_unit_test(first),     cmocka_unit_test(killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
