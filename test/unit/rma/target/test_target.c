/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_target.c - packets that are refused as a whole.
 *
 * Crafted packets whose epoch has ended: nothing of them is applied or counted.
 */
#include "test/support/spoilt_ring.h"
#include "rma/origin/origin_impl.h"
#include "rma/origin/refused.h"

/* A put of 8 bytes from process 0 to process 1. */
static struct pkt_hdr *begin(struct craft *c, enum pkt_epoch epoch, unsigned flags, uint32_t seq)
{
    static const struct pkt_op put = {.kind = PKT_OP_PUT, .nseg = 1, .data_len = 8};
    static const struct pkt_seg seg = {.disp = 8, .len = 8};
    craft_begin(c, PKT_OPS, win[1], 0);
    craft_hdr(c)->epoch = (uint8_t)epoch;
    craft_hdr(c)->flags = (uint8_t)flags;
    craft_hdr(c)->seq = seq;
    craft_record(c, &put, &seg, 1, "12345678", 8);
    return craft_hdr(c);
}

/* It is refused, the origin learns it, and these packets come back besides. */
static void check_refused(struct craft *c, unsigned opens, unsigned acks)
{
    const struct ch3_stats before = counters(&fabric->procs[1]);
    const uint64_t n = refused(&fabric->procs[1]);
    craft_send(fabric, 0, 1, c);
    const struct ch3_stats after = counters(&fabric->procs[1]);
    assert_int_equal(refused(&fabric->procs[1]), n + 1);
    assert_int_equal(after.by_type[PKT_ERROR] - before.by_type[PKT_ERROR], 1);
    assert_int_equal(after.by_type[PKT_OPEN] - before.by_type[PKT_OPEN], opens);
    assert_int_equal(after.by_type[PKT_ACK] - before.by_type[PKT_ACK], acks);
    assert_int_equal(origin_take_error(win[0]), MRMA_ERR_RMA_SYNC);
    assert_memory_equal(area[1] + 8, "\0\0\0\0\0\0\0\0", 8);
}

static void fences(struct fabric_proc *p, void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++)
        OK(rma_fence(win[p->rank], 0));
    OK(rma_fence(win[p->rank], RMA_NOSUCCEED));
}

static void test_old_fence(void **state)
{
    struct craft c;
    (void)state;
    fabric_run(fabric, fences, NULL);
    static const uint32_t old[] = {0, 1, 3, UINT32_MAX, 0x80000010};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        for (unsigned flags = 0; flags < 2; flags++) {
            begin(&c, PKT_EPOCH_FENCE, flags ? PKT_F_FENCE : 0, old[i])->total = 8;
            check_refused(&c, 0, 0);
            assert_int_equal(win[1]->fence_arrived, 0);
        }
}

/* Its epoch has ended too early, as far as is known because a process is lost. */
static void test_old_fence_and_lost_process(void **state)
{
    struct craft c;
    (void)state;
    fabric_run(fabric, fences, NULL);
    craft_begin(&c, PKT_ERROR, win[1], 0);
    craft_hdr(&c)->seq = PKT_ERROR_LOST;
    craft_hdr(&c)->count = 2;
    craft_hdr(&c)->total = MRMA_ERR_PROC_FAILED;
    craft_send(fabric, 0, 1, &c);
    begin(&c, PKT_EPOCH_FENCE, 0, 1);
    craft_send(fabric, 0, 1, &c);
    assert_int_equal(origin_take_error(win[0]), MRMA_ERR_PROC_FAILED);
    for (int i = 0; i < PROCS; i++) { /* it is not, really */
        assert_int_equal(win[i]->lost, i == 2 ? 0 : 3);
        win[i]->lost = 0;
        atomic_store(&win[i]->ctl->lost, 0);
    }
}

/* A window of processes 1 and 2 alone, where 2 is rank 0. */
static struct win *both[PROCS];
static struct fabric_comm *comm_of_both;

