/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_type_table.c - datatypes that a target keeps: the table at both ends of a pair,
 * what goes over the wire because of it, and definitions and records that are refused.
 */
#include "rma/origin/refused.h"
#include "test/support/craft_pair.h"

#include "rma/origin/replies.h"
#include "rma/target/target.h"
#include "rma/types/type_table.h"

static struct dtype *make_type(const struct dtype_run *runs, size_t n, ptrdiff_t extent,
                               uint8_t basic)
{
    struct dtype form = {
        .extent = extent, .basic = basic, .runs = runs, .eruns = runs, .nruns = n, .neruns = n};
    struct dtype *type;
    for (size_t i = 0; i < n; i++)
        form.size += runs[i].len * runs[i].n;
    form.elems = form.size / 8;
    FABRIC_CHECK(dtype_create(&form, &type) == MRMA_SUCCESS);
    return type;
}

/* n blocks of 8 bytes, 16 apart. */
static struct dtype *vector(size_t n)
{
    const struct dtype_run run = {.disp = 0, .len = 8, .stride = 16, .n = n};
    return make_type(&run, 1, (ptrdiff_t)(16 * n), ACC_I64);
}

/* n blocks of 8 bytes without a pattern. */
static struct dtype *scattered(size_t n)
{
    struct dtype_run *runs = calloc(n, sizeof *runs);
    for (size_t i = 0; i < n; i++)
        runs[i] =
            (struct dtype_run){.disp = (ptrdiff_t)(16 * i + 8 * (i * i % 2)), .len = 8, .n = 1};
    struct dtype *type = make_type(runs, n, (ptrdiff_t)(16 * n), ACC_I64);
    free(runs);
    return type;
}

/* ---- the table ---- */

/* Both ends drop the same, the oldest first, by number of types and by runs. */
static void both_ends(uint32_t first)
{
    static alignas(8) unsigned char wire[PKT_MAX];
    struct type_table *here = type_table_new(first), *there = type_table_new(first);
    struct dtype *types[120];
    for (int i = 0; i < 120; i++) {
        types[i] = scattered(i < 60 ? 3 : 100 + (size_t)i);
        assert_int_equal(type_table_find(here, types[i]), 0);
        const uint32_t id = type_table_add(here, types[i]);
        type_table_define(wire, id, types[i]);
        if (i % 10 != 9) /* some are lost on the way */
            assert_int_equal(
                type_table_got(there, (const void *)wire, wire + sizeof(struct pkt_op)),
                MRMA_SUCCESS);
        size_t runs = 0;
        unsigned held = 0;
        for (int k = i; k >= 0; k--) {
            const uint32_t known = type_table_find(here, types[k]);
            const struct dtype *copy = type_table_get(there, known);
            runs += types[k]->nruns;
            held += known != 0;
            assert_int_equal(known != 0, i - k < PKT_TYPES && runs <= PKT_TYPES_RUNS);
            if (!known)
                continue;
            assert_int_equal(copy == NULL, k % 10 == 9);
            if (copy) {
                assert_int_equal(copy->size, types[k]->size);
                assert_int_equal(copy->extent, types[k]->extent);
                assert_memory_equal(copy->runs, types[k]->runs, copy->nruns * sizeof *copy->runs);
            }
        }
        assert_true(held == here->n && here->runs <= PKT_TYPES_RUNS &&
                    there->runs <= PKT_TYPES_RUNS);
    }
    for (int i = 0; i < 120; i++)
        dtype_unref(types[i]); /* the table's references are left, and freed with it */
    type_table_free(here);
    type_table_free(there);
}

/* Also while the numbers come round. */
static void test_both_ends(void **state)
{
    (void)state;
    both_ends(0);
    for (uint32_t before = 0; before < 60; before += 9)
        both_ends(UINT32_MAX - before);
}

