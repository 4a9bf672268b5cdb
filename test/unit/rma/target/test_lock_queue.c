/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lock_queue.c - locks that packets ask for, step by step.
 *
 * Process 0 is the target, process 1 its neighbour on the node, 2 and 3 and 4 are
 * elsewhere. Requests are crafted, with a put and mostly with the unlock on them;
 * tickets of memory peers are taken as lock.c does. Nothing runs by itself.
 */
#include "test/support/pkt_craft.h"

#include "rma/path/path.h"
#include "rma/sync/sync.h"
#include "rma/win/target_lock.h"
#include "rma/win/lockword.h"
#include "rma/target/target.h"

enum { PROCS = 6, NODE = 2, SIZE = 64 };

static unsigned char area[PROCS][SIZE];
static uint32_t nacks, nlocks[PROCS];

static void destroy(struct fabric_proc *p, void *arg)
{
    struct win *w = win[p->rank];
    unsigned char one = 1;
    (void)arg;
    for (int i = 0; i < PROCS; i++) /* what comes now is numbered by the origins themselves */
        if (win_peek(w, i)->from)
            win_peek(w, i)->from->lock_seq = 0;
    rest(p);
    OK(rma_lock_all(w, 0)); /* the lock is free again */
    OK(rma_unlock_all(w));
    rest(p);
    OK(rma_lock(w, true, 0, 0));
    put(w, 0, p->rank, &one, 1);
    OK(rma_unlock(w, 0));
    rest(p);
    for (int i = 0; p->rank == 0 && i < PROCS; i++)
        FABRIC_CHECK(area[0][i] == 1);
    fabric_win_free(w);
}

static int setup(void **state)
{
    (void)state;
    memset(area, 0, sizeof area);
    memset(nlocks, 0, sizeof nlocks);
    nacks = 0;
    craft_setup(PROCS, NODE, (struct craft_window){area[0], SIZE, SIZE, 1});
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    craft_teardown(destroy);
    return 0;
}

/* Process from, which has passed so many fences, puts value at process 0. */
static void send_put(int from, unsigned epoch, unsigned flags, uint32_t seq, uint32_t phase,
                     unsigned char value)
{
    static const struct pkt_op op = {.kind = PKT_OP_PUT, .nseg = 1, .data_len = 1};
    const struct pkt_seg seg = {.disp = 0, .len = 1};
    struct craft c;
    craft_begin(&c, PKT_OPS, win[0], from);
    craft_hdr(&c)->epoch = (uint8_t)epoch;
    craft_hdr(&c)->flags = (uint8_t)flags;
    craft_hdr(&c)->seq = seq;
    craft_hdr(&c)->offset = 1;
    craft_hdr(&c)->total = phase;
    craft_record(&c, &op, &seg, 1, &value, 1);
    craft_send(fabric, from, 0, &c);
}

/* Asks for its lock and puts. */
static void ask_in_phase(int from, unsigned flags, unsigned char value, uint32_t phase)
{
    const bool asks = flags & (PKT_F_LOCK_SHARED | PKT_F_LOCK_EXCLUSIVE | PKT_F_LOCK_ALL);
    send_put(from, PKT_EPOCH_LOCK, flags, nlocks[from] += asks, phase, value);
}

static void put_nocheck(int from, unsigned char value, uint32_t phase)
{
    send_put(from, PKT_EPOCH_NOCHECK, PKT_F_FLUSH, phase, 0, value);
}

static void ask(int from, unsigned flags, unsigned char value)
{
    ask_in_phase(from, flags, value, win[0]->phase);
}

static void unlock(int from)
{
    struct craft c;
    craft_begin(&c, PKT_OPS, win[0], from);
    craft_hdr(&c)->epoch = PKT_EPOCH_LOCK;
    craft_hdr(&c)->flags = PKT_F_UNLOCK;
    craft_hdr(&c)->seq = nlocks[from];
    craft_hdr(&c)->offset = 1;
    craft_send(fabric, from, 0, &c);
}

