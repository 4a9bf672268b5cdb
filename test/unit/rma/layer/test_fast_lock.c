/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_fast_lock.c - the short way of MPI_Win_lock and MPI_Win_unlock: it leaves what
 * the general way leaves, each of the two undoes what the other has done, and it
 * refuses, without having changed anything, all that it does not do.
 *
 * Windows of three processes, driven by one thread. Many at once: test_lock_all.
 */
#include "base/err.h"
#include "rma/layer/fast.h"
#include "rma/sync/sync.h"
#include "test/support/step_windows.h"

static uint64_t word_of(const struct win *w)
{
    return atomic_load(&w->ctl->lock);
}

static bool is_free(const struct win *w)
{
    return lockword_next(word_of(w)) == lockword_wserv(word_of(w)) &&
           lockword_next(word_of(w)) == lockword_rserv(word_of(w));
}

/* All that a lock may change at the origin. */
struct before {
    uint64_t word, gen, target_gen;
    enum epoch_state epoch;
    int nlocks;
    uint8_t lock, quick;
};

static struct before look(const struct win *w, int target, const struct win *owner)
{
    const struct rma_target *t = win_peek(w, target);
    return (struct before){
        word_of(owner), atomic_load(&w->gen), atomic_load(&t->gen), epoch_now(&w->epoch), w->nlocks,
        t->lock,        w->flush_quick};
}

static void assert_same(const struct before *a, const struct before *b, bool word)
{
    assert_true(!word || a->word == b->word);
    assert_true(a->gen == b->gen && a->target_gen == b->target_gen);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->nlocks, b->nlocks);
    assert_int_equal(a->lock, b->lock);
    assert_int_equal(a->quick, b->quick);
}

static void refuses_lock(struct steps *s, int from, bool exclusive, int target)
{
    const struct before before = look(s->w[from], target, s->w[target]);
    assert_false(fast_lock(s->w[from], exclusive, target));
    const struct before after = look(s->w[from], target, s->w[target]);
    assert_same(&before, &after, true);
}

static void refuses_unlock(struct steps *s, int from, int target)
{
    const struct before before = look(s->w[from], target, s->w[target]);
    assert_false(fast_unlock(s->w[from], target));
    const struct before after = look(s->w[from], target, s->w[target]);
    assert_same(&before, &after, true);
}

/* Each way of locking and each of unlocking: the same states. */
static void test_as_the_general_way(void **state)
{
    struct steps *s = *state;
    struct win *w = s->w[0];
    for (int i = 0; i < 8; i++) {
        const bool exclusive = i & 1, fast_begin = i & 2, fast_end = i & 4;
        const uint64_t gen = atomic_load(&w->gen);
        assert_int_equal(fast_begin ? !fast_lock(w, exclusive, 1) : rma_lock(w, exclusive, 1, 0),
                         0);
        assert_int_equal(epoch_now(&w->epoch), EPOCH_LOCK);
        assert_int_equal(w->nlocks, 1);
        assert_int_equal(w->flush_quick, FLUSH_QUICK_READY);
        assert_int_equal(win_peek(w, 1)->lock, exclusive ? WIN_LOCK_EXCLUSIVE : WIN_LOCK_SHARED);
        assert_true(target_ready(w, win_peek(w, 1)));
        assert_false(target_ready(w, win_peek(w, 2)));
        assert_true(atomic_load(&w->gen) != gen);
        assert_int_equal((word_of(s->w[1]) >> LOCKWORD_RSERV & LOCKWORD_MASK) ==
                             lockword_next(word_of(s->w[1])),
                         !exclusive);
        assert_int_equal(fast_end ? !fast_unlock(w, 1) : rma_unlock(w, 1), 0);
        assert_int_equal(epoch_now(&w->epoch), EPOCH_NONE);
        assert_int_equal(w->nlocks, 0);
        assert_int_equal(w->flush_quick, FLUSH_QUICK_NONE);
        assert_int_equal(win_peek(w, 1)->lock, WIN_LOCK_NONE);
        assert_false(target_ready(w, win_peek(w, 1)));
        assert_true(is_free(s->w[1]));
    }
}

