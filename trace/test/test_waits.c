/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_waits.c - mpi-rma-trace finds each wait state where a program has it, by a delay of
 * known length, within a tenth of that, and does not find it (less than a fiftieth) where the same
 * program has no delay.
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

/* A program, with the delay (us) at the place that belongs to its pattern. */
typedef void program(struct made_job *job, double delay);

static void check(program *run, uint32_t nproc, const char *pattern, double expected_us)
{
    static const double delays[] = {DELAY, 0};

    for (int i = 0; i < 2; i++) {
        struct made_job job;

        make_job(&job, nproc);
        run(&job, delays[i]);
        char *json = run_report(&job, "--json %s");
        double total = json_number(json, pattern, "total") / 1000;

        if (delays[i] > 0 && (total < 0.9 * expected_us || total > 1.1 * expected_us))
            print_message("%s: %f us, expected %f\n", pattern, total, expected_us);
        if (delays[i] > 0)
            assert_true(total >= 0.9 * expected_us && total <= 1.1 * expected_us);
        else
            assert_true(total <= 0.02 * expected_us);
        free(json);
        make_free(&job);
    }
}

static void late_creation(struct made_job *job, double delay)
{
    for (uint32_t i = 0; i < job->nproc; i++)
        make_create(job, i, i ? 1 : 1 + delay, 10 + delay);
    make_free_all(job, 100000);
}

static void late_free(struct made_job *job, double delay)
{
    make_create_all(job);
    for (uint32_t i = 0; i < job->nproc; i++)
        make_free_call(job, i, i ? 1000 : 1000 + delay, 1010 + delay);
}

static void late_fence(struct made_job *job, double delay)
{
    make_create_all(job);
    for (uint32_t i = 0; i < job->nproc; i++)
        make_fence(job, i, i ? 1000 : 1000 + delay, 1010 + delay, 0);
    make_free_all(job, 100000);
}

/* One put that the target serves late in its fence, by packets. */
static void pending_put(struct made_job *job, double delay)
{
    make_create_all(job);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(job, i, 100, 110, TRACE_NOPRECEDE);
    make_op(job, 0, 120, 121, TRACE_PUT, 1, 1 << 20, TRACE_PACKETS);
    if (delay == 0)
        make_region(&job->app[1], 130, 140, TRACE_SERVE, 0);
    for (uint32_t i = 0; i < 2; i++) {
        struct made_file *file = &job->app[i];
        struct trace_record *r;

        make_record(file, 200, TRACE_ENTER)->what = TRACE_CALL_Win_fence;
        r = make_record(file, 200, TRACE_FENCE);
        r->win = 1;
        if (i == 1 && delay > 0)
            make_region(file, 210, 200 + delay, TRACE_SERVE, 0);
        make_record(file, 210 + delay, TRACE_LEAVE)->what = TRACE_CALL_Win_fence;
    }
    make_free_all(job, 100000);
}

static void late_post(struct made_job *job, double delay)
{
    struct made_file *origin = &job->app[0];

    make_create_all(job);
    make_start(job, 0, 100, 101, 1);
    make_record(origin, 110, TRACE_ENTER)->what = TRACE_CALL_Put;
    if (delay > 0) {
        struct trace_record *r = make_record(origin, 110, TRACE_POST_WAIT);
        r->win = 1;
        r->peer = 1;
        r = make_record(origin, 112 + delay, TRACE_POST_SEEN);
        r->win = 1;
        r->peer = 1;
    }
    struct trace_record *r = make_record(origin, 113 + delay, TRACE_OP);
    r->win = 1;
    r->peer = 1;
    r->what = TRACE_PUT;
    r->arg = TRACE_MAPPED;
    r->id = ++job->next_id;
    r->bytes = 64;
    make_done(job, 0, 114 + delay, 1, job->next_id);
    make_record(origin, 115 + delay, TRACE_LEAVE)->what = TRACE_CALL_Put;
    make_complete(job, 0, 120 + delay, 121 + delay);
    make_post(job, 1, 110 + delay, 111 + delay, 0);
    make_wait(job, 1, 121 + delay, 122 + delay);
    make_free_all(job, 100000);
}

/* The operation itself comes late: MPI_Win_wait waits, but not for a late complete. */
static void late_put(struct made_job *job, double delay)
{
    make_create_all(job);
    make_post(job, 1, 100, 101, 0);
    make_start(job, 0, 100, 101, 1);
    make_op(job, 0, 110 + delay, 115 + delay, TRACE_PUT, 1, 64, TRACE_MAPPED);
    make_complete(job, 0, 120 + delay, 121 + delay);
    make_wait(job, 1, 120, 122 + delay);
    make_free_all(job, 100000);
}

