/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_strict_assert.c - MPI_MODE_NOPUT under MPIRMA_STRICT: packets that come while it holds.
 */
#include "test/support/pkt_helper.h"

#include "rma/strict/strict.h"

enum { SIZE = 100, PROCS = 2 };

static unsigned char area[PROCS][SIZE];

static struct win *window(struct fabric_proc *p)
{
    return fabric_win(p, WIN_CREATE, area[p->rank], SIZE, 1);
}

/* Packets that come while MPI_MODE_NOPUT holds, in a fence phase and after a post. */
static void arrivals(struct fabric_proc *p, void *arg)
{
    const int other = 1 - p->rank;
    struct win *w = window(p);
    (void)arg;
    FABRIC_CHECK(strict_arrival(w, PKT_OP_PUT, ACC_OP_NONE, PKT_EPOCH_FENCE) == MRMA_SUCCESS);
    OK(rma_fence(w, RMA_NOPUT));
    FABRIC_CHECK(strict_arrival(w, PKT_OP_PUT, ACC_OP_NONE, PKT_EPOCH_FENCE) == MRMA_ERR_ASSERT);
    FABRIC_CHECK(strict_arrival(w, PKT_OP_ACC, ACC_SUM, PKT_EPOCH_FENCE) == MRMA_ERR_ASSERT);
    FABRIC_CHECK(strict_arrival(w, PKT_OP_CAS, ACC_OP_NONE, PKT_EPOCH_FENCE) == MRMA_ERR_ASSERT);
    OK(strict_arrival(w, PKT_OP_GET, ACC_OP_NONE, PKT_EPOCH_FENCE));
    OK(strict_arrival(w, PKT_OP_ACC, ACC_NO_OP, PKT_EPOCH_FENCE));
    OK(strict_arrival(w, PKT_OP_GET_ACC, ACC_NO_OP, PKT_EPOCH_FENCE));
    OK(strict_arrival(w, PKT_OP_PUT, ACC_OP_NONE, PKT_EPOCH_PSCW));
    OK(rma_fence(w, RMA_NOSUCCEED));
    OK(rma_post(w, &other, 1, RMA_NOPUT));
    FABRIC_CHECK(strict_arrival(w, PKT_OP_PUT, ACC_OP_NONE, PKT_EPOCH_PSCW) == MRMA_ERR_ASSERT);
    OK(strict_arrival(w, PKT_OP_GET, ACC_OP_NONE, PKT_EPOCH_PSCW));
    OK(rma_start(w, &other, 1, 0));
    OK(rma_complete(w));
    OK(rma_wait(w));
    OK(strict_arrival(w, PKT_OP_PUT, ACC_OP_NONE, PKT_EPOCH_PSCW));
    fabric_win_free(w);
}

static void run(void (*body)(struct fabric_proc *p, void *arg))
{
    fabric_watchdog(60);
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = PROCS, .quiet = true});
    for (int i = 0; i < PROCS; i++)
        f->procs[i].conf.strict = true;
    fabric_run(f, body, NULL);
    fabric_free(f);
    fabric_watchdog(0);
}

static void test_arrivals(void **state)
{
    (void)state;
    run(arrivals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrivals)};
    pkt_types_init();
    return cmocka_run_group_tests_name("strict, asserts", tests, NULL, NULL);
}
