/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_packets_passive.c - locks and flushes by packets, and who serves them when, between
 * processes of the in-process fabric. See pkt_run.h.
 */
#include "test/support/pkt_run.h"

/* Read, add one, write back, under an exclusive lock: the sum is exact. */
static void lock_counter(struct fabric_proc *p, void *arg)
{
    enum { ROUNDS = 60 };
    const int n = p->fabric->opts.nproc;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 16, 1);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t value = 0;
        const int target = round % n;
        OK(rma_lock(w, true, target, 0));
        get(w, target, 0, &value, 8);
        OK(rma_flush(w, target, false));
        value++;
        put(w, target, 0, &value, 8);
        OK(rma_unlock(w, target));
    }
    rest(p);
    int64_t sum = 0, value = 0;
    for (int i = 0; i < n; i++) {
        OK(rma_lock(w, false, i, 0));
        get(w, i, 0, &value, 8);
        OK(rma_unlock(w, i));
        sum += value;
    }
    FABRIC_CHECK(sum == (int64_t)n * ROUNDS);
    rest(p);
    fabric_win_free(w);
}

static void test_lock_counter(void **state)
{
    (void)state;
    run_all(3, 0, lock_counter, NULL);
    run_all(4, 2, lock_counter, NULL);
    run_all(4, 3, lock_counter, NULL);
}

/* Two cells change together under the exclusive lock, by lock and by lock_all
 * they are read together. Packets and memory peers mixed by per_node. */
static void lock_readers(struct fabric_proc *p, void *arg)
{
    enum { ROUNDS = 40 };
    const int n = p->fabric->opts.nproc;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 16, 1);
    for (int64_t round = 0; round < ROUNDS; round++) {
        const int target = (int)(round + p->rank) % n;
        int64_t cells[2], old[2];
        switch ((round + p->rank) % 3) {
        case 0:
            OK(rma_lock(w, true, target, 0));
            get(w, target, 0, old, 16);
            OK(rma_flush(w, target, false));
            FABRIC_CHECK(old[0] == old[1]);
            cells[0] = cells[1] = round * n + p->rank;
            put(w, target, 0, &cells[0], 8);
            OK(rma_flush(w, target, true));
            put(w, target, 8, &cells[1], 8);
            OK(rma_unlock(w, target));
            break;
        case 1:
            OK(rma_lock(w, false, target, 0));
            get(w, target, 0, old, 16);
            OK(rma_unlock(w, target));
            FABRIC_CHECK(old[0] == old[1]);
            break;
        default:
            OK(rma_lock_all(w, 0));
            get(w, target, 0, old, 16);
            OK(rma_flush_all(w, false));
            FABRIC_CHECK(old[0] == old[1]);
            OK(rma_unlock_all(w));
        }
    }
    rest(p);
    fabric_win_free(w);
}

static void test_lock_readers(void **state)
{
    (void)state;
    run_all(3, 0, lock_readers, NULL);
    run_all(4, 2, lock_readers, NULL);
    run_all(5, 3, lock_readers, NULL);
}

static int try_put(struct win *w, int target, int64_t disp, const void *from, size_t n)
{
    const struct rma_op op = byte_op(from, NULL, target, disp, n);
    return rma_put(w, &op);
}

/* Short contiguous puts: inside the window only, of any length, until the packet is full and behind
 * that; all count, in the statistics, for the flush and for a fence. */