static void create_both(struct fabric_proc *p, void *arg)
{
    struct boot boot;
    const struct win_spec spec = {.flavor = WIN_ALLOCATE,
                                  .size = 64,
                                  .disp_unit = 1,
                                  .hints = win_hints_default(),
                                  .boot = &boot};
    (void)arg;
    if (p->rank == 0)
        return;
    fabric_comm_boot(comm_of_both, 2 - p->rank, &boot);
    OK(win_create(&p->rma, &spec, &both[p->rank]));
}

static void free_both(struct fabric_proc *p, void *arg)
{
    (void)arg;
    if (p->rank)
        fabric_win_free(both[p->rank]);
}

/* Who hears of a loss in one window knows it in its others with that process. */
static void test_lost_in_all_windows(void **state)
{
    struct craft c;
    (void)state;
    comm_of_both = fabric_comm_new(2);
    fabric_run(fabric, create_both, NULL);
    craft_begin(&c, PKT_ERROR, win[1], 0);
    craft_hdr(&c)->seq = PKT_ERROR_LOST;
    craft_hdr(&c)->count = 2;
    craft_send(fabric, 0, 1, &c);
    assert_int_equal(win[1]->lost, 3);
    assert_int_equal(both[1]->lost, 1);
    both[1]->lost = 0;
    atomic_store(&both[1]->ctl->lost, 0);
    for (int i = 0; i < PROCS; i++) {
        win[i]->lost = 0;
        atomic_store(&win[i]->ctl->lost, 0);
    }
    fabric_run(fabric, free_both, NULL);
    fabric_comm_free(comm_of_both);
}

static void one_epoch(struct fabric_proc *p, void *arg)
{
    static const int zero = 0, one = 1;
    (void)arg;
    if (p->rank == 0) {
        OK(rma_start(win[0], &one, 1, 0));
        OK(rma_complete(win[0]));
    } else if (p->rank == 1) {
        OK(rma_post(win[1], &zero, 1, 0));
        OK(rma_wait(win[1]));
    }
}

static void test_old_pscw(void **state)
{
    static const int zero = 0;
    struct craft c;
    (void)state;
    fabric_run(fabric, one_epoch, NULL);
    fabric_run(fabric, one_epoch, NULL);
    for (uint32_t seq = 0; seq <= 2; seq++) {
        begin(&c, PKT_EPOCH_PSCW, PKT_F_COMPLETE, seq);
        check_refused(&c, 0, 0);
    }
    /* the same while the next exposure is open: it is not ended by them */
    assert_int_equal(rma_post(win[1], &zero, 1, 0), MRMA_SUCCESS);
    settle(fabric);
    for (uint32_t seq = 0; seq <= 2; seq++) {
        begin(&c, PKT_EPOCH_PSCW, PKT_F_COMPLETE, seq);
        check_refused(&c, 0, 0);
        bool flag = true;
        assert_int_equal(rma_test(win[1], &flag), MRMA_SUCCESS);
        assert_false(flag);
    }
    static const int one = 1;
    bool flag = false;
    assert_int_equal(rma_start(win[0], &one, 1, 0), MRMA_SUCCESS);
    assert_int_equal(rma_complete(win[0]), MRMA_SUCCESS);
    assert_int_equal(rma_test(win[1], &flag), MRMA_SUCCESS);
    assert_true(flag);
}

/* Without a lock, with the number of another, of one that has ended: what the origin
 * waits for comes, and the lock stays as it is. */
