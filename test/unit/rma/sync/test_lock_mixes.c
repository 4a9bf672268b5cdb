/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lock_mixes.c - lock_all, exclusive and shared locks of processes at once on random targets,
 * on every path: an exclusive holder is never inside together with anybody who has accessed the
 * same target, nobody starves, nothing hangs. test_lock_all.c goes through the protocol step by
 * step.
 */
#include <sched.h>

#include "base/err.h"
#include "test/support/base_helper.h"
#include "test/sim/fabric.h"
#include "rma/layer/fast.h"
#include "rma/sync/sync.h"
#include "rma/win/win.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { EPOCHS = 300 };
#else
enum { EPOCHS = 1200 };
#endif
enum { PROCS = 4, CELLS = 2 };

struct arena {
    int all_percent, exclusive_percent; /* the rest: shared locks */
    /* Who is inside which target, by those who are sure to be. */
    _Atomic int exclusive[PROCS], others[PROCS];
    _Atomic uint64_t exclusives, meetings; /* lock_all holders seen together */
    _Atomic int active;
};

/* A pair of numbers at the target that only exclusive holders change, and not
 * atomically; everybody must see them equal. */
static void get_pair(struct win *w, int target, int64_t pair[CELLS])
{
    const struct dtype type = dtype_basic(ACC_I64);
    const struct rma_op op = {.raddr = pair,
                              .rcount = CELLS,
                              .rtype = &type,
                              .target = target,
                              .tcount = CELLS,
                              .ttype = &type};
    FABRIC_CHECK(rma_get(w, &op) == MRMA_SUCCESS);
    FABRIC_CHECK(rma_flush(w, target, false) == MRMA_SUCCESS);
}

static void put_cell(struct win *w, int target, int64_t value, int64_t disp)
{
    const struct dtype type = dtype_basic(ACC_I64);
    const struct rma_op op = {.oaddr = &value,
                              .ocount = 1,
                              .otype = &type,
                              .target = target,
                              .disp = disp,
                              .tcount = 1,
                              .ttype = &type};
    FABRIC_CHECK(rma_put(w, &op) == MRMA_SUCCESS);
    FABRIC_CHECK(rma_flush(w, target, false) == MRMA_SUCCESS);
}

/* As the entry points do it, where the fast way is open; every second process takes the general one
 * only. */
static void lock_target(struct win *w, bool exclusive, int target)
{
    if (w->rank % 2 || !fast_lock(w, exclusive, target))
        FABRIC_CHECK(rma_lock(w, exclusive, target, 0) == MRMA_SUCCESS);
}

static void unlock_target(struct win *w, int target)
{
    if (w->rank % 2 || !fast_unlock(w, target))
        FABRIC_CHECK(rma_unlock(w, target) == MRMA_SUCCESS);
}

static void exclusive_epoch(struct win *w, struct arena *a, int target)
{
    int64_t pair[CELLS] = {-1, -2};
    lock_target(w, true, target);
    get_pair(w, target, pair); /* now the lock is held, on every path */
    FABRIC_CHECK(atomic_fetch_add(&a->exclusive[target], 1) == 0);
    FABRIC_CHECK(atomic_load(&a->others[target]) == 0);
    FABRIC_CHECK(pair[0] == pair[1]);
    put_cell(w, target, pair[0] + 1, 0);
    sched_yield();
    put_cell(w, target, pair[0] + 1, 1);
    FABRIC_CHECK(atomic_load(&a->others[target]) == 0);
    atomic_fetch_add(&a->exclusives, 1);
    FABRIC_CHECK(atomic_fetch_sub(&a->exclusive[target], 1) == 1);
    unlock_target(w, target);
}

static void look(struct win *w, struct arena *a, int target)
{
    int64_t pair[CELLS] = {-1, -2};
    get_pair(w, target, pair);
    FABRIC_CHECK(pair[0] == pair[1]);
    FABRIC_CHECK(atomic_load(&a->exclusive[target]) == 0);
}

static void shared_epoch(struct win *w, struct arena *a, int target)
{
    lock_target(w, false, target);
    look(w, a, target);
    atomic_fetch_add(&a->others[target], 1);
    look(w, a, target);
    atomic_fetch_sub(&a->others[target], 1);
    unlock_target(w, target);
}

static void all_epoch(struct win *w, struct arena *a, uint64_t *seed)
{
    bool been[PROCS] = {false};
    FABRIC_CHECK(rma_lock_all(w, 0) == MRMA_SUCCESS);
    for (int i = 0; i < 4; i++) {
        const int target = (int)(next_random(seed) % PROCS);
        look(w, a, target);
        if (!been[target]) {
            been[target] = true;
            if (atomic_fetch_add(&a->others[target], 1) > 0)
                atomic_fetch_add(&a->meetings, 1);
        }
        sched_yield();
    }
    for (int target = 0; target < PROCS; target++)
        if (been[target]) {
            look(w, a, target);
            atomic_fetch_sub(&a->others[target], 1);
        }
    FABRIC_CHECK(rma_unlock_all(w) == MRMA_SUCCESS);
}

