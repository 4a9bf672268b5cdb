/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_op_record.c - operations cut into records, against a reference byte by byte.
 *
 * Random datatypes on both sides and random room for every record. What the
 * records say, decoded here from pkt.h alone, must be the operation: every byte of
 * the target once and in order with the right byte of the origin's, no element
 * cut, each record within its limits, and no record that makes no progress.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rma/origin/op_record.h"

enum { MAX_RUNS = 5, AREA = 1 << 18, MIDDLE = AREA / 2, GUARD = 64, TRIALS = 3000 };

static uint64_t seed = 88172645463325252u;
static unsigned char origin_area[AREA], room[PKT_MAX + GUARD];

static size_t below(size_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)((seed >> 11) % n);
}

/* Runs of whole units; disjointness does not matter to the records. */
static struct dtype *random_type(uint8_t basic, size_t bytes_limit)
{
    const size_t unit = basic ? acc_extent(basic) : 1;
    struct dtype_run runs[MAX_RUNS];
    struct dtype form = {.basic = basic, .runs = runs, .eruns = runs}, *type;
    form.nruns = below(4) == 0 ? 1 : 1 + below(MAX_RUNS);
    for (size_t i = 0; i < form.nruns; i++) {
        runs[i].disp = (ptrdiff_t)below(2000) - 1000;
        runs[i].len = unit * (1 + below(below(4) ? 9 : bytes_limit / (unit * MAX_RUNS * 4)));
        runs[i].n = below(3) ? 1 : 1 + below(4);
        runs[i].stride = (ptrdiff_t)below(400) - 100;
        form.size += runs[i].len * runs[i].n;
    }
    form.neruns = form.nruns;
    form.elems = form.size / unit;
    form.extent = below(3) ? (ptrdiff_t)form.size : (ptrdiff_t)below(900) - 100;
    assert_int_equal(dtype_create(&form, &type), MRMA_SUCCESS);
    return type;
}

/* The commonest: one piece at displacement 0. */
static struct dtype *contiguous_type(size_t bytes)
{
    struct dtype_run run = {.len = bytes, .n = 1};
    struct dtype form = {.size = bytes,
                         .extent = (ptrdiff_t)bytes,
                         .elems = bytes,
                         .runs = &run,
                         .nruns = 1,
                         .eruns = &run,
                         .neruns = 1},
                 *type;
    assert_int_equal(dtype_create(&form, &type), MRMA_SUCCESS);
    assert_true(type->contig);
    return type;
}

/* A type of one run with so many bytes, to match the other side's size. */
static struct dtype *flat_type(uint8_t basic, size_t bytes)
{
    const size_t unit = basic ? acc_extent(basic) : 1;
    struct dtype_run run = {.disp = (ptrdiff_t)below(50), .len = bytes, .stride = 0, .n = 1};
    struct dtype form = {.size = bytes,
                         .extent = (ptrdiff_t)bytes,
                         .basic = basic,
                         .elems = bytes / unit,
                         .runs = &run,
                         .nruns = 1,
                         .eruns = &run,
                         .neruns = 1},
                 *type;
    if (unit < bytes && below(2)) { /* the same in pieces of a unit, backwards */
        run = (struct dtype_run){.disp = (ptrdiff_t)(bytes - unit),
                                 .len = unit,
                                 .stride = -(ptrdiff_t)unit,
                                 .n = bytes / unit};
        assert_int_equal(bytes % unit, 0);
    }
    assert_int_equal(dtype_create(&form, &type), MRMA_SUCCESS);
    return type;
}

static ptrdiff_t *expand(const struct dtype *type, size_t count)
{
    ptrdiff_t *list = malloc((type->size * count + 1) * sizeof *list);
    size_t n = 0;
    for (size_t c = 0; c < count; c++)
        for (size_t r = 0; r < type->nruns; r++)
            for (size_t k = 0; k < type->runs[r].n; k++)
                for (size_t b = 0; b < type->runs[r].len; b++)
                    list[n++] = (ptrdiff_t)c * type->extent + type->runs[r].disp +
                                (ptrdiff_t)k * type->runs[r].stride + (ptrdiff_t)b;
    return list;
}

struct check {
    enum pkt_op_kind kind;
    enum acc_op op;
    uint8_t type;
    uint32_t request;
    uint8_t notify; /* in the last record alone */
    bool data;
    size_t unit, at, total; /* at: bytes seen so far */
    int64_t offset;
    const ptrdiff_t *target, *origin;
};

static void check_plain(struct check *c, size_t len, size_t cap)
{
    const struct pkt_plain *rec = (const struct pkt_plain *)(const void *)room;
    assert_int_equal(len, sizeof *rec + pkt_align(rec->len));
    assert_true(len <= cap);
    assert_int_equal(rec->kind, PKT_OP_PLAIN);
    assert_int_equal(rec->notify, c->at + rec->len == c->total ? c->notify : 0);
    assert_true(rec->len > 0 && c->at + rec->len <= c->total);
    assert_int_equal(rec->disp, c->offset + (int64_t)c->at);
    for (size_t i = 0; i < len - sizeof *rec; i++)
        assert_int_equal(room[sizeof *rec + i], i < rec->len ? origin_area[MIDDLE + c->at + i] : 0);
    c->at += rec->len;
}