/* Seeking is walking. */
static void test_seek(void **state)
{
    const struct dtype_run two[] = {{.disp = 40, .len = 3, .stride = -5, .n = 4},
                                    {.disp = 90, .len = 7, .n = 1}};
    struct dtype *types[] = {
        make_type(two, 2, 100, ACC_NONE), vector(5), vector(1),
        make_type(&(struct dtype_run){.disp = 2, .len = 6, .n = 1}, 1, 6, ACC_NONE)};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t pos = 0; pos < 3 * types[i]->size; pos++) {
            struct dtype_cursor walk, seek;
            ptrdiff_t a, b;
            dtype_cursor_init(&walk, types[i], 3, DTYPE_BYTES);
            for (size_t k = 0; k < pos; k++)
                assert_int_equal(dtype_cursor_next(&walk, 1, &a), 1);
            dtype_cursor_init(&seek, types[i], 3, DTYPE_BYTES);
            dtype_cursor_seek(&seek, pos);
            for (size_t k = pos; k < 3 * types[i]->size; k++) {
                assert_int_equal(dtype_cursor_next(&walk, 1, &a), 1);
                assert_int_equal(dtype_cursor_next(&seek, 1, &b), 1);
                assert_int_equal(a, b);
            }
            assert_int_equal(dtype_cursor_next(&seek, 1, &b), 0);
        }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        dtype_unref(types[i]);
}

/* ---- what goes over the wire ---- */

static uint64_t sent(struct fabric_proc *p)
{
    return counters(p).bytes_sent;
}

/* Bytes that this process sends for one operation of its kind in a lock epoch of its own. */
static uint64_t cost(struct fabric_proc *p, struct win *w, const struct dtype *type, size_t count,
                     char kind)
{
    static _Thread_local int64_t out[8192], in[8192];
    const size_t n = type->size / 8 * count;
    struct rma_op op = i64_op(out, in, 1, 0, n, kind == 'a' || kind == 'g' ? ACC_SUM : ACC_OP_NONE);
    op.tcount = count;
    op.ttype = type;
    for (size_t i = 0; i < n; i++)
        out[i] = (int64_t)i + 1;
    OK(rma_lock(w, true, 1, 0));
    const uint64_t before = sent(p);
    OK(kind == 'p'   ? rma_put(w, &op)
       : kind == 'r' ? rma_get(w, &op)
       : kind == 'a' ? rma_accumulate(w, &op)
                     : rma_get_accumulate(w, &op));
    OK(rma_unlock(w, 1));
    for (size_t i = 0; i < n && (kind == 'r' || kind == 'g'); i++)
        FABRIC_CHECK(in[i] == (int64_t)i + 1); /* what the put has left */
    return sent(p) - before;
}

enum {
    BLOCKS = 256,
    DATA = 8 * BLOCKS,
    HDR = sizeof(struct pkt_hdr),
    REC = sizeof(struct pkt_op),
    TYPED = sizeof(struct pkt_typed),
    RUN = sizeof(struct pkt_run),
    ONE = HDR + REC + TYPED
};

