/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lock_all.c - MPI_Win_lock_all against exclusive locks (the protocol that
 * rma/sync/lock_all.c argues for): an exclusive holder is never inside together with a
 * lock_all holder that has accessed the same target.
 *
 * The protocol goes step by step, on the windows of processes driven by one thread; then two
 * threads go through it as tight as can be. test_lock_mixes.c lets processes do all at once.
 */
#include "base/err.h"
#include "rma/layer/fast.h"
#include "rma/path/path.h"
#include "rma/sync/sync.h"
#include "rma/win/target_lock.h"
#include "rma/win/lockword.h"
#include "test/support/step_windows.h"

/* ---- step by step ---- */

static _Atomic uint64_t *word(struct steps *s, int target)
{
    return &s->w[target]->ctl->lock;
}

/* An exclusive request by process from whose turn has come; does it pass? */
static bool pass(struct steps *s, int from, int target, bool *yielded)
{
    return lock_try_pass(s->w[from], win_peek(s->w[from], target), yielded);
}

/* How many hold target's lock without a ticket, or wait for that. */
static uint32_t counted(struct steps *s, int target)
{
    return atomic_load(&s->w[target]->ctl->ticketless);
}

static void test_free_target(void **state)
{
    struct steps *s = *state;
    bool yielded = false, granted;
    (void)lockword_take(word(s, 1), true, &granted);
    assert_true(granted);
    assert_true(pass(s, 2, 1, &yielded));
    assert_false(yielded);
    assert_false(lockword_open_to_all(word(s, 1)));
    assert_true(lockword_open_to_all(word(s, 0)));
    give_lock(s->w[2], 1, true);
    assert_int_equal(rma_lock_all(s->w[0], 0), MRMA_SUCCESS);
    assert_int_equal(sync_by_memory.lock_all(s->w[0], win_peek(s->w[0], 1)), MRMA_SUCCESS);
    assert_int_equal(rma_unlock_all(s->w[0]), MRMA_SUCCESS);
}

static void test_exclusive_steps_back(void **state)
{
    struct steps *s = *state;
    struct win_ctl *lead = s->w[0]->lead;
    bool yielded = false, granted;
    assert_int_equal(rma_lock_all(s->w[0], 0), MRMA_SUCCESS);
    assert_int_equal(counted(s, 0), 1);
    assert_int_equal(counted(s, 1), 0);
    assert_int_equal(sync_by_memory.lock_all(s->w[0], win_peek(s->w[0], 1)), MRMA_SUCCESS);
    assert_int_equal(counted(s, 1), 1);
    (void)lockword_take(word(s, 1), true, &granted);
    assert_false(pass(s, 2, 1, &yielded));
    assert_true(yielded);
    assert_int_equal(atomic_load(&lead->all_blocked), 1);
    assert_false(pass(s, 2, 1, &yielded)); /* asking again changes nothing */
    assert_int_equal(atomic_load(&lead->all_blocked), 1);
    assert_true(lockword_open_to_all(word(s, 1)));
    assert_int_equal(sync_by_memory.lock_all(s->w[0], win_peek(s->w[0], 1)),
                     MRMA_SUCCESS); /* would hang if it waited */
    assert_int_equal(rma_unlock_all(s->w[0]), MRMA_SUCCESS);
    assert_true(pass(s, 2, 1, &yielded));
    assert_false(yielded);
    assert_int_equal(atomic_load(&lead->all_blocked), 0);
    assert_false(lockword_open_to_all(word(s, 1)));
    give_lock(s->w[2], 1, true);
    assert_true(lockword_open_to_all(word(s, 1)));
}

