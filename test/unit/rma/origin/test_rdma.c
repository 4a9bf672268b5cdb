/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rdma.c - puts and gets by the channel itself (rma/origin/rdma.c), over a
 * channel that takes its time (slow_rdma.h). What ends an epoch too early is seen by the target
 * as missing data, or by the origin as what the target has stored since.
 */
#include "test/support/slow_rdma.h"

enum { NPROC = 4, PART = 6000, ROUNDS = 5 };

/* puts, gets: what each process must have done without packets. */
static void run(void (*body)(struct fabric_proc *p, void *arg), void *arg, enum conf_fence fence,
                unsigned puts, unsigned gets)
{
    for (unsigned i = 0; i < 4; i++) {
        const bool ordered = i & 1, agent = i & 2;
        fabric_watchdog(120);
        struct fabric *f = fabric_new(
            &(struct fabric_opts){.nproc = NPROC,
                                  .path = CONF_PATH_NET_PACKETS,
                                  .fence = fence,
                                  .progress = agent ? CONF_PROGRESS_AGENT : CONF_PROGRESS_POLL});
        for (int r = 0; r < NPROC; r++)
            slow_rdma_init(&f->procs[r], ordered);
        atomic_store(&pkt_arrived, 0);
        fabric_run(f, body, arg);
        for (int r = 0; r < NPROC; r++) {
            assert_int_equal(slow_rdma[r].puts, puts);
            assert_int_equal(slow_rdma[r].gets, gets);
            assert_int_equal(slow_rdma[r].registered, 0);
            assert_int_equal(refused(&f->procs[r]), 0);
        }
        fabric_free(f);
        fabric_watchdog(0);
    }
}

static int next(const struct fabric_proc *p)
{
    return (p->rank + 1) % NPROC;
}
static int before(const struct fabric_proc *p)
{
    return (p->rank + NPROC - 1) % NPROC;
}

static void by_fence(struct fabric_proc *p, void *arg)
{
    const size_t n = *(size_t *)arg;
    unsigned char in[PART], out[PART];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 2 * PART, 1);
    unsigned char *mine = *win_base_attr(w);
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(out, n, round + (unsigned)p->rank);
        fill(mine + PART, n, 50 + round + (unsigned)p->rank);
        OK(rma_fence(w, 0));
        get(w, next(p), PART, in, n);
        put(w, before(p), 8, out, n); /* counts go there by way of others */
        OK(rma_fence(w, RMA_NOSUCCEED));
        check_filled(mine + 8, n, round + (unsigned)next(p));
        memset(mine + PART, 0, n);
        check_filled(in, n, 50 + round + (unsigned)next(p));
    }
    fabric_win_free(w);
}

static void by_pscw(struct fabric_proc *p, void *arg)
{
    const size_t n = *(size_t *)arg;
    const int to = next(p), from = before(p);
    unsigned char in[PART], out[PART];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 2 * PART, 1);
    unsigned char *mine = *win_base_attr(w);
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(out, n, round + (unsigned)p->rank);
        fill(mine + PART, n, 50 + round + (unsigned)p->rank);
        OK(rma_post(w, &from, 1, 0));
        OK(rma_start(w, &to, 1, 0));
        get(w, to, PART, in, n);
        put(w, to, 8, out, n);
        OK(rma_complete(w));
        OK(rma_wait(w));
        check_filled(mine + 8, n, round + (unsigned)from);
        memset(mine + PART, 0, n);
        check_filled(in, n, 50 + round + (unsigned)to);
    }
    fabric_win_free(w);
}

/* All others take turns on rank 1's memory and count: none may be lost. */
static void by_lock(struct fabric_proc *p, void *arg)
{
    const size_t n = *(size_t *)arg;
    unsigned char in[PART], out[PART];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, PART, 1);
    const int target = p->rank == 1 ? 2 : 1;
    memset(*win_base_attr(w), 0, PART);
    rest(p);
    for (int round = 0; round < ROUNDS; round++) {
        OK(rma_lock(w, true, target, 0));
        get(w, target, 8, in, n);
        OK(round % 2 ? rma_flush(w, target, false) : rma_flush(w, target, true));
        for (size_t i = 1; i < n; i++)
            FABRIC_CHECK(in[i] == in[0]);
        memset(out, in[0] + 1, n);
        put(w, target, 8, out, n);
        OK(rma_unlock(w, target));
        memset(out, 255, n);
    }
    rest(p);
    const int turns = p->rank == 1 ? (NPROC - 1) * ROUNDS : p->rank == 2 ? ROUNDS : 0;
    FABRIC_CHECK(((unsigned char *)*win_base_attr(w))[8] == turns);
    fabric_win_free(w);
}