/* A put that raises notification 5. */
static void notified_put(struct made_job *job, uint32_t rank, double us, uint32_t target)
{
    struct made_file *file = &job->app[rank];

    make_record(file, us, TRACE_ENTER)->what = TRACE_CALL_Put_notify;
    struct trace_record *r = make_record(file, us, TRACE_OP);
    r->win = 1;
    r->peer = (int32_t)target;
    r->what = TRACE_PUT;
    r->arg = TRACE_MAPPED | (1 + 5) << TRACE_OP_NOTIFY_SHIFT;
    r->id = ++job->next_id;
    r->bytes = 64;
    make_done(job, rank, us + 0.5, target, job->next_id);
    make_record(file, us + 1, TRACE_LEAVE)->what = TRACE_CALL_Put_notify;
}

/* Waiting for count of them, from one source or, -1, from any. */
static void notified_wait(struct made_job *job, uint32_t rank, double begin, double end,
                          int32_t source, uint64_t count)
{
    struct made_file *file = &job->app[rank];
    struct trace_record *r = make_record(file, begin, TRACE_ENTER);

    r->what = TRACE_CALL_Notify_wait;
    r->win = 1;
    r->peer = source;
    r = make_record(file, end, TRACE_TAKEN);
    r->win = 1;
    r->peer = source;
    r->arg = 5;
    r->bytes = count;
    make_record(file, end, TRACE_LEAVE)->what = TRACE_CALL_Notify_wait;
}

/* Of two origins the second is late. What is then taken of each of them is there already. */
static void late_notification(struct made_job *job, double delay)
{
    make_create_all(job);
    for (uint32_t i = 0; i < 3; i++)
        make_fence(job, i, 20, 30, TRACE_NOPRECEDE);
    notified_put(job, 0, 100, 2);
    notified_put(job, 1, 110 + delay, 2);
    notified_wait(job, 2, 105, 120 + delay, -1, 2);
    notified_wait(job, 2, 130 + delay, 131 + delay, 1, 1);
    notified_wait(job, 2, 132 + delay, 133 + delay, 0, 1);
    for (uint32_t i = 0; i < 3; i++)
        make_fence(job, i, 20000, 20010, 0);
    make_free_all(job, 100000);
}

/* The first one has come and was taken, the second is late. */
static void second_notification(struct made_job *job, double delay)
{
    make_create_all(job);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(job, i, 20, 30, TRACE_NOPRECEDE);
    notified_put(job, 0, 100, 1);
    notified_put(job, 0, 110 + delay, 1);
    notified_wait(job, 1, 102, 103, 0, 1);
    notified_wait(job, 1, 105, 120 + delay, 0, 1);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(job, i, 20000, 20010, 0);
    make_free_all(job, 100000);
}

/* Two shared locks do not exclude each other. */
static void shared_locks(struct made_job *job, double delay)
{
    make_create_all(job);
    make_lock(job, 0, 100, 102, 1, delay ? TRACE_LOCK_EXCLUSIVE : TRACE_LOCK_SHARED);
    make_locked(job, 0, 101, 1, delay ? TRACE_LOCK_EXCLUSIVE : TRACE_LOCK_SHARED);
    make_unlock(job, 0, 110 + DELAY, 111 + DELAY, 1);
    make_lock(job, 2, 110, 113 + DELAY, 1, TRACE_LOCK_SHARED);
    make_locked(job, 2, 112 + DELAY, 1, TRACE_LOCK_SHARED);
    make_unlock(job, 2, 130 + DELAY, 131 + DELAY, 1);
    make_free_all(job, 100000);
}

/* Two hold a shared lock of the target; the one that has got it first gives it back last, and it is
 * for that one that an exclusive request waits. */
static void shared_holders(struct made_job *job, double delay)
{
    make_create_all(job);
    make_lock(job, 1, 100, 102, 3, TRACE_LOCK_SHARED);
    make_locked(job, 1, 101, 3, TRACE_LOCK_SHARED);
    make_lock(job, 0, 110, 112, 3, TRACE_LOCK_SHARED);
    make_locked(job, 0, 111, 3, TRACE_LOCK_SHARED);
    make_lock(job, 2, 120, 122 + delay, 3, TRACE_LOCK_EXCLUSIVE);
    make_unlock(job, 0, 117 + delay / 4, 118 + delay / 4, 3);
    make_unlock(job, 1, 119 + delay, 120 + delay, 3);
    make_locked(job, 2, 121 + delay, 3, TRACE_LOCK_EXCLUSIVE);
    make_unlock(job, 2, 130 + delay, 131 + delay, 3);
    make_free_all(job, 100000);
}