/* Shared and lock_all go together; NOCHECK takes part in nothing. */
static void test_shared_and_nocheck(void **state)
{
    struct steps *s = *state;
    bool yielded = false, granted;
    assert_int_equal(rma_lock(s->w[2], false, 1, 0), MRMA_SUCCESS);
    assert_int_equal(rma_lock_all(s->w[0], 0), MRMA_SUCCESS);
    assert_int_equal(rma_lock_all(s->w[1], 0), MRMA_SUCCESS);
    assert_int_equal(counted(s, 1), 1); /* its own lock_all */
    for (int again = 0; again < 2; again++) {
        assert_int_equal(sync_by_memory.lock_all(s->w[0], win_peek(s->w[0], 1)), MRMA_SUCCESS);
        assert_int_equal(sync_by_memory.lock_all(s->w[1], win_peek(s->w[1], 1)), MRMA_SUCCESS);
        assert_int_equal(counted(s, 1), 2);
    }
    assert_int_equal(rma_unlock(s->w[2], 1), MRMA_SUCCESS);
    assert_int_equal(rma_unlock_all(s->w[1]), MRMA_SUCCESS);
    assert_int_equal(rma_unlock_all(s->w[0]), MRMA_SUCCESS);
    assert_int_equal(rma_lock_all(s->w[0], RMA_NOCHECK), MRMA_SUCCESS);
    assert_int_equal(counted(s, 0) + counted(s, 1) + counted(s, 2), 0);
    (void)lockword_take(word(s, 1), true, &granted);
    assert_true(pass(s, 2, 1, &yielded));
    give_lock(s->w[2], 1, true);
    assert_int_equal(rma_unlock_all(s->w[0]), MRMA_SUCCESS);
    assert_int_equal(counted(s, 0) + counted(s, 1) + counted(s, 2), 0);
}

static void test_wrong_order(void **state)
{
    struct steps *s = *state;
    assert_int_equal(rma_unlock_all(s->w[0]), MRMA_ERR_RMA_SYNC);
    assert_int_equal(rma_lock_all(s->w[0], 0), MRMA_SUCCESS);
    assert_int_equal(rma_lock_all(s->w[0], 0), MRMA_ERR_RMA_SYNC);
    assert_int_equal(rma_lock(s->w[0], false, 1, 0), MRMA_ERR_RMA_SYNC);
    assert_int_equal(rma_unlock(s->w[0], 1), MRMA_ERR_RMA_SYNC);
    assert_int_equal(rma_unlock_all(s->w[0]), MRMA_SUCCESS);
    assert_int_equal(counted(s, 0), 0);
}

/* A holder of lock_all that has accessed nothing at a target stops no exclusive lock there: else
 * one that holds another target's lock, for which the holder waits, would wait for ever. */
static void test_untouched_is_free(void **state)
{
    struct steps *s = *state;
    bool yielded = false;
    assert_int_equal(rma_lock(s->w[0], true, 0, 0), MRMA_SUCCESS);
    assert_int_equal(rma_lock_all(s->w[2], 0), MRMA_SUCCESS);
    lock_count(win_peek(s->w[2], 0)); /* what the first access does before it waits */
    assert_false(lockword_open_to_all(word(s, 0)));
    assert_int_equal(rma_lock(s->w[0], true, 1, 0), MRMA_SUCCESS); /* would hang if it waited */
    assert_int_equal(rma_unlock(s->w[0], 1), MRMA_SUCCESS);
    assert_int_equal(rma_unlock(s->w[0], 0), MRMA_SUCCESS);
    assert_true(lockword_open_to_all(word(s, 0)));
    lock_uncount(win_peek(s->w[2], 0));
    assert_int_equal(rma_unlock_all(s->w[2]), MRMA_SUCCESS);
    assert_true(pass(s, 0, 2, &yielded));
    assert_int_equal(s->w[0]->rma->passive + s->w[2]->rma->passive, 0);
}

/* Who holds a lock asks for a shared one past an exclusive request that waits: that request may
 * wait for somebody who waits for the lock that is held. So does lock_all of another window. */