static void check_record(struct check *c, size_t len, size_t cap)
{
    const struct pkt_op *rec = (const struct pkt_op *)(const void *)room;
    const struct pkt_seg *segs = (const struct pkt_seg *)(rec + 1);
    const unsigned char *data = (const unsigned char *)(segs + rec->nseg);
    size_t sum = 0;
    assert_int_equal(len % 8, 0);
    assert_true(len <= cap);
    assert_int_equal(rec->kind, c->kind);
    assert_int_equal(rec->op, c->op);
    assert_int_equal(rec->type, c->type);
    assert_int_equal(rec->request, c->request);
    assert_int_equal(rec->offset, c->at);
    assert_true(rec->nseg > 0);
    for (uint32_t s = 0; s < rec->nseg; s++) {
        assert_true(segs[s].len > 0 && segs[s].len % c->unit == 0);
        for (uint64_t b = 0; b < segs[s].len; b++, sum++) {
            assert_true(c->at + sum < c->total);
            assert_int_equal(segs[s].disp + (int64_t)b, c->offset + c->target[c->at + sum]);
            if (c->data)
                assert_int_equal(data[sum], origin_area[MIDDLE + c->origin[c->at + sum]]);
        }
    }
    assert_int_equal(rec->data_len, c->data ? sum : 0);
    assert_int_equal(rec->notify, c->at + sum == c->total ? c->notify : 0);
    assert_int_equal(rec->zero, 0);
    assert_int_equal(len, sizeof *rec + rec->nseg * sizeof *segs + pkt_align(rec->data_len));
    if (c->kind == PKT_OP_GET_ACC)
        assert_true(sum <= PKT_MAX - sizeof(struct pkt_hdr));
    c->at += sum;
}

static void cut(enum pkt_op_kind kind, enum acc_op op, uint8_t basic)
{
    const bool acc = kind == PKT_OP_ACC || kind == PKT_OP_GET_ACC;
    const size_t count = 1 + below(4);
    struct dtype *ttype = !acc && below(3) == 0 ? contiguous_type(1 + below(20000))
                                                : random_type(acc ? basic : ACC_NONE, 20000);
    struct dtype *otype = below(2) ? ttype : flat_type(acc ? basic : ACC_NONE, ttype->size * count);
    const struct rma_op o = {.oaddr = origin_area + MIDDLE,
                             .ocount = otype == ttype ? count : 1,
                             .otype = otype,
                             .tcount = count,
                             .ttype = ttype,
                             .notify = below(3) ? 0 : 1 + (uint32_t)below(64),
                             .op = op};
    ptrdiff_t *target = expand(ttype, count), *origin = expand(otype, o.ocount);
    struct check c = {.kind = kind,
                      .op = op,
                      .type = acc ? basic : 0,
                      .request = (uint32_t)below(1000),
                      .notify = (uint8_t)o.notify,
                      .data = kind != PKT_OP_GET && op != ACC_NO_OP,
                      .unit = acc ? acc_extent(basic) : 1,
                      .total = ttype->size * count,
                      .offset = (int64_t)below(1 << 20) + (below(4) ? 0 : UINT32_MAX - 20000),
                      .target = target,
                      .origin = origin};
    struct origin_record src;
    origin_record_init(&src, kind, &o, c.offset, c.request);
    assert_int_equal(src.left, c.total);
    const bool plain = kind == PKT_OP_PUT && otype->contig && ttype->contig &&
                       c.offset + (int64_t)c.total <= UINT32_MAX;
    assert_int_equal(src.plain, plain);
    const size_t min = origin_record_min(&src);
    assert_true(min <= PKT_MAX - sizeof(struct pkt_hdr));
    while (src.left) {
        const size_t cap = below(3) ? below(200) : below(4) ? min + below(9) : below(PKT_MAX);
        memset(room, 0xa5, sizeof room);
        const size_t len = origin_record_build(&src, room, cap);
        for (size_t i = cap; i < cap + GUARD; i++)
            assert_int_equal(room[i], 0xa5);
        assert_int_equal(len == 0, cap < min);
        if (len)
            (plain ? check_plain : check_record)(&c, len, cap);
        assert_int_equal(src.left, c.total - c.at);
    }
    assert_int_equal(c.at, c.total);
    assert_int_equal(origin_record_build(&src, room, PKT_MAX), 0);
    if (otype != ttype)
        dtype_unref(otype);
    dtype_unref(ttype);
    free(target);
    free(origin);
}