/* The same for a lock on all targets behind exclusive locks of two of them. */
static void exclusive_holders(struct made_job *job, double delay)
{
    make_create_all(job);
    make_lock(job, 1, 100, 102, 3, TRACE_LOCK_EXCLUSIVE);
    make_locked(job, 1, 101, 3, TRACE_LOCK_EXCLUSIVE);
    make_lock(job, 0, 110, 112, 2, TRACE_LOCK_EXCLUSIVE);
    make_locked(job, 0, 111, 2, TRACE_LOCK_EXCLUSIVE);
    make_lock(job, 2, 120, 122 + delay, UINT32_MAX, TRACE_LOCK_SHARED);
    make_unlock(job, 0, 117 + delay / 4, 118 + delay / 4, 2);
    make_unlock(job, 1, 119 + delay, 120 + delay, 3);
    make_locked(job, 2, 121 + delay, UINT32_MAX, TRACE_LOCK_SHARED);
    make_unlock(job, 2, 130 + delay, 131 + delay, UINT32_MAX);
    make_free_all(job, 100000);
}

/* The target computes; its packets are served when it next calls. */
static void absent_target(struct made_job *job, double delay)
{
    make_create_all(job);
    make_lock(job, 0, 100, 101, 1, TRACE_LOCK_SHARED);
    make_locked(job, 0, 100.5, 1, TRACE_LOCK_SHARED);
    make_op(job, 0, 110, 111, TRACE_PUT, 1, 64, TRACE_PACKETS);
    make_flush(job, 0, 120, 130 + delay, 1);
    make_unlock(job, 0, 131 + delay, 132 + delay, 1);
    make_record(&job->app[1], 121 + delay, TRACE_ENTER)->what = TRACE_CALL_Win_sync;
    make_region(&job->app[1], 121 + delay, 124 + delay, TRACE_SERVE, 0);
    make_record(&job->app[1], 140 + delay, TRACE_LEAVE)->what = TRACE_CALL_Win_sync;
    make_free_all(job, 100000);
}

/* Two origins' atomic operations on one target; the second's call lasts until the first is done. */
static void accumulates(struct made_job *job, double delay)
{
    make_create_all(job);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(job, i, 20, 30, TRACE_NOPRECEDE);
    make_fence(job, 2, 20, 30, TRACE_NOPRECEDE);
    make_op(job, 0, 100, 110 + delay, TRACE_ACCUMULATE, 2, 8, TRACE_MAPPED);
    make_op(job, 1, delay ? 110 : 111, 120 + delay, TRACE_ACCUMULATE, 2, 8, TRACE_MAPPED);
    for (uint32_t i = 0; i < 3; i++)
        make_fence(job, i, 20000, 20010, 0);
    make_free_all(job, 100000);
}

static void small_operations(struct made_job *job, double delay)
{
    int n = delay > 0 ? 101 : 1;

    make_create_all(job);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(job, i, 20, 30, TRACE_NOPRECEDE);
    for (int i = 0; i < n; i++)
        make_op(job, 0, 100 + i * DELAY / 100, 100 + (i + 1) * DELAY / 100, TRACE_PUT, 1, 8,
                TRACE_MAPPED);
    for (uint32_t i = 0; i < 2; i++)
        make_fence(job, i, 20000, 20010, 0);
    make_free_all(job, 100000);
}

static void credit(struct made_job *job, double delay)
{
    make_create_all(job);
    make_record(&job->app[0], 100, TRACE_ENTER)->what = TRACE_CALL_Put;
    if (delay > 0) {
        make_record(&job->app[0], 100, TRACE_NO_CREDIT)->peer = 1;
        make_record(&job->app[0], 100 + delay, TRACE_CREDIT)->peer = 1;
    }
    make_record(&job->app[0], 110 + delay, TRACE_LEAVE)->what = TRACE_CALL_Put;
    make_free_all(job, 100000);
}

static void parked(struct made_job *job, double delay)
{
    make_create_all(job);
    if (delay > 0)
        make_region(&job->agent[1], 100, 100 + delay, TRACE_PARK, 0);
    make_free_all(job, 100000);
}

