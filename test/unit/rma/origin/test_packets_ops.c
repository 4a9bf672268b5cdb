/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_packets_ops.c - operations by packets: their order, requests, atomics, and many windows at
 * once, between processes of the in-process fabric. See pkt_run.h.
 */
#include "test/support/pkt_run.h"

#include "rma/layer/fast.h"

/* Long and short operations of one origin on the same cells stay in order. */
static void ordered(struct fabric_proc *p, void *arg)
{
    enum { CELLS = 4096 };
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, CELLS * 8, 1);
    int64_t *out = malloc(CELLS * 8), *old = malloc(CELLS * 8), one = 1, seen[8];
    for (int64_t round = 1; p->rank == 1 && round <= 10; round++) {
        for (int i = 0; i < CELLS; i++)
            out[i] = round * 1000;
        const struct rma_op set = i64_op(out, old, 0, 0, CELLS, ACC_REPLACE);
        const struct rma_op look = i64_op(NULL, seen, 0, 64, 8, ACC_NO_OP);
        OK(rma_lock(w, round & 1, 0, 0));
        add(w, 0, 64, &one, 1);
        OK(rma_accumulate(w, &set));
        add(w, 0, 64, &one, 1);
        fetch_add(w, 0, 64, &one, seen + 1, 1);
        OK(rma_get_accumulate(w, &set));
        add(w, 0, 64, &one, 1);
        OK(rma_get_accumulate(w, &look));
        OK(rma_unlock(w, 0));
        FABRIC_CHECK(old[8] == round * 1000 + 2 && old[9] == round * 1000);
        FABRIC_CHECK(seen[0] == round * 1000 + 1 && seen[1] == round * 1000);
    }
    rest(p);
    fabric_win_free(w);
    free(out);
    free(old);
}

static void test_ordered(void **state)
{
    (void)state;
    run_all(2, 0, ordered, NULL);
}

static void finish(struct fabric_proc *p, struct rma_req *req)
{
    while (!rma_req_done(req)) {
        fabric_progress(p);
        sched_yield();
    }
    FABRIC_CHECK(atomic_load(&req->err) == MRMA_SUCCESS);
}

/* Requests complete by progress alone, small and large, before any flush. */
static void requests(struct fabric_proc *p, void *arg)
{
    const int n = p->fabric->opts.nproc, target = (p->rank + 1) % n;
    const size_t sizes[] = {8, 4000, 20000, RING_BUSTER};
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 2 * RING_BUSTER, 1);
    int64_t *out = malloc(RING_BUSTER), *in = malloc(RING_BUSTER);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct rma_req req[3];
        const size_t cells = sizes[k] / 8;
        struct rma_op put_op = i64_op(out, NULL, target, 0, cells, ACC_OP_NONE);
        struct rma_op add_op = i64_op(out, NULL, target, 0, cells, ACC_SUM);
        struct rma_op get_op = i64_op(NULL, in, target, 0, cells, ACC_OP_NONE);
        for (size_t i = 0; i < cells; i++)
            out[i] = (int64_t)(i * (k + 1)) + p->rank;
        OK(rma_lock(w, true, target, 0));
        for (int i = 0; i < 3; i++)
            rma_req_init(&req[i]);
        put_op.req = &req[0], add_op.req = &req[1], get_op.req = &req[2];
        OK(rma_put(w, &put_op));
        finish(p, &req[0]);
        OK(rma_flush(w, target, false));
        OK(rma_accumulate(w, &add_op));
        finish(p, &req[1]);
        OK(rma_flush(w, target, false));
        OK(rma_get(w, &get_op));
        finish(p, &req[2]);
        for (size_t i = 0; i < cells; i++)
            FABRIC_CHECK(in[i] == 2 * out[i]);
        get_op.op = ACC_PROD; /* now the fetching accumulate */
        get_op.oaddr = out;
        rma_req_init(&req[2]);
        OK(rma_get_accumulate(w, &get_op));
        finish(p, &req[2]);
        OK(rma_unlock(w, target));
        for (size_t i = 0; i < cells; i++)
            FABRIC_CHECK(in[i] == 2 * out[i]);
        rest(p);
    }
    fabric_win_free(w);
    free(out);
    free(in);
}

static void test_requests(void **state)
{
    (void)state;
    run_all(2, 0, requests, NULL);
    run_all(3, 0, requests, NULL);
}

/* Counters by fetch_and_op and compare_and_swap from all, memory peers and by packet. */
static void atomics(struct fabric_proc *p, void *arg)
{
    enum { ROUNDS = 80 };
    const int n = p->fabric->opts.nproc;
    const int64_t one = 1;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 32, 1);
    int64_t *mine = *win_base_attr(w), last = -1;
    OK(rma_lock_all(w, 0));
    for (int round = 0; round < ROUNDS; round++) {
        int64_t old = 0, seen = 0, next;
        fetch_add(w, 0, 0, &one, &old, 1);
        OK(rma_flush(w, 0, false));
        FABRIC_CHECK(old > last && old < (int64_t)n * ROUNDS);
        last = old;
        do {
            next = seen + 1;
            old = seen;
            cas(w, n - 1, 8, &old, &next, &seen);
            OK(rma_flush(w, n - 1, false));
        } while (seen != old);
    }
    OK(rma_unlock_all(w));
    rest(p);
    FABRIC_CHECK(p->rank != 0 || mine[0] == (int64_t)n * ROUNDS);
    FABRIC_CHECK(p->rank != n - 1 || mine[1] == (int64_t)n * ROUNDS);
    fabric_win_free(w);
}

