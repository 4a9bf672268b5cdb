/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_packets.c - fence and PSCW epochs by packets, between processes of the
 * in-process fabric. See pkt_run.h.
 */
#include "test/support/pkt_run.h"

/* ---- fence ---- */

/* Part i of every window is rank i's to write. size bytes are put to all. */
static void fence_all_to_all(struct fabric_proc *p, void *arg)
{
    const size_t size = *(size_t *)arg;
    const int n = p->fabric->opts.nproc;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, size * (size_t)n, 1);
    unsigned char *mine = *win_base_attr(w), *out = malloc(size), *in = malloc(size);
    OK(rma_fence(w, RMA_NOPRECEDE));
    for (unsigned phase = 0; phase < 6; phase++) {
        fill(out, size, phase * 16 + (unsigned)p->rank);
        for (int i = 0; i < n; i++)
            put(w, i, (int64_t)size * p->rank, out, size);
        OK(rma_fence(w, 0));
        for (int i = 0; i < n; i++)
            check_filled(mine + size * (size_t)i, size, phase * 16 + (unsigned)i);
        const int from = (p->rank + 1) % n;
        get(w, from, (int64_t)size * p->rank, in, size);
        OK(rma_fence(w, phase == 5 ? RMA_NOSUCCEED : 0));
        check_filled(in, size, phase * 16 + (unsigned)p->rank);
    }
    fabric_win_free(w);
    free(out);
    free(in);
}

static void test_fence_small(void **state)
{
    size_t size = 24;
    (void)state;
    run_all(3, 0, fence_all_to_all, &size);
    run_all(4, 2, fence_all_to_all, &size);
}

static void test_fence_large(void **state)
{
    size_t size = RING_BUSTER;
    (void)state;
    run_all(3, 0, fence_all_to_all, &size);
    run_all(4, 2, fence_all_to_all, &size);
}

/* Who has left a fence may do without the library, whatever it has sent. */
static void fence_and_go(struct fabric_proc *p, void *arg)
{
    const size_t size = *(size_t *)arg;
    const int n = p->fabric->opts.nproc;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, size * (size_t)n, 1);
    unsigned char *out = malloc(size);
    fill(out, size, (unsigned)p->rank);
    for (int round = 0; round < 20; round++) {
        OK(rma_fence(w, 0));
        for (int i = 0; i < n; i++)
            put(w, i, (int64_t)size * p->rank, out, size);
        OK(rma_fence(w, 0));
        fabric_barrier(p);
    }
    fabric_win_free(w);
    fabric_barrier(p);
    free(out);
}

static void test_fence_and_go(void **state)
{
    size_t small = 16, large = RING_BUSTER / 2;
    (void)state;
    run_all(3, 0, fence_and_go, &small);
    run_all(2, 0, fence_and_go, &large);
}

/* Small operations of more than one packet, accumulates in order among them. */
static void fence_many(struct fabric_proc *p, void *arg)
{
    enum { CELLS = 500, ROUNDS = 12 };
    const int n = p->fabric->opts.nproc;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, CELLS * 8, 1);
    const int64_t *mine = *win_base_attr(w);
    const int64_t one = 1;
    OK(rma_fence(w, 0));
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < n; i++)
            for (int c = 0; c < CELLS; c++)
                add(w, i, c * 8, &one, 1);
        OK(rma_fence(w, 0));
        for (int c = 0; c < CELLS; c++)
            FABRIC_CHECK(mine[c] == (int64_t)round * n);
        OK(rma_fence(w, 0));
    }
    fabric_win_free(w);
}

static void test_fence_many(void **state)
{
    (void)state;
    run_all(3, 0, fence_many, NULL);
}

/* A packet that comes before its fence phase is parked: rank 1 still stores. */
static void fence_ahead(struct fabric_proc *p, void *arg)
{
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 64, 1);
    unsigned char *mine = *win_base_attr(w);
    for (unsigned round = 1; round <= 10; round++) {
        const uint64_t before = parked(p);
        const unsigned char value = (unsigned char)round;
        fabric_barrier(p);
        if (p->rank == 0) {
            OK(rma_fence(w, RMA_NOPRECEDE));
            put(w, 1, 0, &value, 1);
            put(w, 1, 8, &value, 1);
        } else {
            while (p->rank == 1 && parked(p) == before) {
                FABRIC_CHECK(mine[0] == (unsigned char)(round - 1));
                fabric_progress(p);
                sched_yield();
            }
            mine[0] = 99;
            OK(rma_fence(w, RMA_NOPRECEDE));
        }
        OK(rma_fence(w, 0));
        FABRIC_CHECK(p->rank != 1 || (mine[0] == value && mine[8] == value));
    }
    fabric_win_free(w);
}

static void test_fence_ahead(void **state)
{
    (void)state;
    run_all(2, 0, fence_ahead, NULL);
    run_all(3, 0, fence_ahead, NULL);
}

/* Fence, then passive target, again and again, with a get that fills the ring:
 * the one process may be in its lock while the other is still in the fence. */
static void fence_then_lock(struct fabric_proc *p, void *arg)
{
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, RING_BUSTER + 64, 1);
    unsigned char *in = malloc(RING_BUSTER);
    const int64_t one = 1;
    const int other = 1 - p->rank;
    for (int round = 0; round < 8; round++) {
        OK(rma_fence(w, 0));
        get(w, other, 64, in, RING_BUSTER);
        OK(rma_fence(w, RMA_NOSUCCEED));
        OK(rma_lock(w, round & 1, other, 0));
        add(w, other, 0, &one, 1);
        OK(rma_unlock(w, other));
        rest(p);
    }
    FABRIC_CHECK(**(int64_t **)win_base_attr(w) == 8);
    fabric_win_free(w);
    free(in);
}