/* The target looks at its lock; then the value in its window is this, and so many
 * more unlocks have been acknowledged. */
static void check_step(unsigned char value, unsigned acks)
{
    fabric_progress(&fabric->procs[0]);
    settle(fabric);
    nacks += acks;
    assert_int_equal(area[0][0], value);
    assert_int_equal(counters(&fabric->procs[0]).by_type[PKT_ACK], nacks);
}

static void check_queued(unsigned n)
{
    unsigned waiting = 0;
    LIST_EACH (node, &win[0]->target_side.lockq)
        waiting++;
    assert_int_equal(waiting, n);
    assert_int_equal(atomic_load(&win[0]->ctl->packets_wait), n != 0);
}

static const unsigned exclusive = PKT_F_LOCK_EXCLUSIVE | PKT_F_UNLOCK;
static const unsigned shared = PKT_F_LOCK_SHARED | PKT_F_UNLOCK;

/* A free lock is taken, used and given back in one packet. */
static void test_free_lock(void **state)
{
    (void)state;
    ask(2, exclusive, 1);
    check_step(1, 1);
    ask(3, shared, 2);
    check_step(2, 1);
    ask(4, PKT_F_LOCK_ALL | PKT_F_UNLOCK, 3);
    check_step(3, 1);
    check_queued(0);
}

/* First come, first served, behind a memory peer. */
static void test_order(void **state)
{
    (void)state;
    assert_int_equal(rma_lock(win[1], true, 0, 0), MRMA_SUCCESS);
    ask(2, PKT_F_LOCK_EXCLUSIVE, 1);
    ask(3, exclusive, 2);
    ask(4, exclusive, 3);
    check_step(0, 0);
    check_queued(3);
    assert_int_equal(rma_unlock(win[1], 0), MRMA_SUCCESS);
    check_step(1, 0);
    check_queued(2);
    check_step(1, 0);
    unlock(2);
    check_step(3, 3);
    check_queued(0);
}

/* Shared requests enter together; an exclusive one behind them waits for all. */
static void test_shared(void **state)
{
    (void)state;
    ask(2, PKT_F_LOCK_EXCLUSIVE, 1);
    ask(3, PKT_F_LOCK_SHARED, 2);
    ask(4, PKT_F_LOCK_SHARED, 3);
    ask(5, exclusive, 4);
    check_step(1, 0);
    check_queued(3);
    unlock(2);
    check_step(3, 1);
    check_queued(1);
    unlock(4);
    check_step(3, 1);
    check_queued(1);
    unlock(3);
    check_step(4, 2);
    check_queued(0);
}

/* Tickets of memory peers before, between and behind those of packets. */
static void test_mixed(void **state)
{
    _Atomic uint64_t *word = &win[0]->ctl->lock;
    bool granted;
    (void)state;
    ask(2, PKT_F_LOCK_EXCLUSIVE, 1);
    const uint32_t second = lockword_take(word, true, &granted);
    assert_false(granted);
    ask(3, exclusive, 2);
    const uint32_t fourth = lockword_take(word, false, &granted);
    assert_false(granted);
    ask(4, shared, 3);
    ask(5, exclusive, 4);
    check_step(1, 0);
    check_queued(3);
    unlock(2);
    check_step(1, 1);
    assert_true(lockword_enter(word, second, true));
    check_step(1, 0);
    lockword_release(word, true);
    check_step(2, 1);
    check_queued(2);
    assert_true(lockword_enter(word, fourth, false));
    check_step(3, 1); /* shared, like the memory peer's that still holds it */
    check_queued(1);
    lockword_release(word, false);
    check_step(4, 1);
    check_queued(0);
}

