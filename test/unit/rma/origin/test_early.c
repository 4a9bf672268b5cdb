/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_early.c - the origin's account of packets that may wait at the target: what takes them off
 * it, epoch by epoch, and what does not. All numbers are about to wrap.
 */
#include "rma/origin/origin_impl.h"
#include "test/support/base_helper.h"
#include "base/err.h"
#include "rma/env.h"
#include "rma/win/win.h"

#define FIRST (UINT32_MAX - 1)

static struct rma_env env;
static struct rma rma;
static struct win win;
static struct rma_target target;
static struct origin_pair pair;

static void state(enum epoch_state now)
{
    atomic_store(&win.epoch.state, now);
}

static void posts(uint32_t n)
{
    atomic_store(&target.in->posts, n);
}

static int setup(void **unused)
{
    (void)unused;
    memset(&win, 0, sizeof win);
    memset(&target, 0, sizeof target);
    rma.env = &env;
    win.rma = &rma;
    win.phase = FIRST;
    win.phase_ended = FIRST - 1;
    win.fenced = true;
    target.in = &target.signals;
    target.posts_due = FIRST;
    posts(FIRST);
    pair = (struct origin_pair){.win = &win, .target = &target, .lock_seq = FIRST};
    pair.open_seq = win.phase; /* not the present one */
    pair.early.sent = pair.early.applied = FIRST;
    return 0;
}

/* MPI_Win_start and what leaves before the post is known. */
static void start(unsigned packets)
{
    state(EPOCH_PSCW);
    target.posts_due++;
    assert_false(origin_early_began(&pair, PKT_EPOCH_PSCW));
    origin_early_leave(&pair, PKT_EPOCH_PSCW, packets);
    state(EPOCH_NONE);
}

static void lock(unsigned packets)
{
    state(EPOCH_LOCK);
    pair.lock_seq++;
    pair.lock = ORIGIN_LOCK_SENT;
    assert_false(origin_early_began(&pair, PKT_EPOCH_LOCK));
    origin_early_leave(&pair, PKT_EPOCH_LOCK, packets);
}

static void test_posts(void **unused)
{
    (void)unused;
    start(2);
    start(1);
    start(3);
    assert_int_equal(origin_early_left(&pair), 6);
    posts(FIRST + 1);
    assert_int_equal(origin_early_left(&pair), 4);
    posts(FIRST + 3);
    assert_int_equal(origin_early_left(&pair), 0);
}

/* A lock that is given back without waiting keeps what is behind it, though that is posted. */
static void test_weak_unlock(void **unused)
{
    (void)unused;
    lock(2);
    assert_int_equal(origin_early_left(&pair), 2);
    pair.lock = ORIGIN_LOCK_NONE;
    pair.unlocking = true;
    state(EPOCH_NONE);
    start(1);
    posts(FIRST + 1);
    assert_true(origin_early_began(&pair, PKT_EPOCH_PSCW));
    assert_int_equal(origin_early_left(&pair), 3);
    pair.unlocking = false;
    assert_int_equal(origin_early_left(&pair), 0);
}

/* A lock that is granted says that the target has passed the fences that this process has passed.
 */
static void test_grant(void **unused)
{
    (void)unused;
    state(EPOCH_NONE);
    origin_early_leave(&pair, PKT_EPOCH_NOCHECK, 2);
    lock(3);
    assert_int_equal(origin_early_left(&pair), 5);
    origin_lock_granted(&pair, pair.lock_seq - 1); /* another one */
    assert_int_equal(origin_early_left(&pair), 5);
    origin_lock_granted(&pair, pair.lock_seq);
    assert_int_equal(origin_early_left(&pair), 0);
    assert_true(origin_early_began(&pair, PKT_EPOCH_NOCHECK));
}