static void on_the_wire(struct fabric_proc *p, void *arg)
{
    (void)arg;
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, 1 << 16, 1);
    if (p->rank == 0) {
        struct dtype *v = vector(BLOCKS), *s = scattered(BLOCKS), *again = vector(BLOCKS);
        /* A vector goes with its definition, then by number; by segments it would be 16 bytes a
         * block more. */
        FABRIC_CHECK(cost(p, w, v, 1, 'p') == ONE + REC + RUN + DATA);
        FABRIC_CHECK(cost(p, w, v, 1, 'p') == ONE + DATA);
        FABRIC_CHECK(cost(p, w, v, 1, 'r') == ONE);
        FABRIC_CHECK(cost(p, w, v, 1, 'g') == ONE + DATA);
        FABRIC_CHECK(cost(p, w, v, 1, 'p') == ONE + DATA);
        FABRIC_CHECK(cost(p, w, v, 1, 'a') == ONE + DATA);
        FABRIC_CHECK(cost(p, w, v, 8, 'p') > 8 * DATA &&
                     cost(p, w, v, 8, 'r') == ONE); /* by stream */
        FABRIC_CHECK(cost(p, w, v, 8, 'p') < 8 * DATA + 3 * ONE);
        /* So does one without a pattern. */
        FABRIC_CHECK(cost(p, w, s, 1, 'p') == ONE + REC + RUN * BLOCKS + DATA);
        FABRIC_CHECK(cost(p, w, s, 1, 'r') == ONE);
        /* The handle is freed and another type gets it: another object, so it is sent. */
        dtype_unref(v);
        FABRIC_CHECK(cost(p, w, again, 1, 'p') == ONE + REC + RUN + DATA);
        FABRIC_CHECK(cost(p, w, again, 1, 'r') == ONE);
        /* After what may have been a lost definition everything is sent again. */
        rma_enter(&p->rma);
        origin_error(w, win_peek(w, 1), &(struct pkt_hdr){.total = MRMA_ERR_TYPE});
        FABRIC_CHECK(origin_take_error(w) == MRMA_ERR_TYPE);
        rma_leave(&p->rma);
        FABRIC_CHECK(cost(p, w, again, 1, 'r') == ONE + REC + RUN);
        /* So it is when others have taken its place. */
        for (int i = 0; i < PKT_TYPES; i++) {
            struct dtype *other = vector(BLOCKS);
            FABRIC_CHECK(cost(p, w, other, 1, 'r') == ONE + REC + RUN);
            dtype_unref(other);
        }
        FABRIC_CHECK(cost(p, w, again, 1, 'r') == ONE + REC + RUN);
        dtype_unref(again);
        dtype_unref(s);
    }
    rest(p);
    fabric_win_free(w);
}

static void test_on_the_wire(void **state)
{
    (void)state;
    for (int delay = 0; delay <= 30; delay += 30) {
        fabric_watchdog(60);
        atomic_store(&pkt_arrived, 0);
        struct fabric *f = fabric_new(&(struct fabric_opts){.nproc = 2,
                                                            .path = CONF_PATH_SHM_PACKETS,
                                                            .seed = 7,
                                                            .progress = CONF_PROGRESS_AGENT,
                                                            .refuse_percent = (unsigned)delay,
                                                            .delay_percent = (unsigned)delay});
        fabric_run(f, on_the_wire, NULL);
        for (int i = 0; i < 2; i++)
            assert_int_equal(refused(&f->procs[i]), 0);
        fabric_free(f);
        fabric_watchdog(0);
    }
}

/* ---- crafted: definitions and records ---- */

static void define(struct craft *c, uint32_t id, int64_t extent, const struct pkt_run *runs,
                   unsigned n)
{
    const struct pkt_op op = {.kind = PKT_OP_TYPE,
                              .request = id,
                              .offset = (uint64_t)extent,
                              .data_len = (uint16_t)(n * sizeof *runs)};
    craft_record(c, &op, NULL, 0, runs, n * sizeof *runs);
}

static void typed(struct craft *c, struct pkt_op op, struct pkt_typed where)
{
    static const unsigned char data[PKT_MAX];
    op.form = PKT_FORM_TYPED;
    craft_append(c, &op, sizeof op);
    craft_append(c, &where, sizeof where);
    craft_append(c, data, op.data_len);
    craft_hdr(c)->count++;
}

/* The packet is refused with err, and nothing has changed. */
static void check_refused(struct craft *c, int err)
{
    const uint64_t before = refused(&fabric->procs[1]);
    const uint64_t replies = counters(&fabric->procs[1]).by_type[PKT_REPLY];
    craft_send(fabric, 0, 1, c);
    assert_int_equal(refused(&fabric->procs[1]), before + 1);
    assert_int_equal(counters(&fabric->procs[1]).by_type[PKT_REPLY], replies);
    assert_int_equal(origin_take_error(origin), err);
    check_untouched();
}

static void check_accepted(struct craft *c)
{
    const uint64_t before = refused(&fabric->procs[1]);
    craft_send(fabric, 0, 1, c);
    assert_int_equal(refused(&fabric->procs[1]), before);
    assert_int_equal(origin_take_error(origin), MRMA_SUCCESS);
}

static const struct pkt_run eight = {.disp = 0, .len = 8, .stride = 16, .n = 4};