static void test_nested_shared(void **state)
{
    struct steps *s = *state;
    bool yielded = false, granted;
    assert_int_equal(rma_lock(s->w[0], true, 0, 0), MRMA_SUCCESS);
    assert_int_equal(rma_lock(s->w[1], false, 1, 0), MRMA_SUCCESS);
    const uint32_t ticket = lockword_take(word(s, 1), true, &granted);
    assert_false(granted);
    assert_int_equal(rma_lock(s->w[0], false, 1, 0), MRMA_SUCCESS); /* would hang with a ticket */
    assert_int_equal(counted(s, 1), 1);
    assert_int_equal(rma_unlock(s->w[1], 1), MRMA_SUCCESS);
    assert_true(lockword_enter(word(s, 1), ticket, true));
    assert_false(pass(s, 2, 1, &yielded));
    assert_true(yielded);
    assert_int_equal(rma_unlock(s->w[0], 1), MRMA_SUCCESS);
    assert_int_equal(counted(s, 1), 0);
    assert_true(pass(s, 2, 1, &yielded));
    give_lock(s->w[2], 1, true);
    assert_int_equal(rma_unlock(s->w[0], 0), MRMA_SUCCESS);
}

/* As in windows from MPI_Win_allocate_shared: all locks of the node or none, so that it stops
 * nobody while it waits; but who holds nothing lets it go first. */
static void test_all_or_none(void **state)
{
    struct steps *s = *state;
    struct win_ctl *lead = s->w[0]->lead;
    bool yielded = false, granted;
    assert_int_equal(rma_lock(s->w[0], true, 1, 0), MRMA_SUCCESS);
    assert_ptr_equal(lock_all_try(s->w[2]), win_peek(s->w[2], 1));
    assert_int_equal(atomic_load(&lead->all), 0);
    atomic_fetch_add(&lead->all, LOCK_ALL_WAITER);
    assert_false(fast_lock(s->w[1], true, 0));
    assert_int_equal(rma_lock(s->w[0], true, 2, 0), MRMA_SUCCESS); /* it holds a lock */
    assert_int_equal(rma_unlock(s->w[0], 2), MRMA_SUCCESS);
    assert_int_equal(rma_unlock(s->w[0], 1), MRMA_SUCCESS);
    assert_null(lock_all_try(s->w[2]));
    atomic_fetch_sub(&lead->all, LOCK_ALL_WAITER);
    (void)lockword_take(word(s, 0), true, &granted);
    assert_false(pass(s, 1, 0, &yielded));
    lock_all_leave(s->w[2]);
    assert_true(pass(s, 1, 0, &yielded));
    give_lock(s->w[1], 0, true);
    assert_true(fast_lock(s->w[1], true, 0));
    assert_true(fast_unlock(s->w[1], 0));
}

/* ---- one that fails ---- */

static void drop_window_alone(struct fabric_proc *p, void *arg)
{
    (void)arg;
    win_free_end(p->user);
}

static int teardown_lost(void **state)
{
    struct steps *s = *state;
    fabric_run(s->f, drop_window_alone, NULL);
    fabric_free(s->f);
    free(s);
    return 0;
}

/* The lock_all of process 0 fails, since 2 has died in its way: no epoch is left and nobody is
 * counted, also not after the unlock_all that a program may call nevertheless, and an
 * exclusive lock of another process is granted at once. */
static void fails(struct steps *s)
{
    fabric_kill(&s->f->procs[2]);
    assert_int_equal(rma_lock_all(s->w[0], 0), MRMA_ERR_PROC_FAILED);
    assert_int_equal(epoch_now(&s->w[0]->epoch), EPOCH_NONE);
    assert_int_equal(counted(s, 0), 0);
    assert_int_equal(rma_unlock_all(s->w[0]), MRMA_ERR_RMA_SYNC);
    assert_int_equal(counted(s, 0), 0);
}