/* All have come to the end of the phase; or, with MPI_MODE_NOPRECEDE, not. */
static void test_end_of_phase(void **unused)
{
    (void)unused;
    state(EPOCH_FENCE_USED);
    assert_false(origin_early_began(&pair, PKT_EPOCH_FENCE));
    origin_early_leave(&pair, PKT_EPOCH_FENCE, 2);
    win.phase++;
    origin_early_leave(&pair, PKT_EPOCH_FENCE, 1);
    assert_int_equal(origin_early_left(&pair), 3);
    win.phase_ended = win.phase - 1;
    assert_int_equal(origin_early_left(&pair), 1);
    assert_false(origin_early_began(&pair, PKT_EPOCH_FENCE));
    pair.open_seq = win.phase + 1;
    assert_int_equal(origin_early_left(&pair), 0);
    assert_true(origin_early_began(&pair, PKT_EPOCH_FENCE));
}

/* The target has posted behind its fences, as this process has called MPI_Win_start behind them. */
static void test_post_behind_fences(void **unused)
{
    (void)unused;
    state(EPOCH_FENCE_USED);
    origin_early_leave(&pair, PKT_EPOCH_FENCE, 2);
    win.phase++; /* with an error: nobody has waited for the target */
    start(2);
    assert_int_equal(origin_early_left(&pair), 4);
    state(EPOCH_PSCW);
    assert_int_equal(origin_early_left(&pair), 4);
    posts(FIRST + 1);
    assert_int_equal(origin_early_left(&pair), 0);
}

/* Before the first fence there is none to wait for; but for what is in front. */
static void test_nocheck(void **unused)
{
    (void)unused;
    win.fenced = false;
    assert_true(origin_early_began(&pair, PKT_EPOCH_NOCHECK));
    start(1);
    origin_early_leave(&pair, PKT_EPOCH_NOCHECK, 4);
    assert_int_equal(origin_early_left(&pair), 5);
    posts(FIRST + 1);
    assert_int_equal(origin_early_left(&pair), 0);
}

/* More than may wait only leave where the target refuses all; the account keeps the last. */
static void test_full(void **unused)
{
    (void)unused;
    start(PKT_PARKED_MAX);
    start(2);
    assert_int_equal(origin_early_left(&pair), PKT_PARKED_MAX);
    posts(FIRST + 1);
    assert_int_equal(origin_early_left(&pair), 2);
}

/* Two places at the target are left for what leaves without waiting: the question whether the
 * epoch is open, and the last flush. Where many send to one target, each has one packet. */
static void test_bound(void **unused)
{
    const unsigned most = PKT_PARKED_MAX - 2;
    (void)unused;
    win.npackets = 1;
    start(0);
    for (unsigned n = 0; n < most; n++) {
        assert_true(origin_may_send_early(&pair, most - n));
        assert_false(origin_may_send_early(&pair, most - n + 1));
        start(1);
    }
    assert_false(origin_may_send_early(&pair, 1));
    posts(FIRST + 2); /* for the first of them */
    assert_true(origin_may_send_early(&pair, 1));
    assert_false(origin_may_send_early(&pair, 2));
    win.npackets = 17;
    posts(FIRST + most);
    assert_int_equal(origin_early_left(&pair), 1);
    assert_false(origin_may_send_early(&pair, 1));
    posts(FIRST + most + 1);
    assert_true(origin_may_send_early(&pair, 1));
}

/* A stream leaves as so many packets. */
static void test_stream(void **unused)
{
    (void)unused;
    win.npackets = 1;
    state(EPOCH_PSCW);
    target.posts_due++;
    assert_int_equal(origin_await_stream(&pair, 3, true), MRMA_SUCCESS);
    assert_int_equal(origin_early_left(&pair), 3);
    posts(FIRST + 1);
    assert_int_equal(origin_early_left(&pair), 0);
}

#define EARLY_TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EARLY_TEST(test_posts),   EARLY_TEST(test_weak_unlock),
        EARLY_TEST(test_grant),   EARLY_TEST(test_end_of_phase),
        EARLY_TEST(test_nocheck), EARLY_TEST(test_post_behind_fences),
        EARLY_TEST(test_full),    EARLY_TEST(test_bound),
        EARLY_TEST(test_stream),
    };
    return cmocka_run_group_tests_name("early packets", tests, NULL, NULL);
}