/* A flush and a request mean that the data is in place, a lock_all's end too. */
static void by_lock_all(struct fabric_proc *p, void *arg)
{
    const size_t n = *(size_t *)arg;
    unsigned char in[PART], out[PART];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, PART, 1);
    unsigned char *mine = *win_base_attr(w);
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(out, n, round + (unsigned)p->rank);
        OK(rma_lock_all(w, round == 3 ? RMA_NOCHECK : 0));
        struct rma_req req;
        rma_req_init(&req);
        struct rma_op op = byte_op(out, NULL, next(p), 8, n);
        op.req = round == 1 ? &req : NULL;
        OK(rma_put(w, &op));
        while (!rma_req_done(&req))
            rma_progress(&p->rma);
        if (round != 2)
            OK(rma_flush_all(w, false));
        if (round == 2)
            OK(rma_unlock_all(w));
        rest(p);
        check_filled(mine + 8, n, round + (unsigned)before(p));
        if (round == 2)
            OK(rma_lock_all(w, 0));
        get(w, next(p), 8, in, n);
        OK(rma_unlock_all(w));
        check_filled(in, n, round + (unsigned)p->rank);
        rest(p);
    }
    fabric_win_free(w);
}

/* The second part of an operation with a request cannot be started while the first is under way:
 * the request is not forgotten before that has ended, and tells the error. Where the channel only
 * cannot reach memory of this process all goes by packets, and well. */
static void part_refused(struct fabric_proc *p, void *arg)
{
    const int refusal = *(int *)arg;
    const bool by_packets = refusal == MRMA_ERR_NO_MEM;
    unsigned char out[PART];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, PART, 1);
    fill(out, PART, 5);
    rest(p);
    if (p->rank == 0) {
        struct rma_req req;
        struct rma_op op = byte_op(out, NULL, 1, 0, PART);
        rma_req_init(&req);
        op.req = &req;
        slow_rdma[0].refuses = 2;
        slow_rdma[0].refusal = refusal;
        OK(rma_lock_all(w, RMA_NOCHECK));
        const int err = rma_put(w, &op);
        FABRIC_CHECK(w->origin_side.rdma_ops == 1 && err == MRMA_SUCCESS);
        FABRIC_CHECK(by_packets || !rma_req_done(&req));
        while (!rma_req_done(&req))
            rma_progress_requests(&p->rma);
        FABRIC_CHECK(atomic_load(&req.err) == (by_packets ? MRMA_SUCCESS : refusal));
        OK(rma_unlock_all(w));
        FABRIC_CHECK(w->origin_side.rdma_ops == 0);
    }
    rest(p);
    if (by_packets && p->rank == 1)
        check_filled(*win_base_attr(w), PART, 5);
    fabric_win_free(w);
}

static void refuse_part(int refusal)
{
    fabric_watchdog(60);
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = NPROC,
                                                        .path = CONF_PATH_NET_PACKETS,
                                                        .quiet = true,
                                                        .progress = CONF_PROGRESS_POLL});
    for (int r = 0; r < NPROC; r++)
        slow_rdma_init(&f->procs[r], false);
    atomic_store(&pkt_arrived, 0);
    fabric_run(f, part_refused, &refusal);
    fabric_free(f);
    fabric_watchdog(0);
}

static void test_part_refused(void **state)
{
    (void)state;
    refuse_part(MRMA_ERR_OTHER);
}

static void test_memory_refused(void **state)
{
    (void)state;
    refuse_part(MRMA_ERR_NO_MEM);
}

enum { LOST = 1, KEPT = 2 };

/* Puts and gets to two peers are under way when the connection to one of them is lost: what
 * concerns that one ends with an error at once, though the channel says done only later,
 * maybe after the window's end; what concerns the other ends well. */
