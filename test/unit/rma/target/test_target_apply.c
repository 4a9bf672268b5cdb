/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_target_apply.c - malformed records at the target.
 *
 * Each is refused with the right error, the origin is told, no byte of the window
 * or of what lies around it has changed, and window and connection work as before. What
 * accumulates leave behind is in test_target_acc.c.
 */
#include "rma/origin/refused.h"
#include "test/support/craft_pair.h"

#include <limits.h>
#include <pthread.h>

static void check_refused(struct craft *c, int err)
{
    const uint64_t before = refused(&fabric->procs[1]);
    const uint64_t errors = counters(&fabric->procs[1]).by_type[PKT_ERROR];
    craft_send(fabric, 0, 1, c);
    check_untouched();
    assert_int_equal(refused(&fabric->procs[1]), before + 1);
    assert_int_equal(counters(&fabric->procs[1]).by_type[PKT_ERROR], errors + 1);
    assert_int_equal(origin_take_error(origin), err);
    check_usable();
}

struct bad {
    struct pkt_op op;
    unsigned nseg; /* in the packet */
    struct pkt_seg segs[2];
    unsigned len; /* data in the packet */
    int err;
};

#define SEG8                    \
    1,                          \
    {                           \
        {                       \
            .disp = 8, .len = 8 \
        }                       \
    }