static void test_old_lock(void **state)
{
    struct craft c;
    struct rma_req req;
    struct rma_op op = byte_op(area[0] + 64, NULL, 1, 64, 8);
    (void)state;
    op.req = &req;
    rma_req_init(&req);
    assert_int_equal(rma_lock(win[0], true, 1, 0), MRMA_SUCCESS);
    assert_int_equal(rma_put(win[0], &op), MRMA_SUCCESS); /* leaves at once, with the request */
    struct origin_pair *pair = win_peek(win[0], 1)->pair;
    settle(fabric);
    const struct pkt_origin *po = win_peek(win[1], 0)->from;
    assert_int_equal(po->lock, LOCKQ_HELD);
    for (uint32_t seq = 0; seq < 4; seq++) {
        if (seq == pair->lock_seq)
            continue;
        begin(&c, PKT_EPOCH_LOCK, 0, seq);
        check_refused(&c, 0, 0);
        begin(&c, PKT_EPOCH_LOCK, PKT_F_UNLOCK, seq)->offset = ++pair->acks_due;
        check_refused(&c, 0, 1);
        assert_int_equal(po->lock, LOCKQ_HELD);
        begin(&c, PKT_EPOCH_LOCK, PKT_F_LOCK_SHARED | PKT_F_WANT_OPEN, seq);
        check_refused(&c, 1, 0);
        assert_true(po->exclusive);
    }
    begin(&c, PKT_EPOCH_LOCK, PKT_F_UNLOCK, pair->lock_seq)->offset = ++pair->acks_due;
    craft_hdr(&c)->count = 0;
    craft_hdr(&c)->len = sizeof(struct pkt_hdr);
    craft_send(fabric, 0, 1, &c);
    assert_int_equal(po->lock, LOCKQ_NONE);
    assert_int_equal(pair->acks_seen, pair->acks_due);
    for (uint32_t seq = 0; seq <= pair->lock_seq; seq++) {
        begin(&c, PKT_EPOCH_LOCK, 0, seq);
        check_refused(&c, 0, 0);
        begin(&c, PKT_EPOCH_LOCK, PKT_F_LOCK_EXCLUSIVE | PKT_F_UNLOCK, seq)->offset =
            ++pair->acks_due;
        check_refused(&c, 0, 1);
        assert_int_equal(po->lock, LOCKQ_NONE);
    }
    pair->lock = ORIGIN_LOCK_DUE; /* its unlock sends nothing */
    pair->lock_seq++;
    pair->unconfirmed = false;
    assert_int_equal(rma_unlock(win[0], 1), MRMA_SUCCESS);
    assert_true(rma_req_done(&req));
}

static void poll_one(int rank)
{
    for (int i = 0; i < 3; i++)
        fabric_progress(&fabric->procs[rank]);
}

/* From process 0 to process 1, which polls; process 0 does not. */
static void send_unheard(struct craft *c)
{
    struct fabric_proc *p = &fabric->procs[0];
    OK(p->env.peer_connect(p, &p->peers[1].peer));
    OK(ch3_send(&p->peers[1].peer.vc, c->bytes, craft_hdr(c)->len, NULL, false));
    poll_one(1);
}

static void drop_window(struct fabric_proc *p, void *arg)
{
    (void)arg;
    win_free_end(win[p->rank]);
}

/* An unlock stands behind replies that cannot leave, and the connection is lost: it has no
 * effect, that is counted and said, and the process that waits for the lock is told. */
