/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_acc_atomic.c - single instructions against the kernels, and the protocol of
 * acc_atomic.h: which accumulates close a window's ATOMIC mode, that closing waits
 * for instructions under way, and that no update is lost while it happens.
 *
 * The races are run on a fresh window each, since a mode changes once: processes
 * count with instructions on the elements that others add to in one long accumulate
 * under the locks, some by the short cut of the entry points (rma/layer/fast.h). Every variant runs
 * with and without membarrier.
 */
#include <sched.h>

#include "base/err.h"
#include "test/support/base_helper.h"
#include "test/support/acc_atomic_helper.h"
#include "rma/layer/fast.h"

/* ---- elements ---- */

static bool is_fitting(enum acc_type type)
{
    for (unsigned i = 0; i < NFITTING; i++)
        if (fitting[i] == type)
            return true;
    return false;
}

static void test_elements(void **state)
{
    (void)state;
    uint64_t seed = 4711;
    unsigned pairs = 0;
    for (unsigned i = 0; i < NFITTING; i++) {
        const enum acc_type type = fitting[i];
        const size_t unit = acc_extent(type);
        for (enum acc_op op = ACC_SUM; op < ACC_OP_LAST; op++) {
            if (!acc_allowed(op, type))
                continue;
            pairs++;
            for (int n = 0; n < 200; n++) {
                alignas(8) unsigned char target[24], expected[24], before[8], origin[9], old[10];
                memset(target, 0xa5, sizeof target);
                memset(old, 0x5a, sizeof old);
                random_element(type, target + 8, &seed);
                random_element(type, origin + 1, &seed);
                memcpy(before, target + 8, unit);
                memcpy(expected, target, sizeof target);
                acc_apply(op, type, expected + 8, origin + 1, 1);
                acc_atomic_elements(op, type, target + 8, op == ACC_NO_OP ? NULL : origin + 1,
                                    n % 2 ? old + 1 : NULL, unit);
                assert_memory_equal(target, expected, sizeof target);
                if (n % 2)
                    assert_memory_equal(old + 1, before, unit);
                assert_int_equal(old[0], 0x5a);
                assert_int_equal(old[1 + unit], 0x5a);
            }
        }
    }
    assert_int_equal(pairs, 8 * 12 + 2 * 6 + 5 * 5 + 5 + 2 + 2);
}

/* The inline forms of the entry points, with buffers that are not aligned. */
static void test_words(void **state)
{
    static const enum acc_op ops[] = {ACC_SUM, ACC_REPLACE, ACC_NO_OP};
    uint64_t seed = 31, word, expected, value;
    unsigned char origin[9], old[9];
    (void)state;
    for (int i = 0; i < 600; i++) {
        const uint64_t before = word = expected = next_random(&seed);
        value = next_random(&seed);
        memcpy(origin + 1, &value, 8);
        if (i % 4 < 3) {
            acc_apply(ops[i % 4], ACC_U64, &expected, &value, 1);
            acc_atomic_word(ops[i % 4], &word, ops[i % 4] == ACC_NO_OP ? NULL : origin + 1,
                            old + 1);
        } else {
            unsigned char compare[9];
            const uint64_t guess = i % 8 == 3 ? before : before ^ UINT64_C(1) << 63;
            memcpy(compare + 1, &guess, 8);
            expected = guess == before ? value : before;
            acc_atomic_cas_word(&word, compare + 1, origin + 1, old + 1);
        }
        assert_true(word == expected);
        assert_memory_equal(old + 1, &before, 8);
    }
}

/* The kernel's bits, also of what is no number, and what was there. */
static void test_sum_of_a_double(void **state)
{
    static const double some[] = {0.0, -0.0, 1.5, -1.5, 1e308, 5e-324, 1.0 / 3, -1e-300};
    unsigned char origin[9], old[9];
    (void)state;
    for (unsigned i = 0; i < 8; i++)
        for (unsigned k = 0; k < 8; k++) {
            acc_word word, before, expected;
            memcpy(&before, &some[i], 8);
            memcpy(origin + 1, &some[k], 8);
            word = expected = before;
            acc_apply(ACC_SUM, ACC_F64, &expected, origin + 1, 1);
            acc_atomic_sum_f64(&word, origin + 1, old + 1);
            assert_true(word == expected);
            assert_memory_equal(old + 1, &before, 8);
            acc_apply(ACC_SUM, ACC_F64, &expected, origin + 1, 1);
            acc_atomic_sum_f64(&word, origin + 1, NULL);
            assert_true(word == expected);
        }
}