static const struct bad bad_records[] = {
    /* cannot be parsed */
    {HEAD(PKT_OP_NONE, 0, 0, 1, 8), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_KIND_LAST, 0, 0, 1, 8), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(255, 0, 0, 1, 8), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_ACC, ACC_OP_LAST, ACC_I64, 1, 8), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_ACC, 255, ACC_I64, 1, 8), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_ACC, ACC_SUM, ACC_TYPE_LAST, 1, 8), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_ACC, ACC_SUM, 255, 1, 8), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_PUT, 0, 0, 3, 8), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_PUT, 0, 0, 1000, 8), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_PUT, 0, 0, UINT32_MAX, 8), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_PUT, 0, 0, 0x10000000, 8), SEG8, 8, MRMA_ERR_INTERN}, /* times 16 is 2^32 */
    {HEAD(PKT_OP_PUT, 0, 0, 1, 9), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_PUT, 0, 0, 1, PKT_MAX), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_PUT, 0, 0, 1, UINT16_MAX), SEG8, 8, MRMA_ERR_INTERN},
    {HEAD(PKT_OP_PUT, 0, 0, 1, UINT16_MAX - 6), SEG8, 8, MRMA_ERR_INTERN},
    /* what must be 0 */
    {{.kind = PKT_OP_PUT, .nseg = 1, .data_len = 8, .zero = UINT8_MAX}, SEG8, 8, MRMA_ERR_INTERN},
    {{.kind = PKT_OP_PUT, .nseg = 1, .data_len = 8, .zero = 1}, SEG8, 8, MRMA_ERR_INTERN},
    /* the window has no notifications */
    {{.kind = PKT_OP_PUT, .nseg = 1, .data_len = 8, .notify = 1}, SEG8, 8, MRMA_ERR_ARG},
    {{.kind = PKT_OP_GET, .nseg = 1, .notify = UINT8_MAX}, SEG8, 0, MRMA_ERR_ARG},
    {{.kind = PKT_OP_PUT, .notify = 1}, 0, {{0}}, 0, MRMA_ERR_ARG},
    /* segments outside the window */
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = -1, .len = 8}}, 8, MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = -AROUND, .len = 8}}, 8, MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = SIZE - 7, .len = 8}}, 8, MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = SIZE, .len = 8}}, 8, MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = SIZE + 1, .len = 8}}, 8, MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = INT64_MAX, .len = 8}}, 8, MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = INT64_MIN, .len = 8}}, 8, MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = 8, .len = UINT64_MAX}}, 8, MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = 8, .len = UINT64_MAX - 7}}, 8, MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_PUT, 0, 0, 2, 16),
     2,
     {{.disp = 8, .len = 8}, {.disp = SIZE, .len = 8}},
     16,
     MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_GET, 0, 0, 1, 0), 1, {{.disp = SIZE - 4, .len = 8}}, 0, MRMA_ERR_RMA_RANGE},
    {HEAD(PKT_OP_ACC, ACC_SUM, ACC_I64, 2, 16),
     2,
     {{.disp = 8, .len = 8}, {.disp = -8, .len = 8}},
     16,
     MRMA_ERR_RMA_RANGE},
    /* lengths that do not agree */
    {HEAD(PKT_OP_PUT, 0, 0, 1, 0), 1, {{.disp = 8, .len = 0}}, 0, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = 8, .len = 16}}, 8, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_PUT, 0, 0, 1, 8), 1, {{.disp = 8, .len = 4}}, 8, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_PUT, 0, 0, 2, 8),
     2,
     {{.disp = 8, .len = 8}, {.disp = 64, .len = 8}},
     8,
     MRMA_ERR_COUNT},
    {HEAD(PKT_OP_GET, 0, 0, 1, 8), SEG8, 8, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_ACC, ACC_SUM, ACC_I64, 1, 12), 1, {{.disp = 8, .len = 12}}, 12, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_ACC, ACC_SUM, ACC_I64, 1, 16), 1, {{.disp = 8, .len = 8}}, 16, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_ACC, ACC_SUM, ACC_I64, 1, 0), SEG8, 0, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_ACC, ACC_NO_OP, ACC_I64, 1, 8), SEG8, 8, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_GET_ACC, ACC_NO_OP, ACC_I64, 1, 0),
     1,
     {{.disp = 0, .len = PKT_MAX - 32}},
     0,
     MRMA_ERR_COUNT},
    {HEAD(PKT_OP_GET_ACC, ACC_NO_OP, ACC_I64, 2, 0),
     2,
     {{.disp = 0, .len = PKT_MAX / 2}, {.disp = 0, .len = PKT_MAX / 2}},
     0,
     MRMA_ERR_COUNT},
    {HEAD(PKT_OP_CAS, 0, ACC_I64, 1, 8), SEG8, 8, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_CAS, 0, ACC_I64, 1, 24), SEG8, 24, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_CAS, 0, ACC_NONE, 1, 16), SEG8, 16, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_CAS, 0, ACC_I64, 0, 16), 0, {{0}}, 16, MRMA_ERR_COUNT},
    {HEAD(PKT_OP_CAS, 0, ACC_I32, 2, 16),
     2,
     {{.disp = 8, .len = 4}, {.disp = 16, .len = 4}},
     16,
     MRMA_ERR_COUNT},
    {HEAD(PKT_OP_CAS, 0, ACC_I64, 1, 32), 1, {{.disp = 8, .len = 16}}, 32, MRMA_ERR_COUNT},
    /* operations that types do not allow */
    {HEAD(PKT_OP_ACC, ACC_OP_NONE, ACC_I64, 1, 8), SEG8, 8, MRMA_ERR_OP},
    {HEAD(PKT_OP_ACC, ACC_SUM, ACC_NONE, 1, 8), SEG8, 8, MRMA_ERR_OP},
    {HEAD(PKT_OP_ACC, ACC_SUM, ACC_BYTE, 1, 8), SEG8, 8, MRMA_ERR_OP},
    {HEAD(PKT_OP_ACC, ACC_BAND, ACC_F64, 1, 8), SEG8, 8, MRMA_ERR_OP},
    {HEAD(PKT_OP_ACC, ACC_MAXLOC, ACC_I64, 1, 8), SEG8, 8, MRMA_ERR_OP},
    {HEAD(PKT_OP_GET_ACC, ACC_MIN, ACC_C32, 1, 8), SEG8, 8, MRMA_ERR_OP},
};

static void test_bad_records(void **state)
{
    static const unsigned char data[64];
    struct craft c;
    (void)state;
    for (size_t i = 0; i < sizeof bad_records / sizeof *bad_records; i++) {
        const struct bad *b = &bad_records[i];
        craft_begin(&c, PKT_OPS, target, 0);
        craft_record(&c, &b->op, b->segs, b->nseg, data, b->len);
        check_refused(&c, b->err);
    }
}

