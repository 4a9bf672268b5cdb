/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_op_refused.c - operations whose counts, datatypes or displacements cannot be right, up to
 * those that overflow: each is refused in the call and changes nothing, also where small puts are
 * staged (rma/path/stage.h); and a stage that a broken peer has filled changes nothing outside of
 * the window.
 */
#include "test/support/pkt_helper.h"

#include "rma/path/stage.h"

enum { SIZE = 64, PATTERN = 0x33 };

static unsigned char area[2][3 * SIZE]; /* each process's window is in the middle */
static const int64_t data[2] = {0x0102030405060708, -1};

static const struct {
    size_t ocount, tcount;
    int64_t disp;
    int err;
} wrong[] = {
    {1, SIZE_MAX / 8 + 2, 0, MRMA_ERR_COUNT}, /* of 8 bytes each: as many bytes as one */
    {SIZE_MAX / 8 + 2, 1, 0, MRMA_ERR_COUNT},
    {SIZE_MAX / 8 + 2, SIZE_MAX / 8 + 2, 0, MRMA_ERR_COUNT},
    {1, 2, 0, MRMA_ERR_COUNT},
    {2, 1, 0, MRMA_ERR_COUNT},
    {1, 1, SIZE - 7, MRMA_ERR_RMA_RANGE},
    {1, 1, SIZE + 1, MRMA_ERR_RMA_RANGE},
    {1, 1, -1, MRMA_ERR_RMA_RANGE},
    {1, 1, (int64_t)UINT32_MAX + 1, MRMA_ERR_RMA_RANGE},
    {1, 1, (int64_t)1 << 48, MRMA_ERR_RMA_RANGE},
    {1, 1, INT64_MAX, MRMA_ERR_RMA_RANGE},
    {1, 1, INT64_MIN, MRMA_ERR_RMA_RANGE},
};

/* 8 bytes of each 16, or the 8 bytes in front of the address. */
static struct dtype *type_of_8(size_t n, ptrdiff_t disp)
{
    const struct dtype_run run = {.disp = disp, .len = 8 / n, .stride = 16 / (ptrdiff_t)n, .n = n};
    const struct dtype form = {.size = 8,
                               .extent = 16,
                               .basic = ACC_U8,
                               .elems = 8,
                               .runs = &run,
                               .nruns = 1,
                               .eruns = &run,
                               .neruns = 1};
    struct dtype *type;
    FABRIC_CHECK(dtype_create(&form, &type) == MRMA_SUCCESS);
    return type;
}

static struct rma_op operation(size_t i, int64_t *in)
{
    struct rma_op op = i64_op(data, in, 1, wrong[i].disp, wrong[i].tcount, ACC_SUM);
    op.ocount = op.rcount = wrong[i].ocount;
    return op;
}

static void try_all(struct win *w)
{
    int64_t in[2] = {5, 5};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct rma_op op = operation(i, in);
        FABRIC_CHECK(rma_put(w, &op) == wrong[i].err);
        FABRIC_CHECK(rma_get(w, &op) == wrong[i].err);
        FABRIC_CHECK(rma_accumulate(w, &op) == wrong[i].err);
        FABRIC_CHECK(rma_get_accumulate(w, &op) == wrong[i].err);
    }
    struct rma_op op = i64_op(data, in, 1, INT64_MIN, 1, ACC_SUM);
    struct dtype *before = type_of_8(1, -8);
    op.ttype = before; /* begins below the least displacement that there is */
    FABRIC_CHECK(rma_put(w, &op) == MRMA_ERR_RMA_RANGE);
    dtype_unref(before);
    struct dtype none = dtype_basic(ACC_I64);
    none.basic = ACC_NONE; /* of no predefined type */
    op = i64_op(data, in, 1, 0, 1, ACC_SUM);
    op.ttype = op.otype = &none;
    FABRIC_CHECK(rma_accumulate(w, &op) == MRMA_ERR_TYPE);
    FABRIC_CHECK(in[0] == 5 && in[1] == 5);
}

static struct win *window(struct fabric_proc *p, uint32_t unit)
{
    memset(area[p->rank], PATTERN, sizeof area[0]);
    fabric_barrier(p);
    return fabric_win(p, WIN_CREATE, area[p->rank] + SIZE, SIZE, unit);
}

static void check_pattern(const unsigned char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        FABRIC_CHECK(at[i] == PATTERN);
}

