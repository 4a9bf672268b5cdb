/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_target_acc.c - accumulates by packet at the target: the stripes that they lock are free
 * behind the packet whatever it has, and an answer for which there is no memory is told to the
 * origin.
 */
#include "rma/origin/refused.h"
#include "test/support/craft_pair.h"

#include <limits.h>

#include "acc/stripe.h"

static unsigned allocations_left =
    UINT_MAX; /* UINT_MAX: there is memory; else one fails when none is left */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    if (allocations_left == UINT_MAX || allocations_left--)
        return __real_malloc(size);
    allocations_left = UINT_MAX;
    return NULL;
}

static void append_acc(struct craft *c, enum pkt_op_kind kind, const int64_t *disps, unsigned n)
{
    static const int64_t ones[4] = {1, 1, 1, 1};
    const struct pkt_op op = HEAD((uint8_t)kind, kind == PKT_OP_CAS ? 0 : ACC_SUM, ACC_I64, n,
                                  (kind == PKT_OP_CAS ? 2 : n) * 8);
    struct pkt_seg segs[4];
    for (unsigned i = 0; i < n; i++)
        segs[i] = (struct pkt_seg){.disp = disps[i], .len = 8};
    craft_record(c, &op, segs, n, ones, op.data_len);
}

static void check_stripes_free(void)
{
    for (int i = 0; i < RMA_STRIPES; i++)
        assert_int_equal(atomic_load(&fabric->procs[1].seg->stripes[i].word), 0);
}

static int64_t element(size_t disp)
{
    int64_t value;
    memcpy(&value, area[1] + AROUND + disp, sizeof value);
    return value;
}

/* A stripe that is kept between accumulates is given back whatever comes next: another
 * stripe's element and back, a compare-and-swap there, a fetch, a put, a record that is
 * refused, one that cannot be read, the packet's end. */
static void test_stripes_given_back(void **state)
{
    static const int64_t near[4] = {8, 16, 8, 24}, apart[4] = {8, 20000, 8, 20000}, outside = SIZE;
    static const struct pkt_op put = HEAD(PKT_OP_PUT, 0, 0, 1, 8),
                               unreadable = HEAD(PKT_OP_KIND_LAST, 0, 0, 0, 0);
    static const struct pkt_seg seg = {.disp = 32, .len = 8};
    struct craft c;
    (void)state;
    for (unsigned last = 0; last < 6; last++) {
        memset(area[1], 0, AREA);
        craft_begin(&c, PKT_OPS, target, 0);
        append_acc(&c, PKT_OP_ACC, near, 4);
        append_acc(&c, PKT_OP_ACC, apart, 4);
        append_acc(&c, PKT_OP_CAS, &near[1], 1); /* 1, and becomes 1 */
        append_acc(&c, PKT_OP_ACC, near, 1);
        if (last == 1)
            append_acc(&c, PKT_OP_CAS, near, 1);
        if (last == 2)
            append_acc(&c, PKT_OP_GET_ACC, &near[1], 1);
        if (last == 3)
            craft_record(&c, &put, &seg, 1, "ABCDEFGH", 8);
        if (last == 4)
            append_acc(&c, PKT_OP_ACC, &outside, 1);
        if (last == 5)
            craft_record(&c, &unreadable, NULL, 0, NULL, 0);
        craft_send(fabric, 0, 1, &c);
        check_stripes_free();
        assert_int_equal(element(8), 5);
        assert_int_equal(element(16), last == 2 ? 2 : 1);
        assert_int_equal(element(24), 1);
        assert_int_equal(element(20000), 2);
        assert_memory_equal(area[1] + AROUND + 32, last == 3 ? "ABCDEFGH" : "\0\0\0\0\0\0\0\0", 8);
        assert_int_equal(origin_take_error(origin), last == 4   ? MRMA_ERR_RMA_RANGE
                                                    : last == 5 ? MRMA_ERR_INTERN
                                                                : MRMA_SUCCESS);
    }
    memset(area[1], PATTERN, AREA);
    check_usable();
}

/* The ring to the origin is full, and an answer cannot wait for room for want of memory: the origin
 * is told. */
static void test_answer_without_memory(void **state)
{
    static const struct pkt_op fop = HEAD(PKT_OP_GET_ACC, ACC_SUM, ACC_I64, 1, 8);
    static const struct pkt_seg seg = {.disp = 16, .len = 8};
    static const int64_t one = 1;
    struct fabric_proc *to = &fabric->procs[1];
    struct craft c, word;
    (void)state;
    check_usable(); /* both are connected */
    memset(area[1] + AROUND + 16, 0, 8);
    craft_begin(&word, PKT_OPEN, origin, 1);
    while (!ch3_vc_busy(&to->peers[0].peer.vc)) /* until the ring is full */
        OK(ch3_send(&to->peers[0].peer.vc, word.bytes, craft_hdr(&word)->len, NULL, false));
    craft_begin(&c, PKT_OPS, target, 0);
    craft_record(&c, &fop, &seg, 1, &one, 8);
    OK(ch3_send(&fabric->procs[0].peers[1].peer.vc, c.bytes, craft_hdr(&c)->len, NULL, false));
    allocations_left = 0;
    while (rma_pending(&to->rma))
        fabric_progress(to);
    assert_int_equal(allocations_left, UINT_MAX);
    settle(fabric);
    assert_int_equal(element(16), 1);
    assert_int_equal(origin_take_error(origin), MRMA_ERR_NO_MEM);
    memset(area[1] + AROUND + 16, PATTERN, 8);
    check_usable();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(test_stripes_given_back),
        PAIR_TEST(test_answer_without_memory),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("target_acc", tests, NULL, NULL);
}