/* Several targets at once, given back one by one. */
static void test_two_targets(void **state)
{
    struct steps *s = *state;
    struct win *w = s->w[0];
    assert_true(fast_lock(w, false, 1));
    assert_true(fast_lock(w, true, 2));
    assert_int_equal(w->nlocks, 2);
    assert_true(target_ready(w, win_peek(w, 1)) && target_ready(w, win_peek(w, 2)));
    refuses_lock(s, 0, false, 1); /* held already */
    assert_true(fast_unlock(w, 1));
    assert_false(target_ready(w, win_peek(w, 1)));
    assert_true(target_ready(w, win_peek(w, 2)));
    assert_int_equal(epoch_now(&w->epoch), EPOCH_LOCK);
    refuses_unlock(s, 0, 1); /* held no more */
    assert_true(fast_unlock(w, 2));
    assert_int_equal(epoch_now(&w->epoch), EPOCH_NONE);
    assert_true(is_free(s->w[1]) && is_free(s->w[2]));
}

/* Another's lock: shared ones go together, nothing else does. */
static void test_held_by_another(void **state)
{
    struct steps *s = *state;
    assert_true(fast_lock(s->w[0], false, 1));
    assert_true(fast_lock(s->w[2], false, 1));
    assert_true(fast_unlock(s->w[0], 1));
    refuses_lock(s, 0, true, 1);
    assert_true(fast_unlock(s->w[2], 1));
    assert_true(fast_lock(s->w[2], true, 1));
    refuses_lock(s, 0, false, 1);
    refuses_lock(s, 0, true, 1);
    assert_true(fast_unlock(s->w[2], 1));
    assert_true(is_free(s->w[1]));
}

/* Who waits is not overtaken, and both wake and let in who comes next. */
static void test_queued(void **state)
{
    struct steps *s = *state;
    bool granted;
    assert_true(fast_lock(s->w[0], false, 1));
    const uint32_t ticket = lockword_take(&s->w[1]->ctl->lock, true, &granted);
    assert_false(granted);
    refuses_lock(s, 2, false, 1);
    assert_true(fast_unlock(s->w[0], 1));
    refuses_lock(s, 2, false, 1);
    assert_true(lockword_enter(&s->w[1]->ctl->lock, ticket, true));
    give_lock(s->w[1], 1, true);
    assert_true(fast_lock(s->w[2], false, 1));
    assert_true(fast_unlock(s->w[2], 1));
}

/* A sleeper is told, and so is the target that has requests of packets. */
static void test_wakes(void **state)
{
    struct steps *s = *state;
    struct event *lock_event = &s->w[1]->ctl->lock_event;
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        assert_true(fast_lock(s->w[0], exclusive, 1));
        (void)event_enter(lock_event);
        const uint32_t seq = atomic_load(&lock_event->seq),
                       owner = atomic_load(&win_peek(s->w[0], 1)->peer->polling->threads.seq);
        atomic_store(&s->w[1]->ctl->packets_wait, 1);
        assert_true(fast_unlock(s->w[0], 1));
        assert_int_equal(atomic_load(&lock_event->seq), seq + 1);
        assert_int_equal(atomic_load(&win_peek(s->w[0], 1)->peer->polling->threads.seq), owner + 1);
        atomic_store(&s->w[1]->ctl->packets_wait, 0);
        event_leave(lock_event);
    }
}

/* Shared locks do not mind lock_all's holders; an exclusive one gives the lock back. */
static void test_lock_all_held(void **state)
{
    struct steps *s = *state;
    assert_int_equal(rma_lock_all(s->w[2], 0), MRMA_SUCCESS);
    assert_true(fast_lock(s->w[0], true, 1)); /* it has accessed nothing there */
    assert_true(fast_unlock(s->w[0], 1));
    assert_int_equal(sync_by_memory.lock_all(s->w[2], win_peek(s->w[2], 1)), MRMA_SUCCESS);
    assert_true(fast_lock(s->w[0], false, 1));
    assert_true(fast_unlock(s->w[0], 1));
    const struct before before = look(s->w[0], 1, s->w[1]);
    assert_false(fast_lock(s->w[0], true, 1));
    const struct before after = look(s->w[0], 1, s->w[1]);
    assert_same(&before, &after, false);
    assert_true(is_free(s->w[1]));
    assert_int_equal(rma_unlock_all(s->w[2]), MRMA_SUCCESS);
    assert_true(fast_lock(s->w[0], true, 1));
    assert_true(fast_unlock(s->w[0], 1));
}

/* Epochs of other kinds, and a lock with MPI_MODE_NOCHECK, which holds nothing. */
static void test_other_epochs(void **state)
{
    struct steps *s = *state;
    refuses_unlock(s, 0, 1);
    assert_int_equal(rma_lock_all(s->w[0], 0), MRMA_SUCCESS);
    refuses_lock(s, 0, false, 1);
    refuses_unlock(s, 0, 1);
    assert_int_equal(rma_unlock_all(s->w[0]), MRMA_SUCCESS);
    assert_int_equal(rma_lock(s->w[0], false, 1, RMA_NOCHECK), MRMA_SUCCESS);
    refuses_unlock(s, 0, 1);
    assert_int_equal(rma_unlock(s->w[0], 1), MRMA_SUCCESS);
    assert_true(is_free(s->w[1]));
}

