/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_folds.c - src/trace/record.h: the records of a call become one where that has room for all
 * that they say (src/trace/spool_pack.h), and stay where it has not.
 */
#include "test/support/trace_rig.h"

#include <signal.h>

#include "trace/spool_pack.h"

/* Records that are added one after the other. */
struct told {
    struct trace_record rec[8];
    unsigned n;
};

/* Compares with the file, in which that takes so many records. */
static void expect_told(const struct rig *rig, const struct told *told, size_t records)
{
    struct file f = read_file(rig, 0);
    struct trace_record all[SPOOL_UNPACKED_MAX];
    uint64_t before = 0;
    size_t at = 0;
    assert_int_equal(f.n, records);
    for (size_t i = 0; i < f.n; i++) {
        const unsigned some = spool_unpack(&f.rec[i], &before, all);
        assert_true(at + some <= told->n);
        assert_memory_equal(all, &told->rec[at], some * sizeof *all);
        at += some;
    }
    assert_int_equal(at, told->n);
    free(f.rec);
}

/* The call of an operation, which takes so many ns. */
static struct told call_of(uint64_t began, struct trace_record op, uint64_t took)
{
    const uint64_t end = began + took;
    op.time = began;
    return (struct told){
        .n = 4,
        .rec = {{.time = began,
                 .kind = TRACE_ENTER,
                 .what = TRACE_CALL_Put,
                 .win = op.win,
                 .id = ~0ULL},
                op,
                {.time = end, .kind = TRACE_DONE, .win = op.win, .peer = op.peer, .id = op.id},
                {.time = end, .kind = TRACE_LEAVE, .what = TRACE_CALL_Put}}};
}

static void tell_all(struct rig *rig, const struct told *told)
{
    for (unsigned i = 0; i < told->n; i++)
        trace_add(rig->tr, &told->rec[i]);
}

/* Its fields are the greatest that a record for the whole call has room for. */
static struct trace_record put_of(uint64_t id)
{
    return (struct trace_record){.kind = TRACE_OP,
                                 .what = TRACE_COMPARE_AND_SWAP,
                                 .win = UINT32_MAX,
                                 .peer = INT32_MAX,
                                 .arg = SPOOL_LOW,
                                 .id = id,
                                 .bytes = UINT32_MAX};
}

static void a_call_takes_one_record(void **state)
{
    struct rig *rig = *state;
    const uint64_t now = trace_now(rig->tr);
    const struct told told = {
        .n = 2,
        .rec = {{.time = now,
                 .kind = TRACE_ENTER,
                 .what = TRACE_CALL_Win_flush,
                 .win = 7,
                 .peer = -1,
                 .id = 1,
                 .bytes = ~0ULL},
                {.time = now + UINT32_MAX, .kind = TRACE_LEAVE, .what = TRACE_CALL_Win_flush}}};
    tell_all(rig, &told);
    expect_told(rig, &told, 1);
}

static void an_operation_and_its_call_take_one_record(void **state)
{
    struct rig *rig = *state;
    const struct told told =
        call_of(trace_now(rig->tr), put_of(UINT32_MAX >> SPOOL_SHIFT), UINT32_MAX);
    tell_all(rig, &told);
    expect_told(rig, &told, 1);
}

/* Each number in turn is one more than there is room for. */
static void what_has_no_room_keeps_its_records(void **state)
{
    for (int which = 0; which < 5; which++) {
        struct trace_record op = put_of(1);
        uint64_t took = 1;
        if (which == 0)
            op.bytes++;
        else if (which == 1)
            op.arg++;
        else if (which == 2)
            op.id += UINT32_MAX >> SPOOL_SHIFT;
        else if (which == 3)
            took += UINT32_MAX;
        else
            op.id = 0; /* as of nothing before it */
        assert_int_equal(rig_open(state), 0);
        struct rig *rig = *state;
        const struct told told = call_of(trace_now(rig->tr), op, took);
        tell_all(rig, &told);
        expect_told(rig, &told, 4);
        assert_int_equal(rig_close(state), 0);
    }
}