static struct win *arena_window(struct fabric_proc *p)
{
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, CELLS * sizeof(int64_t), sizeof(int64_t));
    fabric_barrier(p);
    return w;
}

static void random_body(struct fabric_proc *p, void *arg)
{
    struct arena *a = arg;
    struct win *w = arena_window(p);
    uint64_t seed = (uint64_t)p->rank + 17;
    for (int i = 0; i < EPOCHS; i++) {
        const int dice = (int)(next_random(&seed) % 100),
                  target = (int)(next_random(&seed) % PROCS);
        if (dice < a->all_percent)
            all_epoch(w, a, &seed);
        else if (dice < a->all_percent + a->exclusive_percent)
            exclusive_epoch(w, a, target);
        else
            shared_epoch(w, a, target);
    }
    fabric_win_free(w);
}

/* Half of the processes never stop with one kind until the other half have done
 * theirs: whoever starves hangs. */
static void starving_body(struct fabric_proc *p, void *arg)
{
    struct arena *a = arg;
    struct win *w = arena_window(p);
    const bool few_are_exclusive = a->all_percent > a->exclusive_percent;
    uint64_t seed = (uint64_t)p->rank + 3;
    if (p->rank % 2) {
        for (int i = 0; i < EPOCHS / 10; i++)
            few_are_exclusive ? exclusive_epoch(w, a, 0) : all_epoch(w, a, &seed);
        atomic_fetch_sub(&a->active, 1);
    } else {
        while (atomic_load(&a->active) > 0)
            few_are_exclusive ? all_epoch(w, a, &seed)
                              : exclusive_epoch(w, a, (int)(next_random(&seed) % PROCS));
    }
    fabric_win_free(w);
}

static void arena(void (*body)(struct fabric_proc *, void *), const struct fabric_opts *opts,
                  int all, int exclusive)
{
    struct arena a = {.all_percent = all, .exclusive_percent = exclusive, .active = PROCS / 2};
    struct fabric *f = fabric_new(opts);
    fabric_run(f, body, &a);
    for (int i = 0; i < PROCS; i++) {
        assert_int_equal(atomic_load(&a.exclusive[i]), 0);
        assert_int_equal(atomic_load(&a.others[i]), 0);
    }
    assert_true(atomic_load(&a.exclusives) > 0);
    fabric_free(f);
}

static void on_all_mixes(const struct fabric_opts *opts)
{
    arena(random_body, opts, 30, 40);
    arena(random_body, opts, 70, 30);
    arena(random_body, opts, 15, 85);
}

static void test_mapped(void **state)
{
    (void)state;
    on_all_mixes(&(struct fabric_opts){.nproc = PROCS});
    on_all_mixes(&(struct fabric_opts){.nproc = PROCS, .cpus = 64});
}

static void test_assisted(void **state)
{
    (void)state;
    on_all_mixes(&(struct fabric_opts){.nproc = PROCS, .path = CONF_PATH_ASSISTED});
}

static void test_packets(void **state)
{
    (void)state;
    on_all_mixes(&(struct fabric_opts){.nproc = PROCS, .path = CONF_PATH_SHM_PACKETS});
    on_all_mixes(&(struct fabric_opts){
        .nproc = PROCS, .path = CONF_PATH_SHM_PACKETS, .progress = CONF_PROGRESS_POLL});
}

/* Two nodes of two: requests of memory peers and by packet at the same lock word. */
static void test_both(void **state)
{
    (void)state;
    on_all_mixes(&(struct fabric_opts){.nproc = PROCS, .per_node = 2});
    on_all_mixes(&(struct fabric_opts){
        .nproc = PROCS, .per_node = 2, .refuse_percent = 20, .delay_percent = 20});
}

static void test_nobody_starves(void **state)
{
    (void)state;
    for (int nodes = 0; nodes < 2; nodes++) {
        const struct fabric_opts opts = {.nproc = PROCS, .per_node = nodes ? 2 : 0};
        arena(starving_body, &opts, 60, 40);
        arena(starving_body, &opts, 40, 60);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapped),         cmocka_unit_test(test_assisted),
        cmocka_unit_test(test_packets),        cmocka_unit_test(test_both),
        cmocka_unit_test(test_nobody_starves),
    };
    fabric_watchdog(200);
    return cmocka_run_group_tests_name("lock_mixes", tests, NULL, NULL);
}