static void test_fits(void **state)
{
    (void)state;
    alignas(8) char mem[64];
    for (int type = ACC_NONE; type < ACC_TYPE_LAST; type++) {
        const size_t unit = acc_extent((enum acc_type)type);
        const bool fit = is_fitting((enum acc_type)type);
        assert_int_equal(acc_atomic_fits((enum acc_type)type, mem, unit ? unit : 1), fit);
        assert_int_equal(acc_atomic_fits((enum acc_type)type, mem, unit ? 4 * unit : 1), fit);
        assert_false(acc_atomic_fits((enum acc_type)type, mem, unit ? 5 * unit : 1));
        for (size_t off = 1; fit && off < unit; off++)
            assert_false(acc_atomic_fits((enum acc_type)type, mem + off, unit));
    }
}

/* ---- what closes the mode ---- */

static void make_window(struct fabric_proc *p, void *arg)
{
    static char plain[2][1024]; /* not mapped: kernel-assisted */
    const bool assisted = arg != NULL;
    p->user = fabric_win(p, assisted ? WIN_CREATE : WIN_ALLOCATE, assisted ? plain[p->rank] : NULL,
                         1024, 1);
    FABRIC_CHECK(rma_lock_all(p->user, 0) == MRMA_SUCCESS);
}

static void drop_window(struct fabric_proc *p, void *arg)
{
    (void)arg;
    FABRIC_CHECK(rma_unlock_all(p->user) == MRMA_SUCCESS);
    fabric_win_free(p->user);
}

/* The target's mode after one call by process 0, which one thread makes. */
static unsigned mode_after(const struct fabric_opts *opts, bool assisted, int target,
                           const struct call *c)
{
    struct fabric *f = fabric_new(opts);
    fabric_run(f, make_window, assisted ? f : NULL);
    struct win *w = f->procs[0].user, *other = f->procs[1].user;
    assert_int_equal(other->ctl->acc_mode, ACC_MODE_ATOMIC);
    assert_int_equal(do_call(w, target, c), MRMA_SUCCESS);
    assert_int_equal(rma_flush(w, target, false), MRMA_SUCCESS);
    const unsigned mode = f->procs[target].rma.wins[0]->ctl->acc_mode;
    assert_int_equal(w->ctl->acc_busy, 0);
    assert_int_equal(do_call(w, target, c), MRMA_SUCCESS); /* whichever way it goes now */
    assert_int_equal(rma_flush(w, target, false), MRMA_SUCCESS);
    fabric_run(f, drop_window, NULL);
    fabric_free(f);
    return mode;
}

