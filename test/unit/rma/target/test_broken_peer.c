/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_broken_peer.c - packets that only a broken peer sends, each at a moment when nearly the same
 * one would be due: they are refused and counted, and change nothing.
 */
#include "rma/origin/origin_impl.h"
#include "rma/origin/refused.h"
#include "test/support/pkt_craft.h"

#include "rma/target/target.h"

enum { PROCS = 3, SIZE = 4096 };

static unsigned char area[PROCS][SIZE];
static const struct pkt_op put_8 = {.kind = PKT_OP_PUT, .nseg = 1, .data_len = 8};
static const struct pkt_seg at_8 = {.disp = 8, .len = 8};

static void destroy(struct fabric_proc *p, void *arg)
{
    struct win *w = win[p->rank];
    (void)arg;
    if (w->epoch.state == EPOCH_LOCK_ALL)
        OK(rma_unlock_all(w));
    OK(rma_fence(w, RMA_NOSUCCEED));
    for (size_t i = 0; i < SIZE; i++)
        FABRIC_CHECK(area[p->rank][i] == 0);
    fabric_win_free(w);
}

static void begin(int per_node)
{
    memset(area, 0, sizeof area);
    craft_setup(PROCS, per_node, (struct craft_window){area[0], SIZE, SIZE, 1});
}

/* c goes to process 1, and so many are refused there. */
static void send_refused(int from, struct craft *c, uint64_t refusals)
{
    const uint64_t before = refused(&fabric->procs[1]);
    craft_send(fabric, from, 1, c);
    assert_int_equal(refused(&fabric->procs[1]), before + refusals);
}

/* Processes that share memory tell each other of posts and barriers there, never by packet. */
static void test_told_by_memory(void **state)
{
    struct craft c;
    (void)state;
    begin(PROCS);
    for (uint32_t seq = 0; seq < 3; seq++) {
        craft_begin(&c, PKT_POST, win[1], 0);
        craft_hdr(&c)->seq = seq;
        send_refused(0, &c, 1);
        craft_begin(&c, PKT_SYNC, win[1], 0);
        craft_hdr(&c)->seq = seq;
        send_refused(0, &c, 1);
    }
    craft_teardown(destroy);
}

/* The first packet of a window rank comes from another process than that rank's. */
static void test_wrong_process(void **state)
{
    struct craft c;
    (void)state;
    begin(1);
    craft_begin(&c, PKT_OPS, win[1], 2);
    craft_record(&c, &put_8, &at_8, 1, "12345678", 8);
    send_refused(0, &c, 1);
    assert_null(win_peek(win[1], 2)->peer);
    craft_teardown(destroy);
}

/* The answer is right, the flush that it acknowledges is not under way. */
static void test_reply_with_ack(void **state)
{
    static unsigned char got[64];
    const struct rma_op op = byte_op(NULL, got, 0, 100, sizeof got);
    struct craft c;
    (void)state;
    begin(0);
    OK(rma_lock_all(win[1], RMA_NOCHECK));
    OK(rma_get(win[1], &op)); /* stays in the open packet */
    struct rma *r = &fabric->procs[1].rma;
    assert_int_equal(map_count(&r->requests), 1);
    const struct pkt_part part = {.request = r->last_request, .len = sizeof got};
    unsigned char data[sizeof got];
    memset(data, 7, sizeof data);
    craft_begin(&c, PKT_REPLY, win[1], 0);
    craft_append(&c, &part, sizeof part);
    craft_append(&c, data, sizeof data);
    craft_hdr(&c)->count = 1;
    craft_hdr(&c)->flags = PKT_F_FLUSH;
    craft_hdr(&c)->seq = win_peek(win[1], 0)->pair->acks_seen + 5;
    send_refused(0, &c, 1);
    assert_memory_equal(got, data, sizeof got);
    assert_int_equal(map_count(&r->requests), 0);
    craft_teardown(destroy);
}

/* An error in a barrier's packet that is none is taken for one that must not be. */
static void test_barrier_error(void **state)
{
    static const uint32_t codes[] = {MRMA_AGAIN, MRMA_ERR_LAST, UINT32_MAX, MRMA_ERR_RMA_RANGE};
    struct craft c;
    (void)state;
    begin(0);
    struct barrier_signal *in = &win_peek(win[1], 0)->in->sync.barriers[BARRIER_FREE];
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        craft_begin(&c, PKT_SYNC, win[1], 0);
        craft_hdr(&c)->seq = atomic_load(&in->entered) + 1;
        craft_hdr(&c)->total = codes[i];
        send_refused(0, &c, 0);
        assert_int_equal(atomic_load(&in->err), i < 3 ? MRMA_ERR_INTERN : MRMA_ERR_RMA_RANGE);
        atomic_fetch_sub(&in->entered, 1); /* as if it had not come */
        atomic_store(&in->err, MRMA_SUCCESS);
    }
    craft_teardown(destroy);
}