static void test_random(void **state)
{
    static const uint8_t basics[] = {ACC_I8,  ACC_I16,  ACC_F32,         ACC_F64,
                                     ACC_C64, ACC_C128, ACC_PAIR_I64_I64};
    (void)state;
    for (size_t i = 0; i < AREA; i++)
        origin_area[i] = (unsigned char)below(256);
    for (int trial = 0; trial < TRIALS; trial++) {
        const uint8_t basic = basics[below(sizeof basics)];
        switch (below(4)) {
        case 0:
            cut(PKT_OP_PUT, ACC_OP_NONE, ACC_NONE);
            break;
        case 1:
            cut(PKT_OP_GET, ACC_OP_NONE, ACC_NONE);
            break;
        case 2:
            cut(PKT_OP_ACC, ACC_REPLACE, basic);
            break;
        default:
            cut(PKT_OP_GET_ACC, below(2) ? ACC_NO_OP : ACC_REPLACE, basic);
        }
    }
}

/* Whole packets: a put and an accumulate fill them, a get needs one record only. */
static void test_limits(void **state)
{
    enum { TOTAL = 100000 };
    const size_t cap = PKT_MAX - sizeof(struct pkt_hdr);
    const struct dtype byte = dtype_basic(ACC_U8), cell = dtype_basic(ACC_C128);
    struct rma_op o = {
        .oaddr = origin_area, .ocount = TOTAL, .otype = &byte, .tcount = TOTAL, .ttype = &byte};
    struct origin_record src;
    size_t n = 0;
    (void)state;
    origin_record_init(&src, PKT_OP_PUT, &o, 0, 0);
    while (src.left) {
        const size_t len = origin_record_build(&src, room, cap);
        assert_true(src.left == 0 || len == cap);
        n++;
    }
    assert_int_equal(n, (TOTAL + ORIGIN_RECORD_PLAIN_MAX - 1) / ORIGIN_RECORD_PLAIN_MAX);
    origin_record_init(&src, PKT_OP_GET, &o, 0, 7);
    assert_int_equal(origin_record_build(&src, room, origin_record_min(&src)), 40);
    assert_int_equal(src.left, 0);
    assert_int_equal(((struct pkt_seg *)(void *)(room + 24))->len, TOTAL);
    /* What is only fetched is cut to what a reply can carry, in whole elements. */
    o = (struct rma_op){.tcount = TOTAL / 32, .ttype = &cell, .op = ACC_NO_OP};
    origin_record_init(&src, PKT_OP_GET_ACC, &o, 0, 7);
    assert_int_equal(origin_record_build(&src, room, cap), 40);
    assert_int_equal(src.pos, cap / 32 * 32);
}

/* Padding travels neither in a put nor does it split the elements of an accumulate. */
static void test_padded_pairs(void **state)
{
    const struct dtype pair = dtype_basic(ACC_PAIR_F64_I32);
    const struct rma_op o = {.oaddr = origin_area,
                             .ocount = 10,
                             .otype = &pair,
                             .tcount = 10,
                             .ttype = &pair,
                             .op = ACC_MAXLOC};
    const struct pkt_op *rec = (const void *)room;
    const struct pkt_seg *seg = (const void *)(rec + 1);
    struct origin_record src;
    (void)state;
    origin_record_init(&src, PKT_OP_PUT, &o, 0, 0);
    assert_true(origin_record_build(&src, room, PKT_MAX) != 0);
    assert_int_equal(rec->nseg, 10);
    assert_int_equal(rec->data_len, 120);
    assert_int_equal(seg[3].disp, 48);
    assert_int_equal(seg[3].len, 12);
    origin_record_init(&src, PKT_OP_ACC, &o, 0, 0);
    assert_true(origin_record_build(&src, room, 24 + 16 + 35) != 0);
    assert_int_equal(rec->data_len, 32);
    assert_int_equal(seg[0].len, 32);
}

static void test_cas(void **state)
{
    static const uint8_t types[] = {ACC_I8, ACC_I32, ACC_I64, ACC_LOGICAL16};
    (void)state;
    for (size_t i = 0; i < sizeof types; i++) {
        const struct dtype type = dtype_basic(types[i]);
        const size_t unit = acc_extent(types[i]);
        const struct rma_op o = {
            .oaddr = origin_area + 1, .caddr = origin_area + 101, .tcount = 1, .ttype = &type};
        const struct pkt_op *rec = (const void *)room;
        const struct pkt_seg *seg = (const void *)(rec + 1);
        struct origin_record src;
        origin_record_init(&src, PKT_OP_CAS, &o, 77, 5);
        const size_t min = origin_record_min(&src);
        assert_int_equal(origin_record_build(&src, room, min - 1), 0);
        const size_t len = origin_record_build(&src, room, min);
        assert_int_equal(src.left, 0);
        assert_int_equal(len, 40 + pkt_align(2 * unit));
        assert_int_equal(rec->kind, PKT_OP_CAS);
        assert_int_equal(rec->type, types[i]);
        assert_int_equal(rec->request, 5);
        assert_int_equal(rec->nseg, 1);
        assert_int_equal(rec->data_len, 2 * unit);
        assert_int_equal(seg->disp, 77);
        assert_int_equal(seg->len, unit);
        assert_memory_equal(seg + 1, origin_area + 101, unit);
        assert_memory_equal((const char *)(seg + 1) + unit, origin_area + 1, unit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_padded_pairs),
        cmocka_unit_test(test_cas),
    };
    return cmocka_run_group_tests_name("op_record", tests, NULL, NULL);
}