static void test_rider_of_lost_connection(void **state)
{
    static const struct pkt_op get = {.kind = PKT_OP_GET, .nseg = 1};
    static const struct pkt_seg all = {.disp = 0, .len = SIZE};
    static char text[4096];
    struct log_pipe messages;
    struct craft c;
    (void)state;
    setup(NULL);
    struct fabric_proc *p = &fabric->procs[1];
    log_to_pipe(&messages, LOG_LEVEL_WARN);
    craft_begin(&c, PKT_OPS, win[1], 0);
    craft_hdr(&c)->epoch = PKT_EPOCH_LOCK;
    craft_hdr(&c)->flags = PKT_F_LOCK_EXCLUSIVE;
    craft_hdr(&c)->seq = 1;
    for (unsigned i = 0; i < 2 * RING_LEAST / SIZE; i++)
        craft_record(&c, &get, &all, 1, NULL, 0);
    send_unheard(&c);
    struct ch3_vc *vc = &p->peers[0].peer.vc;
    assert_true(ch3_vc_busy(vc));
    craft_begin(&c, PKT_OPS, win[1], 0);
    craft_hdr(&c)->epoch = PKT_EPOCH_LOCK;
    craft_hdr(&c)->flags = PKT_F_UNLOCK;
    craft_hdr(&c)->seq = 1;
    craft_hdr(&c)->offset = 1;
    send_unheard(&c);
    const struct pkt_origin *po = win_peek(win[1], 0)->from;
    assert_int_equal(po->lock, LOCKQ_HELD);
    const uint64_t before = refused(p), acks = counters(p).by_type[PKT_ACK];
    p->log.fd = messages.fd[1];
    ch3_vc_lost(vc);
    p->log.fd = -1;
    assert_int_equal(po->lock, LOCKQ_HELD);
    assert_int_equal(refused(p), before + 1);
    assert_int_equal(counters(p).by_type[PKT_ACK], acks);
    assert_non_null(strstr(log_text(&messages, text, sizeof text), "packet of rank 0 refused"));
    assert_int_equal(rma_lock(win[1], true, 1, 0), MRMA_ERR_PROC_FAILED);
    log_pipe_close(&messages);
    craft_teardown(drop_window);
}

/* MPI_MODE_NOCHECK was said, but there was no post: what is too much is refused, not the epoch's
 * end, and the connection stays. */
static void test_unposted(void **state)
{
    static const int zero = 0;
    struct craft c;
    (void)state;
    setup(NULL);
    struct fabric_proc *p = &fabric->procs[1];
    for (int i = 0; i < PKT_PARKED_MAX; i++) {
        begin(&c, PKT_EPOCH_PSCW, 0, 1);
        send_unheard(&c);
    }
    begin(&c, PKT_EPOCH_PSCW, 0, 1);
    check_refused(&c, 0, 0);
    begin(&c, PKT_EPOCH_PSCW, PKT_F_COMPLETE, 1);
    check_refused(&c, 0, 0);
    assert_int_equal(win_peek(win[1], 0)->from->nparked, PKT_PARKED_MAX + 1);
    assert_true(ch3_vc_is_open(&p->peers[0].peer.vc));
    assert_int_equal(rma_post(win[1], &zero, 1, 0), MRMA_SUCCESS);
    bool flag = false;
    assert_int_equal(rma_test(win[1], &flag), MRMA_SUCCESS);
    assert_true(flag);
    assert_memory_equal(area[1] + 8, "12345678", 8);
    craft_teardown(drop_window);
}

/* More packets than an honest origin has here before their epoch: the connection is given up. */
static void test_park_limit(void **state)
{
    struct craft c;
    (void)state;
    setup(NULL);
    struct fabric_proc *p = &fabric->procs[1];
    assert_int_equal(rma_lock(win[1], true, 1, 0), MRMA_SUCCESS);
    for (int i = 0; i <= 2 * PKT_PARKED_MAX; i++) {
        assert_true(ch3_vc_is_open(&p->peers[0].peer.vc));
        begin(&c, PKT_EPOCH_LOCK, i ? 0 : PKT_F_LOCK_EXCLUSIVE, 1);
        send_unheard(&c);
    }
    const struct pkt_origin *po = win_peek(win[1], 0)->from;
    assert_int_equal(po->nparked, 2 * PKT_PARKED_MAX);
    assert_false(ch3_vc_is_open(&p->peers[0].peer.vc));
    assert_int_equal(refused(p), 1);
    (void)rma_unlock(win[1], 1);
    craft_teardown(drop_window);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_old_fence),
        TEST(test_old_fence_and_lost_process),
        TEST(test_lost_in_all_windows),
        TEST(test_old_pscw),
        TEST(test_old_lock),
        cmocka_unit_test(test_unposted),
        cmocka_unit_test(test_park_limit),
        cmocka_unit_test(test_rider_of_lost_connection),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    pkt_types_init();
    return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
