/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_strict_assert.c - MPI_MODE_NOSTORE and MPI_MODE_NOPUT under MPIRMA_STRICT: a store is
 * reported where nobody else can have changed the memory, and not where that cannot be told.
 */
#include "pkt_helper.h"

#include "rma/strict/strict.h"

enum { SIZE = 100, PROCS = 2 };

static unsigned char area[PROCS][3 * SIZE];

/* A phase in which nobody puts and process 0 stores: what the fence behind it says. */
static int store(struct win *w, unsigned char *at)
{
    OK(rma_fence(w, 0));
    OK(rma_fence(w, RMA_NOPUT));
    if (w->rank == 0)
        ++*at;
    return rma_fence(w, RMA_NOSTORE | RMA_NOSUCCEED);
}

static int stored(const struct win *w)
{
    return w->rank == 0 ? MRMA_ERR_ASSERT : MRMA_SUCCESS;
}

static struct win *window(struct fabric_proc *p)
{
    return fabric_win(p, WIN_CREATE, area[p->rank] + SIZE, SIZE, 1);
}

static void decided(struct fabric_proc *p, void *arg)
{
    unsigned char *mine = area[p->rank];
    struct win *w = window(p);
    (void)arg;
    FABRIC_CHECK(store(w, mine + SIZE) == stored(w));
    FABRIC_CHECK(store(w, mine + 2 * SIZE - 1) == stored(w));
    FABRIC_CHECK(store(w, mine + SIZE - 1) == MRMA_SUCCESS);
    FABRIC_CHECK(store(w, mine + 2 * SIZE) == MRMA_SUCCESS);
    /* Windows beside it change nothing. */
    struct win *below = fabric_win(p, WIN_CREATE, mine, SIZE, 1);
    struct win *above = fabric_win(p, WIN_CREATE, mine + 2 * SIZE, SIZE, 1);
    FABRIC_CHECK(store(w, mine + SIZE) == stored(w));
    fabric_win_free(below); /* their indices are free, and it is looked over them */
    FABRIC_CHECK(store(w, mine + SIZE) == stored(w));
    fabric_win_free(above);
    fabric_win_free(w);
}

static void undecided(struct fabric_proc *p, void *arg)
{
    unsigned char *mine = area[p->rank];
    struct win *w = window(p);
    uint64_t size;
    uint32_t unit;
    void *base;
    (void)arg;
    struct win *over = fabric_win(p, WIN_CREATE, mine + 2 * SIZE - 1, 1, 1);
    FABRIC_CHECK(store(w, mine + SIZE) == MRMA_SUCCESS);
    fabric_win_free(over);
    struct win *dynamic = fabric_win(p, WIN_DYNAMIC, NULL, 0, 1);
    FABRIC_CHECK(store(w, mine + SIZE) == MRMA_SUCCESS);
    FABRIC_CHECK(store(dynamic, mine + SIZE) == MRMA_SUCCESS);
    fabric_win_free(dynamic);
    /* A window that is created between the fences may be over the memory, though it is gone. */
    OK(rma_fence(w, 0));
    OK(rma_fence(w, RMA_NOPUT));
    fabric_win_free(fabric_win(p, WIN_CREATE, mine, SIZE, 1));
    ++*(mine + SIZE);
    OK(rma_fence(w, RMA_NOSTORE | RMA_NOSUCCEED));
    FABRIC_CHECK(store(w, mine + SIZE) == stored(w));
    OK(rma_fence(w, 0));
    OK(rma_fence(w, RMA_NOPUT));
    OK(win_shared_query(w, p->rank, &size, &unit, &base)); /* whoever asks may store */
    ++*(mine + SIZE);
    OK(rma_fence(w, RMA_NOSTORE | RMA_NOSUCCEED));
    FABRIC_CHECK(store(w, mine + SIZE) == MRMA_SUCCESS);
    fabric_win_free(w);
    struct win *none = fabric_win(p, WIN_CREATE, mine, 0, 1);
    FABRIC_CHECK(store(none, mine) == MRMA_SUCCESS);
    fabric_win_free(none);
    struct win *shared = fabric_win(p, WIN_ALLOCATE_SHARED, NULL, SIZE, 1);
    FABRIC_CHECK(store(shared, shared->base) == MRMA_SUCCESS);
    fabric_win_free(shared);
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

static void test_decided(void **state)
{
    (void)state;
    run(decided);
}

static void test_undecided(void **state)
{
    (void)state;
    run(undecided);
}

static void test_arrivals(void **state)
{
    (void)state;
    run(arrivals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decided),
                                       cmocka_unit_test(test_undecided),
                                       cmocka_unit_test(test_arrivals)};
    pkt_types_init();
    return cmocka_run_group_tests_name("strict, asserts", tests, NULL, NULL);
}