static void peer_lost(struct fabric_proc *p, void *arg)
{
    const bool window_first = *(bool *)arg;
    unsigned char in[SLOW_RDMA_MIN], out[SLOW_RDMA_MIN];
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 2 * PART, 1);
    memset(*win_base_attr(w), 1, 2 * PART);
    rest(p);
    if (p->rank == 0) {
        struct rma_req put_req, get_req;
        struct rma_op op = byte_op(out, NULL, LOST, 8, SLOW_RDMA_MIN);
        fill(out, SLOW_RDMA_MIN, 3);
        memset(in, 2, SLOW_RDMA_MIN);
        rma_req_init(&put_req);
        rma_req_init(&get_req);
        OK(rma_lock_all(w, RMA_NOCHECK));
        put(w, KEPT, 8, out, SLOW_RDMA_MIN);
        op.req = &put_req;
        OK(rma_put(w, &op));
        op = byte_op(NULL, in, LOST, 8, SLOW_RDMA_MIN);
        op.req = &get_req;
        OK(rma_get(w, &op));
        rma_enter(&p->rma);
        FABRIC_CHECK(w->origin_side.rdma_ops == 3);
        ch3_vc_lost(&p->peers[LOST].peer.vc);
        FABRIC_CHECK(w->origin_side.rdma_ops == 1 && slow_rdma[0].n == 3);
        rma_leave(&p->rma);
        FABRIC_CHECK(rma_req_done(&put_req) && atomic_load(&put_req.err) == MRMA_ERR_PROC_FAILED);
        FABRIC_CHECK(rma_req_done(&get_req) && atomic_load(&get_req.err) == MRMA_ERR_PROC_FAILED);
        FABRIC_CHECK(rma_flush(w, LOST, false) == MRMA_ERR_PROC_FAILED);
        if (!window_first)
            OK(rma_flush(w, KEPT, false));
        op = byte_op(out, NULL, LOST, 8, SLOW_RDMA_MIN);
        FABRIC_CHECK(rma_put(w, &op) == MRMA_ERR_PROC_FAILED);
    }
    if (!window_first) {
        fabric_barrier(p);
        for (int i = 0; p->rank == KEPT && i < SLOW_RDMA_MIN; i++)
            FABRIC_CHECK(((unsigned char *)*win_base_attr(w))[8 + i] ==
                         (unsigned char)(3 * 37 + i * 7 + (i >> 8)));
    }
    fabric_barrier(p);
    if (p->rank == 0 || !window_first)
        win_free_end(w);
    while (p->rank == 0 && slow_rdma[0].n)
        fabric_progress(p);
    for (int i = 0; p->rank == 0 && i < SLOW_RDMA_MIN; i++)
        FABRIC_CHECK(in[i] == 2);
    fabric_barrier(p);
    if (p->rank && window_first)
        win_free_end(w);
}

static void test_peer_lost(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) { /* an agent would poll, and be done with some before that */
        bool window_first = i & 1;
        fabric_watchdog(60);
        struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = NPROC,
                                                            .path = CONF_PATH_NET_PACKETS,
                                                            .quiet = true,
                                                            .progress = CONF_PROGRESS_POLL});
        for (int r = 0; r < NPROC; r++)
            slow_rdma_init(&f->procs[r], i & 2);
        atomic_store(&pkt_arrived, 0);
        fabric_run(f, peer_lost, &window_first);
        assert_int_equal(slow_rdma[0].puts, 2);
        assert_int_equal(slow_rdma[0].gets, 1);
        fabric_free(f);
        fabric_watchdog(0);
    }
}

/* Below the least length, at it, and so long that it takes two. */
static void all_sizes(void (*body)(struct fabric_proc *p, void *arg), enum conf_fence fence)
{
    static const struct {
        size_t n;
        unsigned parts;
    } sizes[] = {{SLOW_RDMA_MIN - 1, 0}, {SLOW_RDMA_MIN, 1}, {5000, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i].n;
        run(body, &n, fence, ROUNDS * sizes[i].parts, ROUNDS * sizes[i].parts);
    }
}

/* ---- a card ---- */

