/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_assisted_together.c - operations on a kernel-assisted target that go by packet
 * (rma/path/assisted.c) beside others: locks, elements and answers shared with a process that goes
 * by the kernel, and two processes that are each other's target.
 */
#include "test/support/assisted_target.h"

/* Process 1 takes processors for scarce, so it goes by the kernel whether the target polls or not.
 * The origins' memory is mapped: the target answers them all the same. */
static struct win *create_mixed(struct fabric_proc *p, void **memory)
{
    *memory = is_target(p) ? NULL : fabric_mem_alloc(p, 4096);
    struct win *w =
        fabric_win(p, WIN_CREATE, *memory ? *memory : area, *memory ? 4096 : sizeof area, 8);
    if (p->rank == 1)
        p->rma.progress.oversubscribed = true;
    return w;
}

/* One element, and under an exclusive lock another by get and put. */
static void hammer(struct win *w, int rounds)
{
    const int64_t one = 1;
    int64_t old;
    for (int i = 0; i < rounds; i++) {
        OK(rma_lock(w, false, 2, 0));
        fetch_add(w, 2, 0, &one, &old, 1);
        add(w, 2, 1, &one, 1);
        OK(rma_flush(w, 2, false));
        add(w, 2, 1, &one, 1);
        OK(rma_unlock(w, 2));
        OK(rma_lock(w, true, 2, 0));
        get(w, 2, 2, &old, 8);
        OK(rma_flush(w, 2, false));
        old++;
        put(w, 2, 2, &old, 8);
        OK(rma_unlock(w, 2));
    }
}

static void together(struct fabric_proc *p, void *arg)
{
    static _Atomic int left;
    void *memory;
    struct win *w = create_mixed(p, &memory);
    (void)arg;
    atomic_store(&left, 2);
    fabric_barrier(p);
    if (is_target(p)) {
        attend(p);
    } else {
        await_attention();
        hammer(w, ROUNDS);
        FABRIC_CHECK(p->rank ? sent(p) == 0 : sent(p) == 5 * ROUNDS);
        if (atomic_fetch_sub(&left, 1) == 1)
            atomic_store(&over, true);
    }
    fabric_barrier(p);
    FABRIC_CHECK(area[0] == 2 * ROUNDS && area[1] == 4 * ROUNDS && area[2] == 2 * ROUNDS);
    fabric_win_free(w);
    if (memory)
        fabric_mem_free(p, memory);
}

static void test_together(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 3}, together, NULL);
}

/* Both operate on the other's memory: each serves the other while it waits, or the kernel does it.
 */
static void each_other(struct fabric_proc *p, void *arg)
{
    const int other = 1 - p->rank;
    const int64_t one = 1;
    int64_t old, before = -1;
    (void)arg;
    struct win *w = fabric_win(p, WIN_CREATE, area + p->rank * CELLS, CELLS * 8, 8);
    fabric_barrier(p);
    OK(rma_lock_all(w, 0));
    for (int64_t i = 0; i < ROUNDS; i++) {
        fetch_add(w, other, 0, &one, &old, 1);
        add(w, other, 1, &one, 1);
        put(w, other, 2, &i, 8);
        OK(rma_flush(w, other, false));
        FABRIC_CHECK(old == ++before);
        fetch_add(w, p->rank, 1, &one, &old, 1);
    }
    OK(rma_unlock_all(w));
    fabric_barrier(p);
    FABRIC_CHECK(area[p->rank * CELLS] == ROUNDS && area[p->rank * CELLS + 1] == 2 * ROUNDS &&
                 area[p->rank * CELLS + 2] == ROUNDS - 1);
    fabric_win_free(w);
}

static void test_each_other(void **state)
{
    (void)state;
    run((struct fabric_opts){.nproc = 2}, each_other, NULL);
    run((struct fabric_opts){.nproc = 2, .refuse_percent = 40, .delay_percent = 30}, each_other,
        NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_each_other),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("assisted, together", tests, NULL, NULL);
}