static void test_bad_definitions(void **state)
{
    static const struct pkt_run bad[][2] = {
        {{.len = 0, .n = 1}},
        {{.len = 8, .n = 0}},
        {{.len = UINT64_MAX, .n = 1}},
        {{.len = 8, .n = UINT64_MAX}},
        {{.len = INT64_MAX, .n = 2, .stride = 0}},
        {{.len = 1, .n = INT64_MAX, .stride = 2}},
        {{.len = 1, .n = 3, .stride = INT64_MIN}},
        {{.disp = INT64_MAX, .len = 1, .n = 1}},
        {{.disp = INT64_MIN, .len = 1, .n = 2, .stride = -1}},
        {{.disp = INT64_MAX - 64, .len = 8, .n = 5, .stride = 16}},
        {{.len = INT64_MAX - 3, .n = 1}, {.len = 4, .n = 1}},
        {{.disp = INT64_MIN, .len = 4, .n = 1}, {.disp = INT64_MAX - 9, .len = 4, .n = 1}},
    };
    struct craft c;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        craft_begin(&c, PKT_OPS, target, 0);
        define(&c, 1, 64, bad[i], bad[i][1].n ? 2 : 1);
        check_refused(&c, MRMA_ERR_TYPE);
    }
    struct pkt_op op = {.kind = PKT_OP_TYPE, .request = 1, .offset = 64, .data_len = 24};
    craft_begin(&c, PKT_OPS, target, 0); /* half a run, none at all, other fields */
    craft_record(&c, &op, NULL, 0, &eight, 24);
    check_refused(&c, MRMA_ERR_TYPE);
    craft_begin(&c, PKT_OPS, target, 0);
    define(&c, 1, 64, NULL, 0);
    check_refused(&c, MRMA_ERR_TYPE);
    craft_begin(&c, PKT_OPS, target, 0);
    typed(&c, (struct pkt_op){.kind = PKT_OP_TYPE, .request = 1, .data_len = 32},
          (struct pkt_typed){.len = 8});
    check_refused(&c, MRMA_ERR_TYPE);
    op.data_len = sizeof eight;
    op.nseg = 1;
    craft_begin(&c, PKT_OPS, target, 0);
    craft_record(&c, &op, &(struct pkt_seg){.disp = 0, .len = 8}, 1, &eight, sizeof eight);
    check_refused(&c, MRMA_ERR_TYPE);
    static struct pkt_run many[PKT_TYPE_RUNS + 1];
    for (int i = 0; i <= PKT_TYPE_RUNS; i++)
        many[i] = (struct pkt_run){.disp = 16 * i, .len = 8, .n = 1};
    craft_begin(&c, PKT_OPS, target, 0);
    define(&c, 1, 64, many, PKT_TYPE_RUNS + 1);
    check_refused(&c, MRMA_ERR_TYPE);
    /* Numbers only grow, and 0 is none. */
    craft_begin(&c, PKT_OPS, target, 0);
    define(&c, 5, 64, many, PKT_TYPE_RUNS);
    check_accepted(&c);
    for (uint32_t id = 0; id <= 5; id++) {
        craft_begin(&c, PKT_OPS, target, 0);
        define(&c, id, 64, &eight, 1);
        check_refused(&c, MRMA_ERR_TYPE);
    }
}

struct bad {
    struct pkt_op op;
    struct pkt_typed where;
    int err;
};

#define OP(k, o, t, id, pos, len)                                                 \
    {                                                                             \
        .kind = k, .op = o, .type = t, .nseg = id, .offset = pos, .data_len = len \
    }
#define PUT(len) OP(PKT_OP_PUT, 0, 0, 1, 0, len)

/* Number 1: four blocks of 8, 16 apart. 2: backwards. 3: a thousand times the same 8 bytes.
 * 4: blocks of 4. 5: an extent that overflows. */