static void test_who_closes(void **state)
{
    static const struct call keep[] = {
        {ACC_SUM, ACC_I64, 1, 8, false},         {ACC_SUM, ACC_F64, 4, 0, false},
        {ACC_NO_OP, ACC_I32, 1, 4, false},       {ACC_REPLACE, ACC_I16, 2, 2, false},
        {ACC_LXOR, ACC_BOOL, 1, 7, false},       {ACC_OP_NONE, ACC_I64, 1, 16, true},
        {ACC_OP_NONE, ACC_LOGICAL8, 1, 5, true},
    };
    static const struct call closing[] = {
        {ACC_SUM, ACC_I64, 5, 8, false},    {ACC_SUM, ACC_I64, 1, 4, false},
        {ACC_NO_OP, ACC_F32, 1, 3, false},  {ACC_MAXLOC, ACC_PAIR_I32_I32, 1, 8, false},
        {ACC_SUM, ACC_C32, 1, 8, false},    {ACC_SUM, ACC_F80, 1, 16, false},
        {ACC_OP_NONE, ACC_I32, 1, 6, true},
    };
    const struct fabric_opts plain = {.nproc = 2}, threads = {.nproc = 2, .threads = true};
    const struct fabric_opts packets = {
        .nproc = 2, .path = CONF_PATH_SHM_PACKETS, .progress = CONF_PROGRESS_AGENT};
    (void)state;
    for (int target = 0; target < 2; target++) {
        for (unsigned i = 0; i < sizeof keep / sizeof keep[0]; i++)
            assert_int_equal(mode_after(&plain, false, target, &keep[i]), ACC_MODE_ATOMIC);
        for (unsigned i = 0; i < sizeof closing / sizeof closing[0]; i++)
            assert_int_equal(mode_after(&plain, false, target, &closing[i]), ACC_MODE_LOCKED);
        assert_int_equal(mode_after(&threads, false, target, &keep[0]), ACC_MODE_LOCKED);
    }
    assert_int_equal(mode_after(&plain, true, 0, &keep[0]), ACC_MODE_ATOMIC); /* own memory */
    assert_int_equal(mode_after(&plain, true, 1, &keep[0]), ACC_MODE_LOCKED);
    assert_int_equal(mode_after(&plain, true, 1, &keep[5]), ACC_MODE_LOCKED);
    assert_int_equal(mode_after(&packets, false, 1, &keep[0]), ACC_MODE_LOCKED);
}

/* ---- waiting for those who are busy ---- */

struct closer {
    struct win *win;
    int err;
    _Atomic bool done;
};

static void *close_mode(void *arg)
{
    struct closer *c = arg;
    c->err = do_call(c->win, 1, &(struct call){ACC_SUM, ACC_I64, 16, 0, false});
    atomic_store(&c->done, true);
    return NULL;
}

/* An accumulate that came by packet is done under the engine's lock. */
static void close_for_a_packet(struct rma *r, struct win *w)
{
    atomic_store(&r->concurrent, true);
    rma_enter(r);
    assert_int_equal(acc_close(w, w->ctl, true), MRMA_ERR_PROC_FAILED);
    rma_leave(r);
    atomic_store(&r->concurrent, false);
}

/* Process 2 is inside; 0 must wait for it, and so must whoever finds it closing. */
static void busy_case(bool dies)
{
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = 3, .quiet = dies});
    pthread_t threads[2];
    fabric_run(f, make_window, NULL);
    struct win *w[3] = {f->procs[0].user, f->procs[1].user, f->procs[2].user};
    struct closer c[2] = {{.win = w[0]}, {.win = w[1]}};
    atomic_store(&w[2]->ctl->acc_busy, 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, close_mode, &c[i]), 0);
    usleep(50000);
    assert_false(atomic_load(&c[0].done));
    assert_false(atomic_load(&c[1].done));
    assert_int_equal(w[1]->ctl->acc_mode, ACC_MODE_CLOSING);
    if (dies)
        atomic_store(&f->procs[2].dead, true);
    else
        atomic_store(&w[2]->ctl->acc_busy, 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(c[i].err, dies ? MRMA_ERR_PROC_FAILED : MRMA_SUCCESS);
    }
    assert_int_equal(w[1]->ctl->acc_mode, dies ? ACC_MODE_CLOSING : ACC_MODE_LOCKED);
    if (dies)
        close_for_a_packet(&f->procs[1].rma, w[1]);
    atomic_store(&f->procs[2].dead, false);
    atomic_store(&w[2]->ctl->acc_busy, 0);
    fabric_run(f, drop_window, NULL);
    fabric_free(f);
}

static void test_busy_is_waited_for(void **state)
{
    (void)state;
    busy_case(false);
}

static void test_busy_and_dead(void **state)
{
    (void)state;
    busy_case(true);
}

/* ---- nothing lands after closing ---- */

enum { CLOSINGS = 30000 };

struct closing {
    _Atomic int go, stopped;
};

static void await(_Atomic int *word, int value)
{
    for (unsigned i = 0; atomic_load_explicit(word, memory_order_acquire) != value; i++)
        if (i % 1024 == 1023)
            sched_yield();
}

/* Process 1 counts in process 0's word until it is refused; 0 closes at a random
 * moment: from then on the word does not move. The mode is opened again for the
 * next round, which only a test may do. */