static void short_puts(struct fabric_proc *p, void *arg)
{
    enum { SIZE = 4096, UNIT = 8, LONGEST = 1024, FULL = PKT_MAX / LONGEST + 1 };
    const int to = 1;
    unsigned char out[LONGEST];
    (void)arg;
    fill(out, sizeof out, 3);
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, SIZE, UNIT);
    if (p->rank == 0) {
        OK(rma_lock(w, true, to, 0));
        const uint64_t ops = w->rma->stats.paths.ops[STATS_SHM_PACKETS],
                       bytes = w->rma->stats.paths.bytes[STATS_SHM_PACKETS];
        put(w, to, 0, out, 8);
        put(w, to, 1, out + 8, 13);
        put(w, to, SIZE / UNIT - 1, out, 8);
        FABRIC_CHECK(try_put(w, to, SIZE / UNIT - 1, out, 9) == MRMA_ERR_RMA_RANGE);
        FABRIC_CHECK(try_put(w, to, SIZE / UNIT, out, 1) == MRMA_ERR_RMA_RANGE);
        FABRIC_CHECK(try_put(w, to, INT64_MAX / 2, out, 8) == MRMA_ERR_RMA_RANGE);
        FABRIC_CHECK(w->rma->stats.paths.ops[STATS_SHM_PACKETS] == ops + 3 &&
                     w->rma->stats.paths.bytes[STATS_SHM_PACKETS] == bytes + 29);
        OK(rma_flush(w, to, false));
        const uint64_t sent = counters(p).by_type[PKT_OPS];
        for (int i = 0; i < FULL; i++)
            put(w, to, 64, out, LONGEST);
        while (counters(p).by_type[PKT_OPS] == sent) /* the target may not have made room yet */
            fabric_progress(p);
        FABRIC_CHECK(counters(p).by_type[PKT_OPS] == sent + 1);
        OK(rma_flush(w, to, false)); /* not forgotten */
        FABRIC_CHECK(counters(p).by_type[PKT_OPS] == sent + 2);
        OK(rma_unlock(w, to));
    }
    OK(rma_fence(w, 0));
    if (p->rank == 1) {
        check_filled(w->base, 21, 3);
        check_filled((unsigned char *)w->base + SIZE - 8, 8, 3);
        check_filled((unsigned char *)w->base + 512, LONGEST, 3);
    }
    OK(rma_fence(w, 0));
    if (p->rank == 0)
        put(w, to, 0, out, 8); /* the marker says how many bytes there are */
    OK(rma_fence(w, 0));
    fabric_win_free(w);
}

static void test_short_puts(void **state)
{
    (void)state;
    run_all(2, 0, short_puts, NULL);
}

/* The reply of a get whose lock is held by another for a while proves the put in front of it:
 * the flush sends nothing more, and both are in place. */
static void late_proof(struct fabric_proc *p, void *arg)
{
    enum { ROUNDS = 10 };
    int64_t cells[2] = {0, 0}, value;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 16, 1);
    for (int64_t round = 1; round <= ROUNDS; round++) {
        if (p->rank == 1) {
            OK(rma_lock(w, true, 0, 0));
            get(w, 0, 0, cells, 16);
            OK(rma_flush(w, 0, false)); /* held */
        }
        rest(p);
        if (p->rank == 1) {
            put(w, 0, 0, &round, 8);
            OK(rma_unlock(w, 0));
        } else if (p->rank == 2) {
            value = -round;
            OK(rma_lock(w, false, 0, 0));
            put(w, 0, 8, &value, 8);
            get(w, 0, 0, cells, 16);
            OK(rma_flush(w, 0, true));
            FABRIC_CHECK(cells[0] == round && cells[1] == -round);
            const uint64_t sent = counters(p).by_type[PKT_OPS];
            OK(rma_flush(w, 0, false));
            FABRIC_CHECK(counters(p).by_type[PKT_OPS] == sent);
            OK(rma_unlock(w, 0));
        }
        rest(p);
    }
    if (p->rank == 0)
        FABRIC_CHECK(((int64_t *)w->base)[0] == ROUNDS && ((int64_t *)w->base)[1] == -ROUNDS);
    fabric_win_free(w);
}

static void test_late_proof(void **state)
{
    (void)state;
    run_all(3, 0, late_proof, NULL);
}

/* A get longer than the ring is read under the lock to its end. */
static void lock_long_get(struct fabric_proc *p, void *arg)
{
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, RING_BUSTER, 1);
    unsigned char *buf = malloc(RING_BUSTER);
    for (int round = 0; round < 12 && p->rank; round++) {
        OK(rma_lock(w, true, 0, 0));
        if (p->rank == 1) {
            get(w, 0, 0, buf, RING_BUSTER);
        } else {
            memset(buf, round, RING_BUSTER);
            put(w, 0, 0, buf, RING_BUSTER);
        }
        OK(rma_unlock(w, 0));
        for (size_t i = 1; i < RING_BUSTER; i++)
            FABRIC_CHECK(buf[i] == buf[0]);
    }
    rest(p);
    fabric_win_free(w);
    free(buf);
}