static void wakeup(struct made_job *job, double delay)
{
    make_create_all(job);
    make_record(&job->agent[1], 50, TRACE_SLEEP);
    make_record(&job->app[0], 100, TRACE_WAKE_AGENT)->peer = 1;
    make_record(&job->agent[1], 100.1 + delay, TRACE_AWAKE);
    make_free_all(job, 100000);
}

static void collective_waits(void **state)
{
    (void)state;
    check(late_creation, 4, "wait_at_create", 3 * DELAY);
    check(late_free, 4, "wait_at_free", 3 * DELAY);
    check(late_fence, 4, "wait_at_fence", 3 * DELAY);
    check(pending_put, 2, "early_fence", DELAY);
}

static void group_waits(void **state)
{
    (void)state;
    check(late_post, 2, "late_post", DELAY);
    check(make_late_complete, 2, "early_wait", DELAY);
    check(make_late_complete, 2, "late_complete", DELAY);
    check(late_put, 2, "early_wait", DELAY);
}

static void notified_waits(void **state)
{
    (void)state;
    check(late_notification, 3, "late_notification", DELAY);
    check(second_notification, 2, "late_notification", DELAY);
}

static void lock_waits(void **state)
{
    (void)state;
    check(make_held_lock, 3, "lock_contention", DELAY);
    check(shared_locks, 3, "lock_contention", DELAY);
    check(shared_holders, 4, "lock_contention", DELAY);
    check(exclusive_holders, 4, "lock_contention", DELAY);
}

/* It is rank 1 that the others wait for, though rank 0 was granted its lock later. */
static void who_gives_back_last_is_the_cause(void **state)
{
    static program *const programs[] = {shared_holders, exclusive_holders};

    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct made_job job;

        make_job(&job, 4);
        programs[i](&job, DELAY);
        char *json = run_report(&job, "--json %s");
        const char *contention = strstr(json, "\"lock_contention\"");

        assert_non_null(contention);
        assert_int_equal((int)json_number(contention, "worst", "cause"), 1);
        free(json);
        make_free(&job);
    }
}

static void target_waits(void **state)
{
    (void)state;
    check(absent_target, 2, "wait_for_progress", DELAY);
    check(accumulates, 3, "serialized_accumulates", DELAY);
}

static void internal_findings(void **state)
{
    (void)state;
    check(small_operations, 2, "small_operations", DELAY);
    check(credit, 2, "credit_stalls", DELAY);
    check(parked, 2, "parked_packets", DELAY);
    check(wakeup, 2, "agent_wakeups", DELAY);
}

/* An operation that is late is no late complete, and the other way round it is both. */
static void late_put_is_no_late_complete(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    late_put(&job, DELAY);
    char *json = run_report(&job, "--json %s");
    assert_true(json_number(json, "late_complete", "total") < 0.02 * 1000 * DELAY);
    assert_true(json_number(json, "late_post", "total") == 0);
    free(json);
    make_free(&job);
}

/* A target that lets a packet wait for its epoch has made progress. */
static void parked_is_progress(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 2);
    absent_target(&job, DELAY);
    make_region(&job.agent[1], 125, 120 + DELAY, TRACE_PARK, 0);
    char *json = run_report(&job, "--json %s");
    assert_true(json_number(json, "wait_for_progress", "total") < 0.02 * 1000 * DELAY);
    free(json);
    make_free(&job);
}

/* Of four processes two exchange something between two fences: one pair of six needs each. */
static void unneeded_pairs(void **state)
{
    struct made_job job;

    (void)state;
    make_job(&job, 4);
    make_create_all(&job);
    for (uint32_t i = 0; i < 4; i++)
        make_fence(&job, i, 20, 30, TRACE_NOPRECEDE);
    make_op(&job, 0, 40, 41, TRACE_PUT, 3, 8, TRACE_MAPPED);
    for (uint32_t i = 0; i < 4; i++)
        make_fence(&job, i, 50, 60, 0);
    make_free_all(&job, 100);
    char *json = run_report(&job, "--json %s");
    const char *pattern = "unneeded_pairwise_synchronizations";
    assert_int_equal((int)json_number(json, pattern, "number"), 10);
    assert_int_equal((int)json_number(json, pattern, "of"), 12);
    free(json);
    make_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collective_waits),   cmocka_unit_test(group_waits),
        cmocka_unit_test(notified_waits),     cmocka_unit_test(lock_waits),
        cmocka_unit_test(target_waits),       cmocka_unit_test(internal_findings),
        cmocka_unit_test(parked_is_progress), cmocka_unit_test(late_put_is_no_late_complete),
        cmocka_unit_test(unneeded_pairs),     cmocka_unit_test(who_gives_back_last_is_the_cause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