static void test_atomics(void **state)
{
    (void)state;
    run_all(3, 0, atomics, NULL);
    run_all(4, 2, atomics, NULL);
}

/* Many windows at once and one after the other; freed right behind the last use. */
static void windows(struct fabric_proc *p, void *arg)
{
    enum { N = 6, ROUNDS = 15 };
    const int n = p->fabric->opts.nproc, target = (p->rank + 1) % n;
    const int64_t one = 1;
    struct win *w[N];
    (void)arg;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++)
            w[i] = fabric_win(p, WIN_ALLOCATE, NULL, 16, 1);
        for (int i = 0; i < N; i++) {
            OK(rma_lock(w[i], i & 1, target, i == 3 ? RMA_NOCHECK : 0));
            add(w[i], target, 0, &one, 1);
        }
        for (int i = N - 1; i >= 0; i--)
            OK(rma_unlock(w[i], target));
        for (int i = 0; i < N; i++) {
            const int k = (i * 5 + round) % N;
            FABRIC_CHECK(win_free_begin(w[k]) == MRMA_SUCCESS);
            FABRIC_CHECK(**(int64_t **)win_base_attr(w[k]) == 1);
            win_free_end(w[k]);
        }
    }
}

static void test_windows(void **state)
{
    (void)state;
    run_all(3, 0, windows, NULL);
}

/* What fast.h puts into the open packet arrives as what rma_put has put there, and it takes nothing
 * that needs more than that packet. */
static void short_puts(struct fabric_proc *p, void *arg)
{
    enum { N = 8, SIZE = 8 * N };
    unsigned char out[SIZE];
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, SIZE, 1);
    for (unsigned round = 1; round <= 3; round++) {
        fill(out, SIZE, round);
        if (p->rank == 1) {
            FABRIC_CHECK(!fast_put_packed(w, out, 0, 0, 8, false)); /* no epoch */
            OK(rma_lock(w, false, 0, 0));
            FABRIC_CHECK(
                !fast_put_packed(w, out, 0, 0, 8, false)); /* its packet asks for the lock */
            put(w, 0, 0, out, 8);
            for (int at = 8; at < SIZE; at += 8)
                FABRIC_CHECK(fast_put_packed(w, out + at, 0, at, 8, false));
            FABRIC_CHECK(fast_put_packed(w, out + 1, 0, 1, 3, false));
            OK(rma_flush(w, 0, false));
            FABRIC_CHECK(!fast_put_packed(w, out, 0, 0, 8, true)); /* would have to leave at once */
            put(w, 0, 0, out, 8);
            FABRIC_CHECK(!rma_requests_unsent(&p->rma));
            FABRIC_CHECK(fast_put_packed(w, out + 1, 0, 1, 3, true));
            FABRIC_CHECK(rma_requests_unsent(&p->rma)); /* leaves when any request is asked for */
            FABRIC_CHECK(!fast_put_packed(w, out, 0, 0, 0, false));
            FABRIC_CHECK(!fast_put_packed(w, out, 0, SIZE - 7, 8, false));
            FABRIC_CHECK(!fast_put_packed(w, out, 0, SIZE + 1, 1, false));
            FABRIC_CHECK(!fast_put_packed(w, out, 0, INT64_MAX, 8, false));
            FABRIC_CHECK(!fast_put_packed(w, out, 0, 0, SIZE + 1, false));
            OK(rma_unlock(w, 0));
            FABRIC_CHECK(!fast_put_packed(w, out, 0, 0, 8, false));
        }
        rest(p);
        if (p->rank == 0)
            check_filled(*win_base_attr(w), SIZE, round);
        rest(p);
    }
    fabric_win_free(w);
}

static void test_short_puts(void **state)
{
    (void)state;
    run_all(2, 0, short_puts, NULL);
}

/* The bytes of a fence phase are counted, whichever way they came into the packet. */
static void short_puts_fence(struct fabric_proc *p, void *arg)
{
    enum { N = 100, SIZE = 8 * N };
    const int n = p->fabric->opts.nproc, target = (p->rank + 1) % n;
    unsigned char out[SIZE];
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, SIZE, 1);
    OK(rma_fence(w, RMA_NOPRECEDE));
    for (unsigned round = 1; round <= 3; round++) {
        fill(out, SIZE, round);
        for (int at = 0; at < SIZE; at += 8)
            if (!fast_put_packed(w, out + at, target, at, 8, false))
                put(w, target, at, out + at, 8);
        OK(rma_fence(w, 0));
        check_filled(*win_base_attr(w), SIZE, round);
        OK(rma_fence(w, 0));
    }
    rest(p);
    fabric_win_free(w);
}

static void test_short_puts_fence(void **state)
{
    (void)state;
    run_all(2, 0, short_puts_fence, NULL);
    run_all(3, 0, short_puts_fence, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordered),    cmocka_unit_test(test_requests),
        cmocka_unit_test(test_atomics),    cmocka_unit_test(test_windows),
        cmocka_unit_test(test_short_puts), cmocka_unit_test(test_short_puts_fence),
    };
    RUN_TESTS("packets, operations", tests);
}