/* A fence's marker tells of operations that have not come. */
static void test_marker(void **state)
{
    struct craft c;
    (void)state;
    begin(0);
    craft_begin(&c, PKT_OPS, win[1], 0);
    craft_hdr(&c)->epoch = PKT_EPOCH_FENCE;
    craft_hdr(&c)->flags = PKT_F_FENCE;
    craft_hdr(&c)->seq = win[1]->phase;
    craft_hdr(&c)->total = 8;
    send_refused(0, &c, 1);
    assert_int_equal(win[1]->fence_arrived, 1); /* nobody waits for ever */
    win[1]->fence_arrived = 0;
    win_peek(win[1], 0)->from->marked = win[1]->phase;
    craft_teardown(destroy);
}

/* Without a lock in a window that has none. A flush alone is allowed, since MPI_Win_free may send
 * one. */
static void test_no_locks(void **state)
{
    struct craft c;
    (void)state;
    begin(0);
    win[1]->locks_refused = true;
    craft_begin(&c, PKT_OPS, win[1], 0);
    craft_record(&c, &put_8, &at_8, 1, "12345678", 8);
    send_refused(0, &c, 1);
    assert_int_equal(origin_take_error(win[0]), MRMA_ERR_RMA_SYNC);
    craft_begin(&c, PKT_OPS, win[1], 0);
    craft_hdr(&c)->flags = PKT_F_FLUSH;
    send_refused(0, &c, 0);
    win[1]->locks_refused = false;
    craft_teardown(destroy);
}

/* A packet of an epoch that has ended, whose record cannot be read either. */
static void test_unreadable(void **state)
{
    struct pkt_op spoilt = put_8;
    struct craft c;
    (void)state;
    begin(0);
    spoilt.nseg = UINT8_MAX;
    craft_begin(&c, PKT_OPS, win[1], 0);
    craft_record(&c, &spoilt, &at_8, 1, "12345678", 8);
    craft_hdr(&c)->epoch = PKT_EPOCH_PSCW;
    craft_hdr(&c)->seq = 0;
    send_refused(0, &c, 1);
    assert_int_equal(origin_take_error(win[0]), MRMA_ERR_INTERN);
    craft_teardown(destroy);
}

/* Two unlocks in one lock epoch: the second one gives back nothing. */
static void test_second_unlock(void **state)
{
    struct craft c;
    (void)state;
    begin(0);
    craft_begin(&c, PKT_OPS, win[1], 0);
    craft_hdr(&c)->epoch = PKT_EPOCH_LOCK;
    craft_hdr(&c)->flags = PKT_F_LOCK_EXCLUSIVE | PKT_F_UNLOCK;
    craft_hdr(&c)->seq = 1;
    send_refused(0, &c, 0);
    struct pkt_origin *po = win_peek(win[1], 0)->from;
    const uint64_t before = refused(&fabric->procs[1]);
    lock_queue_release(po);
    assert_int_equal(refused(&fabric->procs[1]), before + 1);
    assert_int_equal(po->lock, LOCKQ_NONE);
    po->lock_seq = 0;
    craft_teardown(destroy);
}

/* Nobody is lost because a peer says so of a rank that there is not, or of this process. */
static void test_lost_rank(void **state)
{
    static const uint32_t ranks[] = {1, PROCS, UINT32_MAX};
    struct craft c;
    (void)state;
    begin(0);
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        craft_begin(&c, PKT_ERROR, win[1], 0);
        craft_hdr(&c)->seq = PKT_ERROR_LOST;
        craft_hdr(&c)->count = ranks[i];
        craft_send(fabric, 0, 1, &c);
        assert_int_equal(atomic_load(&win[1]->lost), 0);
    }
    craft_teardown(destroy);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_by_memory), cmocka_unit_test(test_wrong_process),
        cmocka_unit_test(test_reply_with_ack), cmocka_unit_test(test_barrier_error),
        cmocka_unit_test(test_marker),         cmocka_unit_test(test_no_locks),
        cmocka_unit_test(test_unreadable),     cmocka_unit_test(test_second_unlock),
        cmocka_unit_test(test_lost_rank),
    };
    pkt_types_init();
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("broken_peer", tests, NULL, NULL);
}