/* What follows a request of the same origin waits with it, in order. */
static void test_parked(void **state)
{
    (void)state;
    assert_int_equal(rma_lock(win[1], false, 0, 0), MRMA_SUCCESS);
    ask(2, PKT_F_LOCK_EXCLUSIVE, 1);
    ask(2, 0, 2);
    ask(2, PKT_F_UNLOCK, 3);
    ask(2, PKT_F_LOCK_EXCLUSIVE, 4); /* and its next epoch */
    ask(3, exclusive, 5);
    check_step(0, 0);
    check_queued(2);
    assert_int_equal(rma_unlock(win[1], 0), MRMA_SUCCESS);
    check_step(4, 2); /* 2's first epoch, then 3, then 2's second */
    check_queued(0);
    unlock(2);
    check_step(4, 1);
}

/* Who has passed a fence that the target is still in waits for its end, whatever the request, and
 * takes no place in the queue meanwhile: what that fence ends may still be on its way to the
 * target. */
static void test_behind_fence(void **state)
{
    (void)state;
    ask_in_phase(2, exclusive, 1, win[0]->phase + 1);
    ask_in_phase(3, PKT_F_LOCK_ALL | PKT_F_UNLOCK, 2, win[0]->phase + 1);
    put_nocheck(5, 4, win[0]->phase + 1);
    check_step(0, 0);
    check_queued(0);
    ask(4, exclusive, 3); /* has yet to come to that fence, which may wait for it */
    check_step(3, 1);
    for (int i = 0; i < PROCS; i++) /* as MPI_Win_fence ends */
        atomic_store(&win[i]->ctl->exposed, ++win[i]->phase);
    target_unpark_all(win[0]);
    check_step(4, 3);
    check_queued(0);
    put_nocheck(5, 5, win[0]->phase - 1);
    check_step(5, 1);
}

/* MPI_Win_lock_all of a neighbour that has accessed the target holds an exclusive request off; one
 * of a process elsewhere passes it (lock_all.c says why). */
static void test_lock_all(void **state)
{
    (void)state;
    assert_int_equal(rma_lock_all(win[1], 0), MRMA_SUCCESS);
    assert_int_equal(sync_by_memory.lock_all(win[1], win_peek(win[1], 0)), MRMA_SUCCESS);
    ask(2, exclusive, 1);
    check_step(0, 0);
    ask(3, PKT_F_LOCK_ALL, 2);
    check_step(2, 0);
    check_queued(1);
    assert_int_equal(rma_unlock_all(win[1]), MRMA_SUCCESS);
    check_step(2, 0);
    check_queued(1);
    ask(4, PKT_F_LOCK_ALL, 3);
    check_step(3, 0);
    unlock(3);
    check_step(3, 1);
    unlock(4);
    check_step(1, 2);
    check_queued(0);
}

/* One that has not accessed the target does not, in whichever order they come. */
static void test_lock_all_elsewhere(void **state)
{
    (void)state;
    assert_int_equal(rma_lock_all(win[1], 0), MRMA_SUCCESS);
    ask(2, exclusive, 1);
    check_step(1, 1);
    assert_int_equal(sync_by_memory.lock_all(win[1], win_peek(win[1], 0)), MRMA_SUCCESS);
    ask(3, exclusive, 2);
    check_step(1, 0);
    assert_int_equal(rma_unlock_all(win[1]), MRMA_SUCCESS);
    check_step(2, 1);
    check_queued(0);
}

/* Behind an exclusive holder it waits like everybody. */
static void test_lock_all_waits(void **state)
{
    (void)state;
    ask(2, PKT_F_LOCK_EXCLUSIVE, 1);
    ask(3, PKT_F_LOCK_ALL, 2);
    ask(4, exclusive, 3);
    check_step(1, 0);
    check_queued(2);
    unlock(2); /* 4's turn has come, but 3 counts as a holder already */
    check_step(2, 1);
    check_queued(1);
    unlock(3);
    check_step(3, 2);
    check_queued(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_free_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mixed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_behind_fence, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lock_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lock_all_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lock_all_waits, setup, teardown),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("lock_queue", tests, NULL, NULL);
}