static void craft_plain(struct craft *c, const struct pkt_plain *plain, const void *data,
                        size_t len)
{
    craft_append(c, plain, sizeof *plain);
    craft_append(c, data, len);
    craft_hdr(c)->count++;
}

/* The short form of a put: what is wrong with it, alone and behind a good one; and what lies at
 * the end of the window. */
static void test_plain_records(void **state)
{
    static const struct {
        struct pkt_plain plain;
        unsigned len; /* in the packet */
        int err;
    } bad[] = {
        {{PKT_OP_PLAIN, 1, 8, 8}, 8, MRMA_ERR_ARG}, /* the window has no notifications */
        {{PKT_OP_PLAIN, 0, 0, 8}, 0, MRMA_ERR_INTERN},
        {{PKT_OP_PLAIN, 0, 0, 8}, 8, MRMA_ERR_INTERN},
        {{PKT_OP_PLAIN, 0, 9, 8}, 8, MRMA_ERR_INTERN},
        {{PKT_OP_PLAIN, 0, UINT16_MAX, 8}, 8, MRMA_ERR_INTERN},
        {{PKT_OP_PLAIN, 0, 8, SIZE - 7}, 8, MRMA_ERR_RMA_RANGE},
        {{PKT_OP_PLAIN, 0, 1, SIZE}, 8, MRMA_ERR_RMA_RANGE},
        {{PKT_OP_PLAIN, 0, 8, UINT32_MAX}, 8, MRMA_ERR_RMA_RANGE},
    };
    static const struct pkt_plain first = {PKT_OP_PLAIN, 0, 8, 16},
                                  last = {PKT_OP_PLAIN, 0, 3, SIZE - 3};
    const uint64_t before = refused(&fabric->procs[1]);
    struct craft c;
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof bad / sizeof *bad); i++) {
        craft_begin(&c, PKT_OPS, target, 0);
        if (i % 2)
            craft_plain(&c, &first, "\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a", 8);
        craft_plain(&c, &bad[i / 2].plain, "12345678", bad[i / 2].len);
        check_refused(&c, bad[i / 2].err);
    }
    craft_begin(&c, PKT_OPS, target, 0);
    craft_append(&c, "\7\0\0\0\0\0\0", 8); /* a head cut short */
    craft_hdr(&c)->count = 1;
    craft_hdr(&c)->len -= 4;
    check_refused(&c, MRMA_ERR_INTERN);
    craft_begin(&c, PKT_OPS, target, 0);
    craft_plain(&c, &last, "end\0\0\0\0", 8);
    craft_send(fabric, 0, 1, &c);
    assert_memory_equal(area[1] + AROUND + SIZE - 3, "end", 3);
    memset(area[1] + AROUND + SIZE - 3, PATTERN, 3);
    check_untouched();
    assert_int_equal(refused(&fabric->procs[1]), before + 1 + 2 * (sizeof bad / sizeof *bad));
    check_usable();
}

/* More records announced than there are; records cut off in the middle. */
static void test_bad_counts(void **state)
{
    static const struct pkt_op get = {.kind = PKT_OP_GET};
    struct craft c;
    (void)state;
    for (uint32_t extra = 1; extra < 4; extra++) {
        craft_begin(&c, PKT_OPS, target, 0);
        craft_record(&c, &get, NULL, 0, NULL, 0); /* names nothing */
        craft_hdr(&c)->count += extra == 3 ? UINT32_MAX - 1 : extra;
        check_refused(&c, MRMA_ERR_INTERN);
    }
    for (uint32_t len = sizeof(struct pkt_hdr); len < sizeof(struct pkt_hdr) + 40; len += 4) {
        static const struct pkt_op put = HEAD(PKT_OP_PUT, 0, 0, 1, 8);
        static const struct pkt_seg seg = {.disp = 8, .len = 8};
        craft_begin(&c, PKT_OPS, target, 0);
        craft_record(&c, &put, &seg, 1, "12345678", 8);
        craft_hdr(&c)->len = len;
        check_refused(&c, MRMA_ERR_INTERN);
    }
}