/* What a thread records inside of its call stays where it was. */
static void a_call_with_more_in_it_keeps_its_records(void **state)
{
    static const uint16_t between[] = {TRACE_POST_WAIT, TRACE_SLEEP, TRACE_ENTER, TRACE_OP};
    for (unsigned at = 1; at < 4; at++)
        for (unsigned i = 0; i < sizeof between / sizeof *between; i++) {
            assert_int_equal(rig_open(state), 0);
            struct rig *rig = *state;
            const uint64_t now = trace_now(rig->tr);
            struct told told = call_of(now, put_of(1), 0);
            memmove(&told.rec[at + 1], &told.rec[at], (4 - at) * sizeof *told.rec);
            told.rec[at] = (struct trace_record){.time = now, .kind = between[i]};
            told.n = 5;
            tell_all(rig, &told);
            expect_told(rig, &told, 5);
            assert_int_equal(rig_close(state), 0);
        }
}

/* Killed while the operation is under way, and between its end and that of its call. */
static int put_until_killed(void *arg)
{
    const struct trace_spec spec = spec_of(arg);
    struct trace *tr;
    CHILD_CHECK(trace_open(&spec, &tr) == MRMA_SUCCESS);
    const uint64_t now = trace_now(tr);
    trace_add(tr, &(struct trace_record){.time = now, .kind = TRACE_ENTER, .what = 1, .win = 1});
    trace_add(tr, &(struct trace_record){.time = now, .kind = TRACE_OP, .win = 1, .id = 1});
    trace_add(tr, &(struct trace_record){.time = now, .kind = TRACE_DONE, .win = 1, .id = 1});
    kill(getpid(), SIGKILL);
    return 1;
}

static void a_call_of_a_killed_process_is_open(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(run_child(put_until_killed, rig), 128 + SIGKILL);
    struct file f = read_file(rig, 0);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.rec[0].kind, TRACE_ENTER);
    assert_int_equal(f.rec[1].kind, TRACE_OP);
    free(f.rec);
}

/* Over the ends of pieces: every call is there, with its numbers, and times do not decrease. */
static void many_calls_are_all_there_in_order(void **state)
{
    struct rig *rig = *state;
    struct trace_record all[SPOOL_UNPACKED_MAX];
    uint64_t before = 0, calls = 0, ops = 0, last = 0, written = 0;
    for (uint64_t i = 1; i <= MANY; i++) {
        struct trace_record op = put_of(i);
        if (i % 7 == 0)
            op.bytes++; /* takes four records */
        const struct told told = call_of(trace_now(rig->tr), op, 1);
        tell_all(rig, &told);
    }
    trace_close(rig->tr);
    rig->tr = NULL;
    struct file f = read_file(rig, 0);
    for (size_t i = 0; i < f.n; i++) {
        const unsigned some = spool_unpack(&f.rec[i], &before, all);
        written += f.rec[i].kind == TRACE_WRITE;
        for (unsigned k = 0; k < some; k++) {
            assert_true(all[k].time >= last);
            last = all[k].time;
            calls += all[k].kind == TRACE_LEAVE;
            if (all[k].kind == TRACE_OP)
                assert_int_equal(all[k].id, ++ops);
            if (all[k].kind == TRACE_DONE)
                assert_int_equal(all[k].id, ops);
        }
    }
    assert_int_equal(calls, MANY);
    assert_int_equal(ops, MANY);
    assert_true(written > 0);
    /* Only calls beside the end of a piece take more than they must. */
    assert_true(f.n <= MANY + MANY / 7 * 3 + 5 * written);
    assert_int_equal(f.bytes, sizeof f.head + f.n * sizeof *f.rec);
    free(f.rec);
}

int main(void)
{
#define IN_A_RIG(test) cmocka_unit_test_setup_teardown(test, rig_open, rig_close)
    const struct CMUnitTest tests[] = {
        IN_A_RIG(a_call_takes_one_record),
        IN_A_RIG(an_operation_and_its_call_take_one_record),
        cmocka_unit_test(what_has_no_room_keeps_its_records),
        cmocka_unit_test(a_call_with_more_in_it_keeps_its_records),
        IN_A_RIG(a_call_of_a_killed_process_is_open),
        IN_A_RIG(many_calls_are_all_there_in_order),
    };
    return cmocka_run_group_tests_name("folds", tests, NULL, NULL);
}