static const struct bad bad_records[] = {
    {OP(PKT_OP_PUT, 0, 0, 0, 0, 32), {0, 1, 32}, MRMA_ERR_TYPE},
    {OP(PKT_OP_PUT, 0, 0, 6, 0, 32), {0, 1, 32}, MRMA_ERR_TYPE},
    {OP(PKT_OP_PUT, 0, 0, UINT32_MAX, 0, 32), {0, 1, 32}, MRMA_ERR_TYPE},
    {PUT(32), {-8, 1, 32}, MRMA_ERR_RMA_RANGE},
    {PUT(32), {SIZE - 55, 1, 32}, MRMA_ERR_RMA_RANGE},
    {PUT(8), {SIZE - 8, 1, 8}, MRMA_ERR_RMA_RANGE},
    {PUT(32), {INT64_MAX, 1, 32}, MRMA_ERR_RMA_RANGE},
    {PUT(32), {INT64_MIN, 1, 32}, MRMA_ERR_RMA_RANGE},
    {PUT(32), {0, 0, 32}, MRMA_ERR_RMA_RANGE},
    {PUT(32), {0, SIZE / 64 + 1, 32}, MRMA_ERR_RMA_RANGE},
    {PUT(32), {0, UINT64_MAX, 32}, MRMA_ERR_RMA_RANGE},
    {PUT(32), {0, INT64_MAX, 32}, MRMA_ERR_RMA_RANGE},
    {PUT(32), {0, UINT64_C(1) << 58, 32}, MRMA_ERR_RMA_RANGE},
    {OP(PKT_OP_PUT, 0, 0, 2, 0, 32), {40, 1, 32}, MRMA_ERR_RMA_RANGE},
    {OP(PKT_OP_GET, 0, 0, 3, 0, 0), {0, 1, 8}, MRMA_ERR_RMA_RANGE},
    {OP(PKT_OP_GET, 0, 0, 5, 0, 0), {0, 2, 8}, MRMA_ERR_RMA_RANGE},
    {PUT(0), {0, 1, 0}, MRMA_ERR_COUNT},
    {PUT(40), {0, 1, 40}, MRMA_ERR_COUNT},
    {PUT(24), {0, 1, 32}, MRMA_ERR_COUNT},
    {PUT(32), {0, 1, 24}, MRMA_ERR_COUNT},
    {OP(PKT_OP_PUT, 0, 0, 1, 8, 32), {0, 1, 32}, MRMA_ERR_COUNT},
    {OP(PKT_OP_PUT, 0, 0, 1, 32, 8), {0, 1, 8}, MRMA_ERR_COUNT},
    {OP(PKT_OP_PUT, 0, 0, 1, UINT64_MAX, 8), {0, 1, 8}, MRMA_ERR_COUNT},
    {OP(PKT_OP_GET, 0, 0, 1, 0, 0), {0, 1, UINT64_MAX}, MRMA_ERR_COUNT},
    {OP(PKT_OP_GET, 0, 0, 1, 8, 0), {0, 1, UINT64_MAX - 7}, MRMA_ERR_COUNT},
    {OP(PKT_OP_GET, 0, 0, 1, 0, 8), {0, 1, 8}, MRMA_ERR_COUNT},
    {OP(PKT_OP_ACC, ACC_SUM, ACC_I64, 4, 0, 16), {0, 1, 16}, MRMA_ERR_COUNT},
    {OP(PKT_OP_ACC, ACC_SUM, ACC_I64, 1, 4, 8), {0, 1, 8}, MRMA_ERR_COUNT},
    {OP(PKT_OP_ACC, ACC_SUM, ACC_I64, 1, 0, 12), {0, 1, 12}, MRMA_ERR_COUNT},
    {OP(PKT_OP_ACC, ACC_SUM, ACC_BYTE, 1, 0, 32), {0, 1, 32}, MRMA_ERR_OP},
    {OP(PKT_OP_GET_ACC, ACC_NO_OP, ACC_I64, 1, 0, 0), {0, 1100, PKT_MAX}, MRMA_ERR_COUNT},
    {OP(PKT_OP_CAS, 0, ACC_I64, 1, 0, 16), {0, 1, 8}, MRMA_ERR_COUNT},
};