/* A refused record does not take those behind it with it. */
static void test_records_behind(void **state)
{
    static const struct pkt_op put = HEAD(PKT_OP_PUT, 0, 0, 1, 8);
    static const struct pkt_seg outside = {.disp = SIZE, .len = 8}, inside = {.disp = 24, .len = 8};
    struct craft c;
    (void)state;
    craft_begin(&c, PKT_OPS, target, 0);
    craft_record(&c, &put, &outside, 1, "12345678", 8);
    craft_record(&c, &put, &inside, 1, "ABCDEFGH", 8);
    craft_send(fabric, 0, 1, &c);
    assert_memory_equal(area[1] + AROUND + 24, "ABCDEFGH", 8);
    memset(area[1] + AROUND + 24, PATTERN, 8);
    check_untouched();
    assert_int_equal(origin_take_error(origin), MRMA_ERR_RMA_RANGE);
    check_usable();
}

/* What lies at the very ends of the window, and records that name nothing. */
static void test_good_limits(void **state)
{
    static const struct pkt_op put = {.kind = PKT_OP_PUT, .nseg = 2, .data_len = 2};
    static const struct pkt_op none = {.kind = PKT_OP_PUT};
    static const struct pkt_seg ends[2] = {{.disp = 0, .len = 1}, {.disp = SIZE - 1, .len = 1}};
    const uint64_t before = refused(&fabric->procs[1]);
    struct craft c;
    (void)state;
    craft_begin(&c, PKT_OPS, target, 0);
    craft_record(&c, &put, ends, 2, "<>", 2);
    craft_record(&c, &none, NULL, 0, NULL, 0);
    craft_send(fabric, 0, 1, &c);
    assert_int_equal(refused(&fabric->procs[1]), before);
    assert_int_equal(area[1][AROUND], '<');
    assert_int_equal(area[1][AROUND + SIZE - 1], '>');
    area[1][AROUND] = area[1][AROUND + SIZE - 1] = PATTERN;
    check_usable();
}

/* ---- what the origin of real operations sees: memory that is not attached ---- */

static void dynamic(struct fabric_proc *p, void *arg)
{
    static _Atomic uint64_t where;
    unsigned char *mem = calloc(3, 4096), in[16], out[16] = "0123456789abcde";
    int64_t old = 5, one = 1;
    (void)arg;
    struct win *w = fabric_win(p, WIN_DYNAMIC, NULL, 0, 1);
    OK(win_attach(w, mem + 4096, 4096));
    if (p->rank == 1)
        atomic_store(&where, (uint64_t)(uintptr_t)(mem + 4096));
    rest(p);
    const int64_t at = (int64_t)atomic_load(&where);
    for (int round = 0; p->rank == 0 && round < 2; round++) {
        OK(rma_lock(w, round, 1, 0));
        put(w, 1, at - 1, out, 8);
        FABRIC_CHECK(rma_flush(w, 1, false) == MRMA_ERR_RMA_RANGE);
        get(w, 1, at + 4090, in, 8);
        FABRIC_CHECK(rma_flush(w, 1, false) == MRMA_ERR_RMA_RANGE);
        fetch_add(w, 1, at + 4096, &one, &old, 1);
        FABRIC_CHECK(rma_flush(w, 1, true) == MRMA_ERR_RMA_RANGE);
        OK(rma_flush(w, 1, false));
        struct rma_req req;
        struct rma_op op = byte_op(NULL, in, 1, at - 4096, 8);
        op.req = &req;
        rma_req_init(&req);
        OK(rma_get(w, &op));
        while (!rma_req_done(&req))
            fabric_progress(p);
        FABRIC_CHECK(atomic_load(&req.err) == MRMA_ERR_RMA_RANGE);
        put(w, 1, at, out, 16);
        put(w, 1, INT64_MAX - 4, out, 8);
        put(w, 1, -8, out, 8);
        FABRIC_CHECK(rma_unlock(w, 1) == MRMA_ERR_RMA_RANGE);
        OK(rma_lock(w, round, 1, 0));
        get(w, 1, at, in, 16);
        OK(rma_unlock(w, 1));
        FABRIC_CHECK(memcmp(in, out, 16) == 0);
    }
    rest(p);
    for (int i = 0; i < 3 * 4096; i++)
        FABRIC_CHECK(mem[i] == (p->rank == 1 && i >= 4096 && i < 4112 ? out[i - 4096] : 0));
    OK(win_detach(w, mem + 4096));
    rest(p);
    fabric_win_free(w);
    free(mem);
}

