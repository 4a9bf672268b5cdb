/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_phase_stage.c - small puts of fence phases to kernel-assisted targets, which lie in
 * a stage until the target's fence copies them (rma/path/stage.h): they arrive in the phase they
 * belong to, also where processes run ahead of a slow one, what has no room goes another
 * way, and a third process that looks after the fence sees them, by whatever way.
 */
#include "test/support/pkt_helper.h"

#include <time.h>

#include "rma/path/stage.h"
#include "rma/create/win_create.h"

enum { PROCS = 4, CELLS = 300, STEPS = 400 };

static uint64_t area[PROCS][CELLS], sent[PROCS][PROCS][CELLS]; /* from, to */

static void pause_us(long us)
{
    nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

static uint64_t run(struct fabric_opts opts, void (*body)(struct fabric_proc *p, void *arg),
                    void *arg)
{
    uint64_t staged = 0;
    atomic_store(&pkt_arrived, 0);
    memset(area, 0, sizeof area);
    fabric_watchdog(120);
    struct fabric *f = fabric_new(&opts);
    fabric_run(f, body, arg);
    for (int i = 0; i < opts.nproc; i++)
        staged += f->procs[i].rma.stats.staged;
    fabric_free(f);
    fabric_watchdog(0);
    return staged;
}

static struct win *create(struct fabric_proc *p)
{
    struct win *w = fabric_win(p, WIN_CREATE, area[p->rank], sizeof area[0], 8);
    fabric_barrier(p);
    return w;
}

static uint64_t cell(const struct win *w, size_t i)
{
    return ((const uint64_t *)w->base)[i];
}

static void put_cell(struct win *w, int to, int cell, uint64_t value)
{
    uint64_t *from = &sent[w->rank][to][cell]; /* the library's until the fence */
    *from = value;
    put(w, to, cell, from, sizeof value);
}

/* Every step each tells both neighbours a number; the slow one sleeps at different places. */
static void neighbours(struct fabric_proc *p, void *arg)
{
    const int n = p->fabric->opts.nproc, right = (p->rank + 1) % n, left = (p->rank + n - 1) % n;
    const int asserts = *(const int *)arg;
    struct win *w = create(p);
    for (uint64_t step = 1; step <= STEPS; step++) {
        OK(rma_fence(w, asserts ? RMA_NOPRECEDE : 0));
        if (step % 50 == (uint64_t)p->rank)
            pause_us(300);
        put_cell(w, right, 0, step << 8 | (uint64_t)p->rank);
        put_cell(w, left, 1, step << 8 | (uint64_t)p->rank);
        if (step % 70 == (uint64_t)p->rank)
            pause_us(300);
        OK(rma_fence(w, asserts ? RMA_NOSUCCEED : 0));
        FABRIC_CHECK(cell(w, 0) == (step << 8 | (uint64_t)left));
        FABRIC_CHECK(cell(w, 1) == (step << 8 | (uint64_t)right));
    }
    if (!asserts)
        OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
}

static void test_neighbours(void **state)
{
    (void)state;
    for (int asserts = 0; asserts < 2; asserts++)
        for (unsigned cpus = 1; cpus <= PROCS; cpus += PROCS - 1) {
            const uint64_t staged =
                run((struct fabric_opts){.nproc = PROCS, .cpus = cpus}, neighbours, &asserts);
            assert_int_equal(staged, 2 * PROCS * STEPS);
        }
}

/* More than a stage has room for: the rest goes by system call, and all arrives. */
static void many(struct fabric_proc *p, void *arg)
{
    const int n = p->fabric->opts.nproc, right = (p->rank + 1) % n, left = (p->rank + n - 1) % n;
    struct win *w = create(p);
    (void)arg;
    for (uint64_t step = 1; step <= 50; step++) {
        OK(rma_fence(w, 0));
        for (int i = 0; i < CELLS; i++)
            put_cell(w, right, i, step * 1000 + (uint64_t)(i + 100 * p->rank));
        OK(rma_fence(w, 0));
        for (int i = 0; i < CELLS; i++)
            FABRIC_CHECK(area[p->rank][i] == step * 1000 + (uint64_t)(i + 100 * left));
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
}

static void test_many(void **state)
{
    (void)state;
    const uint64_t staged = run((struct fabric_opts){.nproc = 3}, many, NULL);
    const int room = (4096 + MRMA_CACHE_LINE) - 8;
    assert_int_equal(staged, 3 * 50 * (room / 16)); /* a record: a word and 8 bytes */
}

/* Process 0 tells 1, and 2 looks there in the next phase, when 1 may still be in its fence. */
static void third(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    (void)arg;
    for (uint64_t step = 1; step <= 3 * STEPS; step++) {
        OK(rma_fence(w, 0));
        if (p->rank == 0)
            put_cell(w, 1, 0, step);
        if (p->rank == 1 && step % 20 == 0)
            pause_us(50);
        OK(rma_fence(w, 0));
        if (p->rank == 2) {
            uint64_t seen = 0;
            get(w, 1, 0, &seen, sizeof seen);
            OK(rma_fence(w, 0));
            FABRIC_CHECK(seen == step);
        } else {
            OK(rma_fence(w, 0));
        }
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
}

static void test_third(void **state)
{
    (void)state;
    for (unsigned cpus = 1; cpus <= 3; cpus += 2)
        assert_int_equal(run((struct fabric_opts){.nproc = 3, .cpus = cpus}, third, NULL),
                         3 * STEPS);
}

/* STAGE_DEPTH phases a step, one barrier: an origin comes to the same stage again when the target
 * may not have copied what lies in it. */
static void around(struct fabric_proc *p, void *arg)
{
    const int right = (p->rank + 1) % p->fabric->opts.nproc;
    struct win *w = create(p);
    (void)arg;
    for (uint64_t step = 1; step <= 5 * STEPS; step++) {
        OK(rma_fence(w, RMA_NOPRECEDE));
        put_cell(w, right, (int)(step % 2), step);
        OK(rma_fence(w, RMA_NOSUCCEED));
        FABRIC_CHECK(cell(w, step % 2) == step);
        for (int i = 2; i < STAGE_DEPTH; i++)
            OK(rma_fence(w, RMA_NOPRECEDE));
    }
    OK(rma_fence(w, RMA_NOPRECEDE | RMA_NOSUCCEED));
    fabric_win_free(w);
}

static void test_around(void **state)
{
    (void)state;
    for (unsigned cpus = 1; cpus <= PROCS; cpus += PROCS - 1)
        assert_true(run((struct fabric_opts){.nproc = PROCS, .cpus = cpus}, around, NULL) > 0);
}

static void once(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    (void)arg;
    OK(rma_fence(w, 0));
    put_cell(w, 1 - p->rank, 3, 7);
    OK(rma_fence(w, RMA_NOSUCCEED));
    FABRIC_CHECK(area[p->rank][3] == 7);
    fabric_win_free(w);
}

static void test_threads(void **state)
{
    (void)state;
    assert_int_equal(run((struct fabric_opts){.nproc = 2}, once, NULL), 2);
    assert_int_equal(run((struct fabric_opts){.nproc = 2, .threads = true}, once, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_neighbours),
                                       cmocka_unit_test(test_many), cmocka_unit_test(test_third),
                                       cmocka_unit_test(test_around),
                                       cmocka_unit_test(test_threads)};
    pkt_types_init();
    return cmocka_run_group_tests_name("phase_stage", tests, NULL, NULL);
}