static void test_fence_then_lock(void **state)
{
    (void)state;
    run_all(2, 0, fence_then_lock, NULL);
}

/* ---- PSCW ---- */

static int others(const struct fabric_proc *p, int *group)
{
    int n = 0;
    for (int i = p->fabric->opts.nproc - 1; i >= 0; i--)
        if (i != p->rank)
            group[n++] = i;
    return n;
}

/* Everybody is origin and target of all others, with put, get and accumulate. */
static void pscw_all(struct fabric_proc *p, void *arg)
{
    const size_t size = *(size_t *)arg;
    const int n = p->fabric->opts.nproc;
    int group[FABRIC_MAX], ngroup = others(p, group);
    const int64_t room = (int64_t)(size + 7) / 8 * 8;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, (uint64_t)(room * n + 16), 1);
    unsigned char *mine = *win_base_attr(w), *out = malloc(size), *in = malloc(size * (size_t)n);
    int64_t one = 1, *sum = (int64_t *)(void *)(mine + room * n);
    for (unsigned round = 0; round < 12; round++) {
        const int asserts = round % 4 == 3 ? RMA_NOCHECK : 0;
        fill(out, size, round * 8 + (unsigned)p->rank);
        fill(mine + room * p->rank, size, round * 8 + (unsigned)p->rank);
        OK(rma_post(w, group, ngroup, asserts));
        if (asserts) /* the match must have been posted */
            fabric_barrier(p);
        OK(rma_start(w, group, ngroup, asserts));
        for (int i = 0; i < ngroup; i++) {
            put(w, group[i], room * p->rank, out, size);
            add(w, group[i], room * n, &one, 1);
            get(w, group[i], room * group[i], in + size * (size_t)i, size);
        }
        OK(rma_complete(w));
        for (int i = 0; i < ngroup; i++)
            check_filled(in + size * (size_t)i, size, round * 8 + (unsigned)group[i]);
        if (round & 1) {
            bool flag = false;
            while (!flag)
                OK(rma_test(w, &flag));
        } else {
            OK(rma_wait(w));
        }
        for (int i = 0; i < n; i++)
            check_filled(mine + room * i, size, round * 8 + (unsigned)i);
        FABRIC_CHECK(*sum == (int64_t)(round + 1) * ngroup);
    }
    fabric_win_free(w);
    free(out);
    free(in);
}

static void test_pscw(void **state)
{
    size_t small = 20, large = RING_BUSTER;
    (void)state;
    run_all(2, 0, pscw_all, &small);
    run_all(4, 2, pscw_all, &small);
    run_all(3, 0, pscw_all, &large);
}

/* Rank 0 completes its epoch before rank 1 has posted: parked, then in order. A
 * second epoch may not get ahead of the first. */
static void pscw_ahead(struct fabric_proc *p, void *arg)
{
    const int peer = 1 - p->rank;
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 64, 1);
    volatile unsigned char *mine = *win_base_attr(w);
    for (unsigned round = 0; round < 10; round++) {
        const unsigned char first = (unsigned char)(2 * round + 1),
                            second = (unsigned char)(2 * round + 2);
        const uint64_t before = parked(p);
        fabric_barrier(p);
        if (p->rank == 0) {
            OK(rma_start(w, &peer, 1, 0));
            put(w, 1, 0, &first, 1);
            OK(rma_complete(w));
            fabric_barrier(p);
            OK(rma_start(w, &peer, 1, 0));
            put(w, 1, 0, &second, 1);
            OK(rma_complete(w));
        } else {
            fabric_barrier(p); /* rank 0 has completed, without any word of this process */
            while (parked(p) == before) {
                fabric_progress(p);
                sched_yield();
            }
            FABRIC_CHECK(mine[0] == (unsigned char)(2 * round));
            OK(rma_post(w, &peer, 1, 0));
            OK(rma_wait(w));
            FABRIC_CHECK(mine[0] == first);
            OK(rma_post(w, &peer, 1, 0));
            OK(rma_wait(w));
            FABRIC_CHECK(mine[0] == second);
        }
    }
    fabric_win_free(w);
}

static void test_pscw_ahead(void **state)
{
    (void)state;
    run_all(2, 0, pscw_ahead, NULL);
}

/* Who has completed may do without the library; the target's wait must end. */
static void complete_and_go(struct fabric_proc *p, void *arg)
{
    const size_t size = *(size_t *)arg;
    const int peer = 1 - p->rank;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, size, 1);
    unsigned char *out = malloc(size);
    for (unsigned round = 0; round < 10; round++) {
        if (p->rank == 0) {
            fill(out, size, round);
            OK(rma_start(w, &peer, 1, 0));
            put(w, 1, 0, out, size);
            OK(rma_complete(w));
        } else {
            OK(rma_post(w, &peer, 1, 0));
            OK(rma_wait(w));
            check_filled(*win_base_attr(w), size, round);
        }
        fabric_barrier(p);
    }
    fabric_win_free(w);
    free(out);
}

static void test_complete_and_go(void **state)
{
    size_t small = 16, large = RING_BUSTER;
    (void)state;
    run_all(2, 0, complete_and_go, &small);
    run_all(2, 0, complete_and_go, &large);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence_small),
        cmocka_unit_test(test_fence_large),
        cmocka_unit_test(test_fence_and_go),
        cmocka_unit_test(test_fence_many),
        cmocka_unit_test(test_fence_ahead),
        cmocka_unit_test(test_fence_then_lock),
        cmocka_unit_test(test_pscw),
        cmocka_unit_test(test_pscw_ahead),
        cmocka_unit_test(test_complete_and_go),
    };
    RUN_TESTS("packets, active target", tests);
}