static void refused_calls(struct fabric_proc *p, void *arg)
{
    struct win *w = window(p, 1);
    (void)arg;
    OK(rma_lock_all(w, 0));
    if (p->rank == 0)
        try_all(w);
    OK(rma_unlock_all(w));
    OK(rma_fence(w, 0));
    if (p->rank == 0)
        try_all(w);
    OK(rma_fence(w, 0));
    FABRIC_CHECK(p->rma.stats.staged == 0);
    check_pattern(area[p->rank], sizeof area[0]);
    OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
    w = window(p, 1 << 20); /* whose displacements are far */
    OK(rma_fence(w, 0));
    const struct rma_op far = i64_op(data, NULL, 1, 1 << 30, 1, ACC_OP_NONE);
    FABRIC_CHECK(rma_put(w, &far) == MRMA_ERR_RMA_RANGE);
    OK(rma_fence(w, RMA_NOSUCCEED));
    check_pattern(area[p->rank], sizeof area[0]);
    fabric_win_free(w);
}

/* What has pieces at an end, or is nothing, goes another way and arrives. */
static void unstaged(struct fabric_proc *p, void *arg)
{
    struct win *w = window(p, 1);
    struct dtype *pieces = type_of_8(2, 0);
    const unsigned char *mine = area[p->rank] + SIZE, *from = (const unsigned char *)data;
    (void)arg;
    OK(rma_fence(w, 0));
    if (p->rank == 0) {
        struct rma_op op = i64_op(data, NULL, 1, 0, 1, ACC_OP_NONE);
        op.ttype = pieces;
        OK(rma_put(w, &op));
        op = i64_op(data, NULL, 1, 16, 1, ACC_OP_NONE);
        op.otype = pieces;
        OK(rma_put(w, &op));
        op = i64_op(data, NULL, 1, 24, 0, ACC_OP_NONE);
        OK(rma_put(w, &op));
        FABRIC_CHECK(p->rma.stats.staged == 0);
        put(w, 1, 32, data, 8);
        FABRIC_CHECK(p->rma.stats.staged == 1);
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    if (p->rank == 1) {
        FABRIC_CHECK(!memcmp(mine, from, 4) && !memcmp(mine + 8, from + 4, 4));
        FABRIC_CHECK(!memcmp(mine + 16, from, 4) && !memcmp(mine + 20, from + 8, 4));
        check_pattern(mine + 4, 4), check_pattern(mine + 12, 4), check_pattern(mine + 24, 8);
        FABRIC_CHECK(!memcmp(mine + 32, from, 8));
    }
    dtype_unref(pieces);
    fabric_win_free(w);
}

/* The stage of this phase at process 1, and its second record. */
static void spoil(const struct win *w, int how)
{
    enum { LEN_BITS = 16, RECORD = 16 };
    const struct stage_row *row = &win_peek(w, 1)->stage.out_phase;
    struct win_stage *st = (void *)((char *)row->first + w->phase % STAGE_DEPTH * row->bytes);
    const uint64_t words[] = {8 << LEN_BITS | 9, (SIZE + 1) << LEN_BITS | 8,
                              (SIZE - 7) << LEN_BITS | 8, UINT64_MAX};
    FABRIC_CHECK(st->used == 2 * RECORD);
    if (how < 4)
        memcpy(st->room + RECORD, &words[how], sizeof words[how]);
    else
        st->used = how == 4 ? row->bytes : UINT32_MAX; /* more than there is room for */
}

static void spoilt(struct fabric_proc *p, void *arg)
{
    struct win *w = window(p, 1);
    (void)arg;
    OK(rma_fence(w, 0));
    for (int how = 0; how < 6; how++) {
        const uint64_t before = p->rma.stats.refused;
        if (p->rank == 0) {
            put(w, 1, 0, data, 8);
            put(w, 1, 8, data, 8);
            spoil(w, how);
        }
        OK(rma_fence(w, 0));
        FABRIC_CHECK(p->rma.stats.refused == before + (p->rank == 1 && how < 4));
        check_pattern(area[p->rank], SIZE);
        check_pattern(area[p->rank] + SIZE + 8, 2 * SIZE - 8);
        FABRIC_CHECK(p->rank == 0 || how > 3 || !memcmp(area[1] + SIZE, data, 8));
        memset(area[p->rank], PATTERN, sizeof area[0]);
        OK(rma_fence(w, 0));
    }
    OK(rma_fence(w, RMA_NOSUCCEED));
    fabric_win_free(w);
}

static void run(void (*body)(struct fabric_proc *p, void *arg), enum conf_path path)
{
    fabric_watchdog(60);
    struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = 2, .path = path, .quiet = true});
    fabric_run(f, body, NULL);
    fabric_free(f);
    fabric_watchdog(0);
}

static void test_refused(void **state)
{
    (void)state;
    run(refused_calls, CONF_PATH_AUTO);
    run(refused_calls, CONF_PATH_SHM_PACKETS);
}

static void test_unstaged(void **state)
{
    (void)state;
    run(unstaged, CONF_PATH_AUTO);
}

static void test_spoilt(void **state)
{
    (void)state;
    run(spoilt, CONF_PATH_AUTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_unstaged),
                                       cmocka_unit_test(test_spoilt)};
    pkt_types_init();
    return cmocka_run_group_tests_name("op_refused", tests, NULL, NULL);
}