static void closing_body(struct fabric_proc *p, void *arg)
{
    struct closing *c = arg;
    const int64_t one = 1;
    const struct dtype type = dtype_basic(ACC_I64);
    const struct rma_op op = {
        .oaddr = &one, .ocount = 1, .otype = &type, .tcount = 1, .ttype = &type, .op = ACC_SUM};
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 8, 1);
    struct win_ctl *ctl = win_peek(w, 0)->ctl;
    _Atomic int64_t *word = (_Atomic int64_t *)(void *)win_peek(w, 0)->base;
    uint64_t seed = 99;
    FABRIC_CHECK(w->acc_way ==
                 (p->fabric->opts.no_membarrier ? ACC_WAY_FENCE : ACC_WAY_MEMBARRIER));
    for (int round = 1; round <= CLOSINGS; round++) {
        if (p->rank == 1) {
            await(&c->go, round);
            while (acc_atomic(w, ctl, win_peek(w, 0)->base, &op, false, 8))
                ;
            atomic_store_explicit(&c->stopped, round, memory_order_release);
            continue;
        }
        atomic_store_explicit(&ctl->acc_mode, ACC_MODE_ATOMIC, memory_order_relaxed);
        atomic_store_explicit(&c->go, round, memory_order_release);
        for (uint64_t i = next_random(&seed) % 256; i; i--)
            cpu_relax();
        FABRIC_CHECK(acc_close(w, ctl, false) == MRMA_SUCCESS);
        const int64_t seen = atomic_load_explicit(word, memory_order_relaxed);
        for (int i = 0; i < 20; i++) {
            cpu_relax();
            FABRIC_CHECK(atomic_load_explicit(word, memory_order_relaxed) == seen);
        }
        await(&c->stopped, round);
        FABRIC_CHECK(atomic_load_explicit(word, memory_order_relaxed) == seen);
    }
    fabric_win_free(w);
}

static void run_closings(bool no_membarrier)
{
    struct closing c = {0};
    struct fabric *f =
        fabric_new(&(struct fabric_opts){.nproc = 2, .no_membarrier = no_membarrier, .cpus = 2});
    fabric_run(f, closing_body, &c);
    fabric_free(f);
}

/* ---- races ---- */

enum { ELEMENTS = 8, SINGLES = 60, ROUNDS = 1500 };

struct race {
    int rounds;
    bool assisted; /* the target counts in its own memory, others come through the kernel */
};

static void add(struct win *w, enum acc_type basic, size_t disp, size_t n, bool fetch)
{
    static const int64_t ones[ELEMENTS] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const double reals[ELEMENTS] = {1, 1, 1, 1, 1, 1, 1, 1};
    int64_t old[ELEMENTS];
    if (n == 1 && basic == ACC_I64 && fetch && disp % 16 &&
        fast_fetch_op(w, ACC_SUM, ones, old, 0, (int64_t)disp))
        return;
    const struct dtype type = dtype_basic((uint8_t)basic);
    if ((disp % 16 || n > 1) &&
        fast_acc(w, ACC_SUM, &type, n, basic == ACC_F64 ? (const void *)reals : ones,
                 fetch ? old : NULL, 0, (int64_t)disp, 8 * n))
        return;
    const struct rma_op op = {.oaddr = basic == ACC_F64 ? (const void *)reals : ones,
                              .ocount = n,
                              .otype = &type,
                              .raddr = old,
                              .rcount = n,
                              .rtype = &type,
                              .target = 0,
                              .disp = (int64_t)disp,
                              .tcount = n,
                              .ttype = &type,
                              .op = ACC_SUM};
    FABRIC_CHECK((fetch ? rma_get_accumulate(w, &op) : rma_accumulate(w, &op)) == MRMA_SUCCESS);
    FABRIC_CHECK(rma_flush(w, 0, false) == MRMA_SUCCESS); /* it may have gone by packet */
}

