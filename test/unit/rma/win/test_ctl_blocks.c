/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ctl_blocks.c - control blocks stay control blocks: reused for windows that fit,
 * never given to anybody else, and news of a lost peer that comes for the window
 * before is not taken for news of this one.
 */
#include "test/support/pkt_helper.h"

#include "rma/win/ctl_blocks.h"
#include "rma/progress/lost.h"
#include "rma/create/win_create.h"

enum { PROCS = 3, SIZE = 64 };

static void run(void (*body)(struct fabric_proc *p, void *arg))
{
    atomic_store(&pkt_arrived, 0);
    fabric_watchdog(60);
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = PROCS, .quiet = true});
    fabric_run(f, body, NULL);
    fabric_free(f);
    fabric_watchdog(0);
}

/* A window of this process alone. */
static struct win *own_window(struct fabric_proc *p, struct fabric_comm *comm, struct boot *boot)
{
    struct win *w;
    fabric_comm_boot(comm, 0, boot);
    const struct win_spec spec = {.flavor = WIN_ALLOCATE,
                                  .size = SIZE,
                                  .disp_unit = 1,
                                  .hints = win_hints_default(),
                                  .boot = boot};
    OK(win_create(&p->rma, &spec, &w));
    return w;
}

static void reuse(struct fabric_proc *p, void *arg)
{
    struct rma *r = &p->rma;
    struct win_ctl *small, *large, *again, *third;
    (void)arg;
    OK(ctl_blocks_take(r, 1000, &small));
    OK(ctl_blocks_take(r, 5000, &large));
    ctl_blocks_give(r, large);
    ctl_blocks_give(r, small);
    void *other = fabric_mem_alloc(p, 1000);
    FABRIC_CHECK(other != (void *)small && other != (void *)large);
    OK(ctl_blocks_take(r, 900, &again));
    FABRIC_CHECK(again == small);
    OK(ctl_blocks_take(r, 900, &third)); /* the larger one serves as well */
    FABRIC_CHECK(third == large);
    ctl_blocks_give(r, NULL);
    fabric_mem_free(p, other);
}

static void test_reuse(void **state)
{
    (void)state;
    run(reuse);
}

/* Process 1 is still in the last barrier of a window and hears that 2 is lost, when 0
 * has left it and has made another window. */
static void late(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, SIZE, 1);
    struct win_ctl *block = w->ctl;
    (void)arg;
    OK(win_free_begin(w));
    if (p->rank != 1)
        win_free_end(w);
    fabric_barrier(p);
    struct boot boot;
    struct fabric_comm *comm = fabric_comm_new(1);
    struct win *own = own_window(p, comm, &boot);
    FABRIC_CHECK(p->rank == 1 || own->ctl == block);
    fabric_barrier(p);
    if (p->rank == 1) {
        rma_enter(&p->rma);
        win_lost(w, 2);
        rma_leave(&p->rma);
    }
    fabric_barrier(p);
    FABRIC_CHECK(atomic_load(&block->lost) != 0); /* the news is there */
    rma_enter(&p->rma);
    FABRIC_CHECK(win_who_is_lost(own) == -1);
    rma_leave(&p->rma);
    OK(win_free_begin(own));
    win_free_end(own);
    fabric_comm_free(comm);
    fabric_barrier(p);
    if (p->rank == 1)
        win_free_end(w);
}

static void test_late(void **state)
{
    (void)state;
    run(late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reuse), cmocka_unit_test(test_late)};
    pkt_types_init();
    return cmocka_run_group_tests_name("ctl_blocks", tests, NULL, NULL);
}