/* Small ones without packets, between those with: each flush means that all is in place, and what
 * was injected may be overwritten at once. */
static void by_card(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, PART, 1);
    unsigned char *mine = *win_base_attr(w);
    unsigned char in[SLOW_RDMA_INJECT], out[SLOW_RDMA_INJECT];
    (void)arg;
    memset(mine, 0, PART);
    rest(p);
    OK(rma_lock_all(w, 0));
    get(w, next(p), 0, in, 1); /* asks for the lock */
    OK(rma_flush(w, next(p), false));
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(out, SLOW_RDMA_INJECT, round + (unsigned)p->rank);
        put(w, next(p), 8, out, SLOW_RDMA_INJECT);
        OK(rma_flush(w, next(p), true));
        memset(out, 255, SLOW_RDMA_INJECT);
        OK(rma_flush(w, next(p), false));
        rest(p);
        check_filled(mine + 8, SLOW_RDMA_INJECT, round + (unsigned)before(p));
        get(w, next(p), 8, in, SLOW_RDMA_INJECT);
        OK(rma_flush_all(w, false));
        check_filled(in, SLOW_RDMA_INJECT, round + (unsigned)p->rank);
        rest(p);
    }
    fill(out, SLOW_RDMA_INJECT, 99);
    put(w, next(p), 8, out, SLOW_RDMA_INJECT);
    OK(rma_unlock_all(w));
    rest(p);
    check_filled(mine + 8, SLOW_RDMA_INJECT, 99);
    fabric_win_free(w);
}

static void run_card(bool ordered, bool agent, bool behind)
{
    fabric_watchdog(120);
    struct fabric *f = fabric_new(
        &(struct fabric_opts){.nproc = NPROC,
                              .path = CONF_PATH_NET_PACKETS,
                              .progress = agent ? CONF_PROGRESS_AGENT : CONF_PROGRESS_POLL});
    for (int r = 0; r < NPROC; r++) {
        struct fabric_proc *p = &f->procs[r];
        slow_rdma_init(p, ordered);
        p->conf.tune.rdma_min = p->conf.tune.rdma_min_passive = CONF_AUTO;
        p->channel.rdma.by = CH3_RDMA_CARD;
        p->channel.rdma.inject = SLOW_RDMA_INJECT;
        p->channel.caps |= behind ? CH3_CAP_RDMA_READ_BEHIND : 0;
    }
    atomic_store(&pkt_arrived, 0);
    fabric_run(f, by_card, NULL);
    for (int r = 0; r < NPROC; r++) {
        assert_int_equal(slow_rdma[r].puts, ROUNDS + 1);
        assert_int_equal(slow_rdma[r].gets, ROUNDS * (behind ? 2 : 1));
        assert_int_equal(slow_rdma[r].registered, 0);
        assert_int_equal(refused(&f->procs[r]), 0);
    }
    fabric_free(f);
    fabric_watchdog(0);
}

static void test_card(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        run_card(i & 1, i & 2, false);
}

static void test_card_that_is_read_behind(void **state)
{
    (void)state;
    run_card(true, false, true);
    run_card(true, true, true);
}

#define SIZES_TEST(name, body, fence) \
    static void name(void **state)    \
    {                                 \
        (void)state;                  \
        all_sizes(body, fence);       \
    }
SIZES_TEST(test_fence_markers, by_fence, CONF_FENCE_MARKERS)
SIZES_TEST(test_fence_counts, by_fence, CONF_FENCE_COUNTS)
SIZES_TEST(test_pscw, by_pscw, CONF_FENCE_AUTO)
SIZES_TEST(test_lock, by_lock, CONF_FENCE_AUTO)
SIZES_TEST(test_lock_all, by_lock_all, CONF_FENCE_AUTO)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence_markers),  cmocka_unit_test(test_fence_counts),
        cmocka_unit_test(test_pscw),           cmocka_unit_test(test_lock),
        cmocka_unit_test(test_lock_all),       cmocka_unit_test(test_part_refused),
        cmocka_unit_test(test_memory_refused), cmocka_unit_test(test_peer_lost),
        cmocka_unit_test(test_card),           cmocka_unit_test(test_card_that_is_read_behind),
    };
    RUN_TESTS("rdma", tests);
}