/* The dead one holds the lock of process 0, who has counted itself by then. */
static void test_fails_after_joining(void **state)
{
    struct steps *s = *state;
    bool granted;
    (void)lockword_take(word(s, 0), true, &granted);
    assert_true(granted);
    fails(s);
    assert_int_equal(rma_lock(s->w[1], true, 1, 0), MRMA_SUCCESS);
    assert_int_equal(rma_unlock(s->w[1], 1), MRMA_SUCCESS);
}

/* The dead one has stepped back for another's lock_all: process 0 has not counted itself yet. */
static void test_fails_before_joining(void **state)
{
    struct steps *s = *state;
    bool yielded = false, granted;
    assert_int_equal(rma_lock_all(s->w[1], 0), MRMA_SUCCESS);
    (void)lockword_take(word(s, 1), true, &granted);
    assert_false(pass(s, 2, 1, &yielded));
    fails(s);
    assert_int_equal(counted(s, 1), 1);
    assert_int_equal(rma_unlock_all(s->w[1]), MRMA_SUCCESS);
    assert_int_equal(rma_lock(s->w[1], true, 0, 0), MRMA_SUCCESS);
    assert_int_equal(rma_unlock(s->w[1], 0), MRMA_SUCCESS);
}

/* ---- two threads as tight as can be: the two orders of the protocol's diagram ---- */

#if defined(__SANITIZE_THREAD__)
enum { TIGHT = 40000 };
#else
enum { TIGHT = 400000 };
#endif

struct tight {
    struct steps *s;
    _Atomic int exclusive, all;
    _Atomic uint64_t entered;
    _Atomic bool stop;
};

/* lock_all, one access, unlock_all, over and over; nobody is waited for. */
static void *tight_all(void *arg)
{
    struct tight *t = arg;
    while (!atomic_load_explicit(&t->stop, memory_order_relaxed)) {
        lock_count(win_peek(t->s->w[0], 1));
        if (lockword_open_to_all(word(t->s, 1))) {
            atomic_store(&t->all, 1);
            FABRIC_CHECK(atomic_load(&t->exclusive) == 0);
            atomic_store(&t->all, 0);
            atomic_fetch_add_explicit(&t->entered, 1, memory_order_relaxed);
        }
        lock_uncount(win_peek(t->s->w[0], 1));
    }
    return NULL;
}

static void test_tight(void **state)
{
    struct tight t = {.s = *state};
    pthread_t thread;
    uint64_t back = 0;
    assert_int_equal(pthread_create(&thread, NULL, tight_all, &t), 0);
    /* On a busy machine the other thread may not have run yet: then until the two have met, or the
     * watchdog. */
    for (int i = 0; i < TIGHT || !back || !atomic_load(&t.entered); i++) {
        bool yielded = false, granted;
        (void)lockword_take(word(t.s, 1), true, &granted);
        assert_true(granted);
        while (!pass(t.s, 2, 1, &yielded))
            back++;
        atomic_store(&t.exclusive, 1);
        FABRIC_CHECK(atomic_load(&t.all) == 0);
        atomic_store(&t.exclusive, 0);
        give_lock(t.s->w[2], 1, true);
    }
    atomic_store(&t.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(counted(t.s, 1), 0);
    assert_int_equal(atomic_load(&t.s->w[0]->lead->all_blocked), 0);
}

#define LOST_TEST(name) cmocka_unit_test_setup_teardown(name, steps_setup, teardown_lost)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(test_free_target),          STEP_TEST(test_exclusive_steps_back),
        STEP_TEST(test_shared_and_nocheck),   STEP_TEST(test_wrong_order),
        STEP_TEST(test_untouched_is_free),    STEP_TEST(test_nested_shared),
        STEP_TEST(test_all_or_none),          LOST_TEST(test_fails_after_joining),
        LOST_TEST(test_fails_before_joining), STEP_TEST(test_tight),
    };
    fabric_watchdog(200);
    return cmocka_run_group_tests_name("lock_all", tests, NULL, NULL);
}
