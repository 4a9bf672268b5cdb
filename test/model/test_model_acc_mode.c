/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model_acc_mode.c - rma/path/acc_atomic.h in every order: no accumulate by instructions is
 * under way when one under a stripe lock begins, on the same window (steps A to F there).
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "model.h"

#include <cmocka.h>

#include "rma/win/win.h"

static struct rma_target *model_peek(const struct win *w, int rank);
#define win_peek model_peek
#define rma_backoff(rma, round) ((void)(rma), (void)(round), model_pause())
#include "rma/path/acc_atomic.c"
#include "sys/futex_event.c"

#include "explore.h"

enum { RANKS = 2, OWNER = 0 };

static struct rma rma;
static struct rma_env env;
static struct polling polling;
static struct rma_peer peer[RANKS];
static struct rma_target target[RANKS];
static struct win_ctl ctl[RANKS];
static struct win win[RANKS]; /* as each of the two processes sees it */
static int direct[RANKS] = {0, 1};
static bool membarrier;
static _Atomic uint32_t by_instruction, under_lock;

static struct rma_target *model_peek(const struct win *w, int rank)
{
    (void)w;
    return &target[rank];
}

static bool alive(void *ctx, struct rma_peer *p)
{
    (void)ctx;
    (void)p;
    return true;
}

static void setup(void)
{
    memset(ctl, 0, sizeof ctl);
    memset(&polling, 0, sizeof polling);
    atomic_store_explicit(&polling.threads.membarrier, membarrier, memory_order_relaxed);
    env = (struct rma_env){.polling = &polling, .peer_alive = alive};
    rma.env = &env;
    for (int i = 0; i < RANKS; i++) {
        target[i].ctl = &ctl[i];
        target[i].peer = &peer[i];
        win[i].rma = &rma;
        win[i].ctl = &ctl[i];
        win[i].memory_ranks = direct;
        win[i].nmemory = RANKS;
        win[i].acc_way = (uint8_t)acc_atomic_way(&win[i]);
    }
    atomic_store_explicit(&by_instruction, 0, memory_order_relaxed);
    atomic_store_explicit(&under_lock, 0, memory_order_relaxed);
}

/* What follows only says that it is under way, at once for everybody to see. */
static void accumulate(struct win *w)
{
    if (!acc_atomic_enter(w, &ctl[OWNER]))
        return;
    atomic_store_explicit(&by_instruction, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&under_lock, memory_order_seq_cst))
        model_fail("an instruction beside a stripe lock");
    atomic_store_explicit(&by_instruction, 0, memory_order_seq_cst);
    acc_atomic_leave(w);
}

static void by_instructions(void)
{
    accumulate(&win[1]);
    accumulate(&win[1]);
}

static void locked(struct win *w)
{
    if (acc_lock_mode(w, &ctl[OWNER], true))
        model_fail("the window cannot be closed");
    atomic_fetch_add_explicit(&under_lock, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&by_instruction, memory_order_seq_cst))
        model_fail("a stripe lock beside an instruction");
    atomic_fetch_sub_explicit(&under_lock, 1, memory_order_seq_cst);
}

static void by_locks(void)
{
    locked(&win[0]);
}

static void test_change(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        membarrier = form;
        explore(&(struct model_scenario){.setup = setup,
                                         .thread = {by_instructions, by_locks},
                                         .deviations = 4,
                                         .no_membarrier = !membarrier});
    }
}

static void test_two_changes(void **state)
{
    (void)state;
    membarrier = true;
    explore(&(struct model_scenario){
        .setup = setup, .thread = {by_instructions, by_locks, by_locks}, .deviations = 2});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_change),
    cmocka_unit_test(test_two_changes),
};
MODEL_MAIN(tests)
