/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_vc.c - virtual connections: the whole state table, and what LOST and CLOSE
 * bring with them.
 */
#include "base/err.h"
#include "test/support/ch3_helper.h"

/* Next state; '-' refused. I idle, O open, F failed. */
static const char expected[CH3_VC_STATES][CH3_VC_EVENTS + 1] = {
    /* CONNECT LOST CLOSE */
    [CH3_VC_IDLE] = "OFI",
    [CH3_VC_OPEN] = "-FI",
    [CH3_VC_FAILED] = "-FI",
};
static const char letters[] = {[CH3_VC_IDLE] = 'I', [CH3_VC_OPEN] = 'O', [CH3_VC_FAILED] = 'F'};

static void test_table(void **state)
{
    struct ch3_bench *b = *state;
    char text[256];
    for (int from = 0; from < CH3_VC_STATES; from++)
        for (int ev = 0; ev < CH3_VC_EVENTS; ev++) {
            struct ch3_vc *vc = &b->vc[0];
            const char to = expected[from][ev];
            const unsigned disconnects = b->fake.disconnects;
            vc->state = (enum ch3_vc_state)from;
            assert_int_equal(ch3_vc_event(vc, (enum ch3_vc_event)ev), to != '-');
            assert_int_equal(letters[vc->state], to == '-' ? letters[from] : to);
            assert_int_equal(b->fake.disconnects - disconnects, ev == CH3_VC_CLOSE);
            if (to == '-')
                assert_non_null(strstr(log_text(&b->lp, text, sizeof text), "refused"));
            else
                assert_string_equal(log_text(&b->lp, text, sizeof text), "");
        }
}

static void test_fresh(void **state)
{
    struct ch3_bench *b = *state;
    const struct pkt_hdr hdr = bench_hdr(1, sizeof hdr);
    assert_int_equal(b->vc[1].state, CH3_VC_IDLE);
    assert_ptr_equal(ch3_vc_channel_data(&b->vc[1]), &b->handled[1]);
    assert_ptr_equal(b->vc[1].owner, b);
    assert_false(ch3_vc_busy(&b->vc[1]));
    assert_int_equal(ch3_send(&b->vc[1], &hdr, sizeof hdr, NULL, false),
                     MRMA_ERR_PROC_FAILED); /* not connected */
    assert_int_equal(b->fake.nsent, 0);
}

/* A connection that was lost and closed may be opened again. */
static void test_reopen(void **state)
{
    struct ch3_bench *b = *state;
    struct ch3_vc *vc = &b->vc[0];
    const struct pkt_hdr hdr = bench_hdr(1, sizeof hdr);
    assert_true(ch3_vc_event(vc, CH3_VC_CONNECT));
    ch3_vc_lost(vc);
    assert_int_equal(ch3_send(vc, &hdr, sizeof hdr, NULL, false), MRMA_ERR_PROC_FAILED);
    assert_true(ch3_vc_event(vc, CH3_VC_CLOSE));
    assert_true(ch3_vc_event(vc, CH3_VC_CONNECT));
    assert_int_equal(ch3_send(vc, &hdr, sizeof hdr, NULL, false), MRMA_SUCCESS);
    assert_int_equal(b->fake.nsent, 1);
}

/* Losing one leaves the others' queues alone. */
static void test_lost_is_one(void **state)
{
    struct ch3_bench *b = *state;
    const struct pkt_hdr hdr = bench_hdr(1, sizeof hdr);
    b->fake.room = 0;
    for (int i = 0; i < FAKE_VCS; i++) {
        assert_true(ch3_vc_event(&b->vc[i], CH3_VC_CONNECT));
        assert_int_equal(ch3_send(&b->vc[i], &hdr, sizeof hdr, NULL, false), MRMA_SUCCESS);
    }
    assert_true(ch3_unsent(&b->ch3));
    ch3_vc_lost(&b->vc[1]);
    assert_false(ch3_vc_busy(&b->vc[1]));
    assert_true(ch3_vc_busy(&b->vc[0]) && ch3_vc_busy(&b->vc[2]));
    b->fake.room = 100;
    assert_true(ch3_poll(&b->ch3));
    assert_int_equal(b->fake.nsent, 2);
    assert_ptr_equal(b->fake.sent[0].vc, &b->vc[0]);
    assert_ptr_equal(b->fake.sent[1].vc, &b->vc[2]);
    assert_false(ch3_unsent(&b->ch3));
}

/* What is queued for an owner that goes away is dropped, and nothing else: before it, between and
 * behind. */
static void test_drop(void **state)
{
    struct ch3_bench *b = *state;
    struct ch3_vc *vc = &b->vc[0];
    uint32_t goes = 0, stays = 0; /* packets of each that are queued */
    b->fake.room = 0;
    assert_true(ch3_vc_event(vc, CH3_VC_CONNECT));
    for (uint32_t mark = 1; mark <= 5; mark++) {
        const struct pkt_hdr hdr = bench_hdr(mark, sizeof hdr);
        assert_int_equal(ch3_send(vc, &hdr, sizeof hdr, mark % 2 ? &goes : &stays, false),
                         MRMA_SUCCESS);
    }
    ch3_vc_drop(vc, &goes);
    assert_true(goes == 0 && stays == 2);
    assert_true(ch3_vc_busy(vc) && ch3_unsent(&b->ch3));
    b->fake.room = 100;
    assert_true(ch3_poll(&b->ch3));
    assert_int_equal(b->fake.nsent, 2);
    assert_true(stays == 0);
    assert_false(ch3_vc_busy(vc) || ch3_unsent(&b->ch3));
    ch3_vc_drop(vc, &stays); /* nothing is left */
    assert_false(ch3_unsent(&b->ch3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {BENCH_TEST(test_table), BENCH_TEST(test_fresh),
                                       BENCH_TEST(test_reopen), BENCH_TEST(test_lost_is_one),
                                       BENCH_TEST(test_drop)};
    return cmocka_run_group_tests_name("vc", tests, NULL, NULL);
}