/* One more by compare-and-swap. */
static void count_up(struct win *w, size_t disp)
{
    const struct dtype type = dtype_basic(ACC_I64);
    int64_t seen = 0, next = 1, old;
    for (;;) {
        const struct rma_op op = {.oaddr = &next,
                                  .caddr = &seen,
                                  .raddr = &old,
                                  .target = 0,
                                  .disp = (int64_t)disp,
                                  .tcount = 1,
                                  .ttype = &type};
        if (disp % 16 || !fast_cas(w, &next, &seen, &old, 0, (int64_t)disp))
            FABRIC_CHECK(rma_compare_and_swap(w, &op) == MRMA_SUCCESS &&
                         rma_flush(w, 0, false) == MRMA_SUCCESS);
        if (old == seen)
            return;
        seen = old;
        next = seen + 1;
    }
}

/* 8 integers, then 8 doubles; each process adds SINGLES ones here and there and, at
 * a random moment, one to all of them at once. */
static void race_body(struct fabric_proc *p, void *arg)
{
    const struct race *race = arg;
    alignas(8) static int64_t plain[FABRIC_MAX][2 * ELEMENTS];
    uint64_t seed = (uint64_t)p->rank * 977 + 13;
    for (int round = 0; round < race->rounds; round++) {
        memset(plain[p->rank], 0, sizeof plain[0]);
        struct win *w = fabric_win(p, race->assisted ? WIN_CREATE : WIN_ALLOCATE,
                                   race->assisted ? plain[p->rank] : NULL, sizeof plain[0], 1);
        FABRIC_CHECK(rma_lock_all(w, 0) == MRMA_SUCCESS);
        fabric_barrier(p);
        const uint64_t when = next_random(&seed) % SINGLES;
        for (uint64_t i = 0; i < SINGLES; i++) {
            const size_t at = 8 * (next_random(&seed) % (2 * ELEMENTS));
            if (i == when) {
                add(w, ACC_I64, 0, ELEMENTS, true);
                add(w, ACC_F64, 8 * ELEMENTS, ELEMENTS, false);
            }
            if (at >= 8 * ELEMENTS)
                add(w, ACC_F64, at, 1, i % 2);
            else if (i % 3)
                add(w, ACC_I64, at, 1, i % 2);
            else
                count_up(w, at);
        }
        FABRIC_CHECK(rma_unlock_all(w) == MRMA_SUCCESS);
        fabric_barrier(p);
        if (p->rank == 0) {
            const int64_t *ints = w->base;
            const double *reals = (const double *)(const void *)(ints + ELEMENTS);
            int64_t sum = 0;
            for (int i = 0; i < ELEMENTS; i++)
                sum += ints[i] + (int64_t)reals[i];
            FABRIC_CHECK(sum == (int64_t)p->fabric->opts.nproc * (SINGLES + 2 * ELEMENTS));
            FABRIC_CHECK(w->ctl->acc_mode == ACC_MODE_LOCKED);
        }
        fabric_win_free(w);
    }
}

static void run_race(int nproc, bool no_membarrier, bool assisted)
{
    struct race race = {.rounds = ROUNDS, .assisted = assisted};
    struct fabric *f = fabric_new(
        &(struct fabric_opts){.nproc = nproc, .no_membarrier = no_membarrier, .cpus = 2});
    fabric_run(f, race_body, &race);
    fabric_free(f);
}

static void test_race_fence(void **state)
{
    (void)state;
    run_closings(true);
    run_race(2, true, false);
    run_race(3, true, false);
}

static void test_race_membarrier(void **state)
{
    (void)state;
    if (!event_membarrier_register()) {
        print_message("# skipped: this system has no membarrier\n");
        skip();
    }
    run_closings(false);
    run_race(2, false, false);
    run_race(3, false, false);
}

static void test_race_kernel(void **state)
{
    (void)state;
    run_race(2, false, true);
    run_race(2, true, true);
}

static int all_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements),        cmocka_unit_test(test_words),
        cmocka_unit_test(test_sum_of_a_double), cmocka_unit_test(test_fits),
        cmocka_unit_test(test_who_closes),      cmocka_unit_test(test_busy_is_waited_for),
        cmocka_unit_test(test_busy_and_dead),   cmocka_unit_test(test_race_fence),
        cmocka_unit_test(test_race_membarrier), cmocka_unit_test(test_race_kernel),
    };
    fabric_watchdog(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return run_with_skips(all_tests);
}