static void fence_body(struct fabric_proc *p, void *arg)
{
    FABRIC_CHECK(rma_fence(p->user, *(int *)arg) == MRMA_SUCCESS);
}

/* Only the general way ends the epoch that a fence may have opened. What follows is as ever. */
static void test_open_fence(void **state)
{
    struct steps *s = *state;
    int asserts = 0;
    fabric_run(s->f, fence_body, &asserts);
    refuses_lock(s, 0, false, 1);
    assert_int_equal(rma_lock(s->w[0], false, 1, 0), MRMA_SUCCESS);
    assert_true(fast_unlock(s->w[0], 1));
    assert_int_equal(epoch_now(&s->w[0]->epoch), EPOCH_NONE);
    assert_true(fast_lock(s->w[0], false, 1));
    assert_true(fast_unlock(s->w[0], 1));
}

/* While a packet lock is due, or operations that were sent by packet or published are not done. An
 * agent changes nothing. */
static void test_busy_engine(void **state)
{
    struct steps *s = *state;
    struct win *w = s->w[0];
    struct rma *r = w->rma;
    struct origin_pair *due = (struct origin_pair *)(void *)s;
    r->lock_due = due;
    refuses_lock(s, 0, false, 1);
    r->lock_due = NULL;
    atomic_store(&r->concurrent, true);
    assert_true(fast_lock(w, false, 1));
    w->nsent = 1;
    refuses_unlock(s, 0, 1);
    w->nsent = 0;
    assert_true(fast_unlock(w, 1));
    atomic_store(&r->concurrent, false);
}

/* Windows whose locks others watch, and targets without a lock word here. */
static void test_not_for_all(void **state)
{
    (void)state;
    struct steps s;
    steps_begin(&s, (struct fabric_opts){.hang_report = 5});
    refuses_lock(&s, 0, false, 1);
    steps_end(&s);
    steps_begin(
        &s, (struct fabric_opts){.path = CONF_PATH_SHM_PACKETS, .progress = CONF_PROGRESS_POLL});
    refuses_lock(&s, 0, false, 1);
    steps_end(&s);
}

/* The next ticket's field comes round in the middle of it. */
static void test_wrap(void **state)
{
    struct steps *s = *state;
    const uint64_t last = LOCKWORD_MASK;
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        atomic_store(&s->w[1]->ctl->lock, last | last << LOCKWORD_RSERV | last << LOCKWORD_WSERV);
        assert_true(fast_lock(s->w[0], exclusive, 1));
        assert_true(word_of(s->w[1]) ==
                    ((exclusive ? last << LOCKWORD_RSERV : 0) | last << LOCKWORD_WSERV));
        assert_true(fast_unlock(s->w[0], 1));
        assert_true(word_of(s->w[1]) == 0);
    }
}

/* The short way to a target finds the same as the table, on this node and elsewhere. */
static void peek_body(struct fabric_proc *p, void *arg)
{
    const int nproc = p->fabric->opts.nproc, per_node = p->fabric->opts.per_node;
    const struct win *w = p->user;
    (void)arg;
    FABRIC_CHECK(w->row_len == (unsigned)(per_node ? per_node : nproc));
    FABRIC_CHECK(w->row_first == (per_node ? p->rank / per_node * per_node : 0));
    for (int i = 0; i < nproc; i++)
        FABRIC_CHECK(win_peek(w, i) == target_table_get(&w->targets, i));
}

static void test_peek(void **state)
{
    (void)state;
    for (int per_node = 0; per_node <= 3; per_node++) {
        struct fabric *f =
            fabric_new(&(struct fabric_opts){.nproc = 6, .per_node = per_node, .quiet = true});
        fabric_run(f, make_window, NULL);
        fabric_run(f, peek_body, NULL);
        fabric_run(f, drop_window, NULL);
        fabric_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(test_as_the_general_way),
        STEP_TEST(test_two_targets),
        STEP_TEST(test_held_by_another),
        STEP_TEST(test_queued),
        STEP_TEST(test_wakes),
        STEP_TEST(test_lock_all_held),
        STEP_TEST(test_other_epochs),
        STEP_TEST(test_open_fence),
        STEP_TEST(test_busy_engine),
        cmocka_unit_test(test_not_for_all),
        STEP_TEST(test_wrap),
        cmocka_unit_test(test_peek),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