static void test_not_attached(void **state)
{
    static const enum conf_progress progress[] = {CONF_PROGRESS_POLL, CONF_PROGRESS_AGENT};
    (void)state;
    for (int i = 0; i < 2; i++) {
        fabric_watchdog(60);
        atomic_store(&pkt_arrived, 0);
        struct fabric *f = fabric_new(&(struct fabric_opts){
            .nproc = 2, .path = CONF_PATH_SHM_PACKETS, .progress = progress[i], .quiet = true});
        fabric_run(f, dynamic, NULL);
        fabric_free(f);
        fabric_watchdog(0);
    }
}

/* ---- a sender that changes what lies in its ring ---- */

enum { DELIVERIES = 20000, TURNS = 1000000 };

struct fickle {
    _Atomic int64_t *disp;
    _Atomic unsigned turns;
    _Atomic bool stop;
};

static void *change_mind(void *arg)
{
    struct fickle *f = arg;
    for (; !atomic_load_explicit(&f->stop, memory_order_relaxed); atomic_fetch_add(&f->turns, 1)) {
        atomic_store_explicit(f->disp, 32, memory_order_relaxed);
        for (int i = 0; i < 8; i++)
            cpu_relax();
        atomic_store_explicit(f->disp, -AROUND + 8, memory_order_relaxed);
    }
    return NULL;
}

/* Whatever it says at the moment, it is taken by its word: done, or refused. */
static UNUSED_OK void test_changes_meanwhile(void **state)
{
    static const struct pkt_op put = {.kind = PKT_OP_PUT, .nseg = 2, .data_len = 16};
    static const struct pkt_seg segs[] = {{.disp = 16, .len = 8}, {.disp = 32, .len = 8}};
    struct fabric_proc *p = &fabric->procs[1];
    pthread_t thread;
    struct craft c;
    (void)state;
    craft_begin(&c, PKT_OPS, target, 0);
    craft_record(&c, &put, segs, 2, "abcdefghijklmnop", 16);
    unsigned char *second = c.bytes + sizeof(struct pkt_hdr) + sizeof put + sizeof segs[0];
    struct fickle f = {.disp =
                           (_Atomic int64_t *)(void *)(second + offsetof(struct pkt_seg, disp))};
    assert_int_equal(pthread_create(&thread, NULL, change_mind, &f), 0);
    for (int i = 0; i < DELIVERIES || atomic_load(&f.turns) < TURNS; i++) {
        ch3_deliver(&p->peers[0].peer.vc, c.bytes, craft_hdr(&c)->len);
        fabric_progress(p);
        fabric_progress(&fabric->procs[0]);
    }
    atomic_store(&f.stop, true);
    pthread_join(thread, NULL);
    memset(area[1] + AROUND + 16, PATTERN, 8);
    memset(area[1] + AROUND + 32, PATTERN, 8);
    check_untouched();
    (void)origin_take_error(origin);
    check_usable();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(test_bad_records),
        PAIR_TEST(test_plain_records),
        PAIR_TEST(test_bad_counts),
        PAIR_TEST(test_records_behind),
        PAIR_TEST(test_good_limits),
#if !defined(__SANITIZE_THREAD__) /* a race on purpose */
        PAIR_TEST(test_changes_meanwhile),
#endif
        cmocka_unit_test(test_not_attached),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("target_apply", tests, NULL, NULL);
}
