/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_model_barrier.c - the barrier in which processes count their arrivals (rma/sync/barrier.c)
 * with the puts that wait in stages for it (rma/path/fence_stage.c), in every order: when a process
 * leaves the barrier all puts of the phase are in place, wherever it looks, and nothing is stored
 * any more into memory whose owner has left.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "model.h"

#include <cmocka.h>

#include "base/copy.h"
#include "rma/win/sync_ops.h"
#include "rma/win/win.h"

static struct rma_target *model_peek(const struct win *w, int rank);
static void model_copy(void *to, const void *from, size_t len);
#define win_peek model_peek
#define copy_whole model_copy
#define rma_wait_until model_wait_until
#include "rma/path/fence_stage.c"
#include "rma/sync/barrier.c"
#include "sys/futex_event.c"

#include "explore.h"

enum { RANKS = 3, TARGET = 0, ORIGIN, THIRD, ROUNDS = 1 };
enum { BEFORE = 1, PUT, AFTER };

/* Each process maps all: what is one's own lies at the same place for the others. */
static struct rma rma;
static struct rma_env env;
static struct conf conf;
static struct polling polling;
static struct rma_peer peer[RANKS];
static struct rma_target target[RANKS];
static struct {
    alignas(MRMA_CACHE_LINE) struct win_ctl ctl;
    alignas(MRMA_CACHE_LINE) struct fence_stage stage;
} block[RANKS];
static struct win win[RANKS];
static int ranks[RANKS] = {TARGET, ORIGIN, THIRD};
static uint64_t cells[ROUNDS];

static struct rma_target *model_peek(const struct win *w, int rank)
{
    (void)w;
    return &target[rank];
}

/* Others may go on before the copy, as before an access to an atomic. */
static void model_copy(void *to, const void *from, size_t len)
{
    static _Atomic uint32_t copies;
    (void)atomic_load_explicit(&copies, memory_order_relaxed);
    memcpy(to, from, len);
}

int model_wait_until(struct win *w, const struct rma_wait *wait)
{
    (void)w;
    while (!wait->done(wait->arg))
        model_pause();
    return MRMA_SUCCESS;
}

/* As in sync/by_memory.c, but that all words begin at 0. */
static bool accessible(const struct win *w, const struct rma_target *t)
{
    return seq_reached(atomic_load_explicit(&t->ctl->exposed, memory_order_acquire), w->phase);
}

static const struct sync_ops sync_ops = {.accessible = accessible};

static void setup(void)
{
    memset(block, 0, sizeof block);
    memset(cells, 0, sizeof cells);
    memset(&polling, 0, sizeof polling);
    env = (struct rma_env){.polling = &polling};
    rma.env = &env;
    rma.conf = &conf;
    for (int i = 0; i < RANKS; i++) {
        peer[i].polling = &polling;
        target[i] = (struct rma_target){.rank = i, .peer = &peer[i], .path = PATH_MAPPED};
        target[i].ctl = &block[i].ctl;
        target[i].base = (char *)cells;
        target[i].size = sizeof cells;
        atomic_init(&target[i].sync_ops, &sync_ops);
        fence_stage_init(&block[i].ctl, offsetof(__typeof__(block[0]), stage), true);
        memset(&win[i], 0, sizeof win[i]);
        win[i].rma = &rma;
        win[i].ctl = &block[i].ctl;
        win[i].lead = &block[0].ctl;
        win[i].memory_ranks = ranks;
        win[i].nmemory = RANKS;
        win[i].memory_me = i;
        win[i].counts_arrivals = true;
    }
}

static void meet(int rank)
{
    if (barrier_node(&win[rank]) != MRMA_SUCCESS)
        model_fail("the barrier returns an error");
}

static void is(uint64_t a, uint64_t b, const char *else_what)
{
    if (a != b)
        model_fail(else_what);
}

static void the_target(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        cells[i] = BEFORE;
        atomic_store_explicit(&block[TARGET].ctl.exposed, ++win[TARGET].phase,
                              memory_order_release);
        meet(TARGET);
        is(cells[i], PUT, "the target misses a put");
        meet(TARGET); /* all have looked */
        cells[i] = AFTER;
    }
}

static void the_origin(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint64_t value = PUT, offset = i * sizeof value;
        win[ORIGIN].phase++;
        if (!fence_stage_put(&win[ORIGIN], &target[TARGET], &value, offset, sizeof value))
            cells[i] = value;
        meet(ORIGIN);
        is(cells[i], PUT, "the origin does not find its own put");
        meet(ORIGIN);
    }
}

static void a_third(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        meet(THIRD);
        is(cells[i], PUT, "a third process misses a put");
        meet(THIRD);
    }
}

static void check(void)
{
    for (int i = 0; i < ROUNDS; i++)
        is(cells[i], AFTER, "a put came after the target had left its fence");
}

static void test_staged(void **state)
{
    (void)state;
    explore(&(struct model_scenario){.setup = setup,
                                     .thread = {the_target, the_origin, a_third},
                                     .check = check,
                                     .deviations = 1});
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_staged)};
MODEL_MAIN(tests)