static void define_all(void)
{
    static const struct pkt_run runs[] = {
        {.disp = 0, .len = 8, .stride = 16, .n = 4},   {.disp = 0, .len = 8, .stride = -16, .n = 4},
        {.disp = 0, .len = 8, .stride = 0, .n = 1000}, {.disp = 0, .len = 4, .stride = 16, .n = 4},
        {.disp = 0, .len = 8, .stride = 16, .n = 4},
    };
    struct craft c;
    craft_begin(&c, PKT_OPS, target, 0);
    for (uint32_t i = 0; i < 5; i++)
        define(&c, i + 1, i == 4 ? INT64_MAX : 64, &runs[i], 1);
    check_accepted(&c);
}

static void test_bad_records(void **state)
{
    struct craft c;
    (void)state;
    define_all();
    for (size_t i = 0; i < sizeof bad_records / sizeof *bad_records; i++) {
        craft_begin(&c, PKT_OPS, target, 0);
        typed(&c, bad_records[i].op, bad_records[i].where);
        check_refused(&c, bad_records[i].err);
    }
    for (unsigned form = PKT_FORM_LAST; form < 256; form += 127) { /* nobody can read it */
        static const struct pkt_op put = {.kind = PKT_OP_PUT, .nseg = 1, .data_len = 8};
        craft_begin(&c, PKT_OPS, target, 0);
        craft_record(&c, &put, &(struct pkt_seg){.disp = 8, .len = 8}, 1, "12345678", 8);
        ((struct pkt_op *)(void *)(c.bytes + sizeof(struct pkt_hdr)))->form = (uint8_t)form;
        check_refused(&c, MRMA_ERR_INTERN);
    }
    craft_begin(&c, PKT_OPS, target, 0); /* cut off */
    typed(&c, (struct pkt_op){.kind = PKT_OP_GET, .nseg = 1},
          (struct pkt_typed){.count = 1, .len = 8});
    craft_hdr(&c)->len -= 8;
    check_refused(&c, MRMA_ERR_INTERN);
}

/* The very ends of the window, backwards, and from a position in the middle. */
static void test_good_records(void **state)
{
    unsigned char *mem = area[1] + AROUND;
    struct craft c;
    (void)state;
    define_all();
    craft_begin(&c, PKT_OPS, target, 0);
    typed(&c, (struct pkt_op){.kind = PKT_OP_PUT, .nseg = 1, .offset = 12, .data_len = 28},
          (struct pkt_typed){.disp = 0, .count = 2, .len = 28});
    typed(&c, (struct pkt_op){.kind = PKT_OP_PUT, .nseg = 2, .data_len = 32},
          (struct pkt_typed){.disp = SIZE - 8, .count = 1, .len = 32});
    check_accepted(&c);
    for (size_t i = 0; i < AREA; i++) {
        const size_t at = i - AROUND;
        const bool first = (at >= 20 && at < 24) || (at >= 32 && at < 40) ||
                           (at >= 48 && at < 56) || (at >= 64 && at < 72);
        const bool last = at < SIZE && at >= SIZE - 56 && (SIZE - 1 - at) % 16 < 8;
        assert_int_equal(area[1][i], first || last ? 0 : PATTERN);
    }
    memset(mem, PATTERN, SIZE);
}

/* A refused packet takes its definitions with it. */
static void test_lost_definition(void **state)
{
    struct craft c;
    (void)state;
    craft_begin(&c, PKT_OPS, target, 0);
    craft_hdr(&c)->epoch = PKT_EPOCH_FENCE;
    craft_hdr(&c)->seq = UINT32_MAX;
    define(&c, 1, 64, &eight, 1);
    check_refused(&c, MRMA_ERR_RMA_SYNC);
    craft_begin(&c, PKT_OPS, target, 0);
    typed(&c, (struct pkt_op){.kind = PKT_OP_GET, .nseg = 1},
          (struct pkt_typed){.count = 1, .len = 8});
    check_refused(&c, MRMA_ERR_TYPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ends),   cmocka_unit_test(test_seek),
        cmocka_unit_test(test_on_the_wire), PAIR_TEST(test_bad_definitions),
        PAIR_TEST(test_bad_records),        PAIR_TEST(test_good_records),
        PAIR_TEST(test_lost_definition),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("type_table", tests, NULL, NULL);
}
