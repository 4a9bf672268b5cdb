/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_fence_stage.c - small puts of fence phases to mapped targets that are late, on a node with
 * more processes than processors: they lie in the origin's stage until the closing fence
 * (rma/path/fence_stage.h). They do not wait for the target, are in place for everybody when the
 * fence returns, come behind what the target stored before the phase and never over what it stores
 * after; what has no room waits for the target, and arrives as well.
 */
#include "test/support/pkt_helper.h"

#include "rma/path/fence_stage.h"
#include "rma/sync/sync.h"

enum { PROCS = 3, TARGET = 0, ORIGIN = 1, THIRD = 2, CELLS = 1000, STEPS = 500, LARGE = 700 };

static _Atomic uint64_t issued; /* steps whose puts the origin has issued */
static uint64_t data[PROCS][CELLS];
static struct win *wins[PROCS];

static uint64_t run(struct fabric_opts opts, void (*body)(struct fabric_proc *p, void *arg),
                    void *arg)
{
    uint64_t staged = 0;
    atomic_store(&issued, 0);
    atomic_store(&pkt_arrived, 0);
    fabric_watchdog(120);
    opts.nproc = PROCS;
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
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, sizeof data[0], 8);
    memset(w->base, 0, sizeof data[0]);
    wins[p->rank] = w;
    fabric_barrier(p);
    return w;
}

static uint64_t *cell(const struct win *w, int rank, size_t i)
{
    return (uint64_t *)(void *)win_peek(w, rank)->base + i;
}

static void await_issued(uint64_t step)
{
    while (atomic_load(&issued) < step)
        sched_yield();
}

/* The target enters the phase when the origin has put n cells: so all of these were early. The
 * third process loads from the target's memory as soon as its own fence returns. */
static void step_of(struct win *w, uint64_t step, size_t n)
{
    if (w->rank == TARGET) {
        await_issued(step);
        for (size_t i = 0; i < n; i++)
            *cell(w, TARGET, i) = 1;
    }
    OK(rma_fence(w, RMA_NOPRECEDE));
    if (w->rank == ORIGIN) {
        for (size_t i = 0; i < n; i++)
            data[ORIGIN][i] = step << 16 | i;
        for (size_t i = 0; i < n; i++)
            put(w, TARGET, (int64_t)i, &data[ORIGIN][i], sizeof(uint64_t));
        atomic_store(&issued, step);
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    for (size_t i = 0; i < n; i++)
        FABRIC_CHECK(*cell(w, TARGET, i) == (step << 16 | i));
    OK(rma_fence(w, 0)); /* all have looked */
    OK(rma_fence(w, RMA_NOSUCCEED));
    if (w->rank == TARGET) /* the next fence must not bring the put again */
        *cell(w, TARGET, 0) = 2;
    OK(rma_fence(w, RMA_NOSUCCEED));
    FABRIC_CHECK(*cell(w, TARGET, 0) == 2 || w->rank != TARGET);
}

static void steps(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    const size_t n = *(const size_t *)arg;
    for (uint64_t step = 1; step <= (n > 4 ? 20 : STEPS); step++)
        step_of(w, step, n);
    fabric_win_free(w);
}

static void test_late_target(void **state)
{
    size_t n = 4;
    (void)state;
    assert_int_equal(run((struct fabric_opts){.cpus = 1}, steps, &n), STEPS * n);
    assert_int_equal(run((struct fabric_opts){.cpus = 1, .threads = true}, steps, &n), STEPS * n);
    assert_int_equal(run((struct fabric_opts){.cpus = 1, .per_node = 3}, steps, &n), STEPS * n);
}

/* Where processors suffice the barrier has nobody who comes last, and puts wait for the target. */
static void test_enough_processors(void **state)
{
    size_t n = 4;
    (void)state;
    assert_int_equal(run((struct fabric_opts){.cpus = PROCS}, steps, &n), 0);
}

static void test_no_room(void **state)
{
    size_t n = LARGE;
    const size_t fit = FENCE_STAGE_ROOM / (sizeof(struct fence_stage_record) + sizeof(uint64_t));
    (void)state;
    assert_true(fit < LARGE);
    assert_int_equal(run((struct fabric_opts){.cpus = 1}, steps, &n), 20 * fit);
}

/* A target that is in the phase already gets its puts at once. */
static void begun(struct fabric_proc *p, void *arg)
{
    struct win *w = create(p);
    (void)arg;
    OK(rma_fence(w, 0));
    if (w->rank == ORIGIN) {
        data[ORIGIN][0] = 7;
        put(w, TARGET, 5, data[ORIGIN], sizeof(uint64_t));
        FABRIC_CHECK(*cell(w, TARGET, 5) == 7);
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    FABRIC_CHECK(*cell(w, TARGET, 5) == 7);
    fabric_win_free(w);
}

static void test_begun(void **state)
{
    (void)state;
    assert_int_equal(run((struct fabric_opts){.cpus = 1}, begun, NULL), 0);
}

/* Records that name what is not there are refused by whoever copies, and nothing is touched. */
static void spoil(struct win *w, struct fence_stage_record record, uint32_t used)
{
    char *stage = (char *)w->ctl + w->ctl->fence_stage_at;
    memcpy(stage + MRMA_CACHE_LINE, &record, sizeof record);
    memcpy(stage, &used, sizeof used);
}

static void spoilt(struct fabric_proc *p, void *arg)
{
    static const struct fence_stage_record bad[] = {
        {.offset = sizeof data[0] - 7, .len = 8, .member = TARGET},
        {.offset = UINT64_MAX - 3, .len = 8, .member = TARGET},
        {.offset = 0, .len = UINT32_MAX, .member = TARGET},
        {.offset = 0, .len = 8, .member = PROCS},
        {.offset = 0, .len = 16, .member = TARGET}, /* longer than what is used */
    };
    struct win *w = create(p);
    (void)arg;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        OK(rma_fence(w, 0));
        if (w->rank == ORIGIN)
            spoil(w, bad[i], sizeof bad[i] + 8);
        OK(rma_fence(w, RMA_NOSUCCEED));
        for (size_t k = 0; k < CELLS; k++)
            FABRIC_CHECK(*cell(w, TARGET, k) == 0);
    }
    OK(rma_fence(w, 0));
    if (w->rank == ORIGIN)
        spoil(w, (struct fence_stage_record){.offset = 0, .len = 8, .member = TARGET}, UINT32_MAX);
    OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
}

static void test_spoilt(void **state)
{
    (void)state;
    run((struct fabric_opts){.cpus = 1, .quiet = true}, spoilt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_target), cmocka_unit_test(test_enough_processors),
        cmocka_unit_test(test_no_room),     cmocka_unit_test(test_begun),
        cmocka_unit_test(test_spoilt),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("fence_stage", tests, NULL, NULL);
}