static void test_lock_long_get(void **state)
{
    (void)state;
    run_all(3, 0, lock_long_get, NULL);
}

/* Nothing but the agent moves at the target: every operation, small and large. */
static void idle_target(struct fabric_proc *p, void *arg)
{
    enum { CELLS = RING_BUSTER / 8 };
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, RING_BUSTER, 1);
    int64_t *out = malloc(RING_BUSTER), *in = malloc(RING_BUSTER);
    if (p->rank) {
        for (int i = 0; i < CELLS; i++)
            out[i] = i + p->rank;
        OK(rma_lock_all(w, 0));
        add(w, 0, 0, out, CELLS);
        OK(rma_flush(w, 0, false));
        fetch_add(w, 0, 0, out, in, CELLS);
        OK(rma_flush(w, 0, true));
        for (int i = 0; i < CELLS; i++)
            FABRIC_CHECK(in[i] >= out[i] && in[i] <= 4 * (i + 2));
        memset(in, 0, RING_BUSTER);
        get(w, 0, 0, in, RING_BUSTER);
        OK(rma_unlock_all(w));
        for (int i = 0; i < CELLS; i++)
            FABRIC_CHECK(in[i] >= 2 * out[i]);
    }
    rest(p);
    const int64_t *mine = *win_base_attr(w);
    for (int i = 0; p->rank == 0 && i < CELLS; i++) {
        int64_t sum = 0;
        for (int k = 1; k < p->fabric->opts.nproc; k++)
            sum += 2 * (i + k);
        FABRIC_CHECK(mine[i] == sum);
    }
    fabric_win_free(w);
    free(out);
    free(in);
}

static void test_idle_target(void **state)
{
    (void)state;
    run_all(2, 0, idle_target, NULL);
    run_all(3, 0, idle_target, NULL);
}

/* A thread of a process computes; what it was asked before it left the library
 * must be answered by its agent, also what did not fit into the ring then. */
static void answer_and_go(struct fabric_proc *p, void *arg)
{
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, RING_BUSTER, 1);
    unsigned char *in = malloc(RING_BUSTER);
    for (int round = 0; round < 10; round++) {
        if (p->rank == 1) {
            OK(rma_lock(w, false, 0, 0));
            get(w, 0, 0, in, RING_BUSTER);
            OK(rma_flush(w, 0, false));
            OK(rma_unlock(w, 0));
        } else {
            for (int i = 0; i < 50 * round; i++)
                fabric_progress(p);
        }
        rest(p);
    }
    fabric_win_free(w);
    free(in);
}

static void test_answer_and_go(void **state)
{
    (void)state;
    run_all(2, 0, answer_and_go, NULL);
}

/* Load and store under the lock: MPI_Win_allocate_shared, synchronized by packets. */
static void shared_window(struct fabric_proc *p, void *arg)
{
    enum { ROUNDS = 100 };
    const int n = p->fabric->opts.nproc;
    uint64_t size;
    uint32_t unit;
    void *at;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE_SHARED, NULL, 64, 1);
    OK(win_shared_query(w, 0, &size, &unit, &at));
    int64_t *cell = at;
    for (int round = 0; round < ROUNDS; round++) {
        OK(rma_lock(w, true, 0, 0));
        *cell += 1;
        OK(rma_unlock(w, 0));
    }
    rest(p);
    FABRIC_CHECK(*cell == (int64_t)n * ROUNDS);
    fabric_win_free(w);
}

static void test_shared_window(void **state)
{
    (void)state;
    run_all(3, 0, shared_window, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_counter),  cmocka_unit_test(test_lock_readers),
        cmocka_unit_test(test_short_puts),    cmocka_unit_test(test_late_proof),
        cmocka_unit_test(test_lock_long_get), cmocka_unit_test(test_idle_target),
        cmocka_unit_test(test_answer_and_go), cmocka_unit_test(test_shared_window),
    };
    RUN_TESTS("packets, passive target", tests);
}
