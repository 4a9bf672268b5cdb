/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_fast_acc.c - the short cut of accumulates in the entry points (rma/layer/fast.h): what it
 * leaves to the general way in each mode, and its results against the kernels. Its races:
 * test_acc_atomic.c.
 */
#include "test/support/base_helper.h"
#include "test/support/acc_atomic_helper.h"
#include "rma/layer/fast.h"

enum { GRANULE = 1 << RMA_STRIPE_SHIFT, ROOM = 3 * GRANULE };

static bool short_cut(struct win *w, enum acc_op op, enum acc_type basic, size_t n, void *old,
                      size_t disp)
{
    static unsigned char
        origin[ROOM]; /* sums of zeros of every type but pairs: only who does what is asked */
    const struct dtype type = dtype_basic((uint8_t)basic);
    return fast_acc(w, op, &type, n, origin, old, 1, (int64_t)disp, n * type.size);
}

static void make_room(struct fabric_proc *p, void *arg)
{
    (void)arg;
    p->user = fabric_win(p, WIN_ALLOCATE, NULL, ROOM, 1);
    if (p->rank == 0)
        FABRIC_CHECK(rma_lock_all(p->user, 0) == MRMA_SUCCESS);
}

static void drop_room(struct fabric_proc *p, void *arg)
{
    (void)arg;
    if (p->rank == 0)
        FABRIC_CHECK(rma_unlock_all(p->user) == MRMA_SUCCESS);
    fabric_win_free(p->user);
}

/* What it leaves to the general way, in each mode. It never changes the mode. */
static void test_short_cut_refuses(void **state)
{
    static const enum acc_mode modes[] = {ACC_MODE_ATOMIC, ACC_MODE_CLOSING, ACC_MODE_LOCKED};
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = 2});
    uint64_t old[8];
    (void)state;
    fabric_run(f, make_room, NULL);
    struct win *w = f->procs[0].user;
    struct win_ctl *ctl = win_peek(w, 1)->ctl;
    assert_false(short_cut(w, ACC_SUM, ACC_F64, 1, NULL, 0)); /* never accessed in this epoch */
    assert_int_equal(do_call(w, 1, &(struct call){ACC_NO_OP, ACC_I64, 1, 0, false}), MRMA_SUCCESS);
    for (int i = 0; i < 3; i++) {
        const bool atomic = modes[i] == ACC_MODE_ATOMIC && w->acc_way == ACC_WAY_MEMBARRIER;
        const bool locked = modes[i] == ACC_MODE_LOCKED;
        const uint64_t done = w->rma->stats.paths.ops[STATS_MAPPED];
        atomic_store(&ctl->acc_mode, modes[i]);
        assert_int_equal(short_cut(w, ACC_SUM, ACC_F64, 1, NULL, 8), atomic || locked);
        assert_int_equal(short_cut(w, ACC_SUM, ACC_I32, 4, old, 16), atomic || locked);
        assert_int_equal(short_cut(w, ACC_NO_OP, ACC_I64, 1, old, 16), atomic || locked);
        assert_int_equal(short_cut(w, ACC_SUM, ACC_F64, 1, NULL, ROOM - 8), atomic || locked);
        assert_int_equal(short_cut(w, ACC_SUM, ACC_F64, 5, NULL, 8), locked);
        assert_int_equal(short_cut(w, ACC_SUM, ACC_F64, 1, NULL, 4), locked);
        assert_int_equal(short_cut(w, ACC_SUM, ACC_C64, 1, NULL, 16), locked);
        assert_int_equal(short_cut(w, ACC_NO_OP, ACC_F80, 2, old, 16), locked);
        assert_int_equal(w->rma->stats.paths.ops[STATS_MAPPED] - done, atomic ? 4 : locked ? 8 : 0);
        assert_false(short_cut(w, ACC_SUM, ACC_F64, 0, NULL, 8));
        assert_false(short_cut(w, ACC_SUM, ACC_F64, 1, NULL, ROOM - 7));
        assert_false(short_cut(w, ACC_SUM, ACC_F64, 1, NULL, ROOM + 1));
        assert_false(short_cut(w, ACC_SUM, ACC_F64, 2, NULL, ROOM - 8));
        assert_false(short_cut(w, ACC_LAND, ACC_F64, 1, NULL, 8));
        assert_false(short_cut(w, ACC_SUM, ACC_WCHAR, 1, NULL, 8));
        assert_false(short_cut(w, ACC_OP_NONE, ACC_F64, 1, NULL, 8));
        assert_false(short_cut(w, ACC_SUM, ACC_NONE, 1, NULL, 8));
        assert_int_equal(atomic_load(&ctl->acc_mode), modes[i]);
        assert_int_equal(w->ctl->acc_busy, 0);
    }
    fabric_run(f, drop_room, NULL);
    fabric_free(f);
}

/* Against the kernels on a copy: some elements, or many, over granules and at any byte. */
static void test_short_cut_results(void **state)
{
    static unsigned char expected[ROOM], origin[ROOM], old[ROOM], before[ROOM];
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = 2});
    uint64_t seed = 12;
    (void)state;
    fabric_run(f, make_room, NULL);
    struct win *w = f->procs[0].user;
    assert_int_equal(do_call(w, 1, &(struct call){ACC_SUM, ACC_I64, 5, 0, false}),
                     MRMA_SUCCESS); /* LOCKED */
    unsigned char *mem = (unsigned char *)win_peek(w, 1)->base;
    for (int i = 0; i < 20000; i++) {
        const enum acc_type basic = fitting[next_random(&seed) % NFITTING];
        const enum acc_op op =
            (enum acc_op)(ACC_SUM + next_random(&seed) % (ACC_OP_LAST - ACC_SUM));
        const struct dtype type = dtype_basic((uint8_t)basic);
        const size_t most = next_random(&seed) % 8 ? 40 : GRANULE + 100,
                     n = 1 + next_random(&seed) % (most / type.size);
        const size_t len = n * type.size, disp = next_random(&seed) % (ROOM - len);
        const bool fetch = op == ACC_NO_OP || next_random(&seed) % 2;
        for (size_t k = 0; k < n; k++) {
            random_element(basic, origin + k * type.size, &seed);
            random_element(basic, mem + disp + k * type.size, &seed);
        }
        memcpy(expected, mem, ROOM);
        memset(old, 0x77, ROOM);
        memset(before, 0x77, ROOM);
        memcpy(before, mem + disp, len);
        const bool allowed = acc_allowed(op, basic);
        if (allowed)
            acc_apply(op, basic, expected + disp, origin, n);
        assert_int_equal(fast_acc(w, op, &type, n, op == ACC_NO_OP ? NULL : origin,
                                  fetch ? old : NULL, 1, (int64_t)disp, len),
                         allowed);
        assert_memory_equal(mem, expected, ROOM);
        if (fetch && allowed)
            assert_memory_equal(old, before, ROOM);
    }
    for (int i = 0; i < RMA_STRIPES; i++)
        assert_int_equal(atomic_load(&f->procs[1].env.stripes.at[i].word), 0);
    fabric_run(f, drop_room, NULL);
    fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_short_cut_refuses),
                                       cmocka_unit_test(test_short_cut_results)};
    fabric_watchdog(300);
    return cmocka_run_group_tests_name("fast_acc", tests, NULL, NULL);
}
