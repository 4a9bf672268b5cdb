/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dispatch.c - a packet whose header is wrong in any way is refused, counted
 * and never followed; a right one reaches its handler; every type has a handler.
 */
#include "base/err.h"
#include "test/support/ch3_helper.h"
#include "rma/layer/layer.h"

static struct pkt_hdr good(uint8_t type)
{
    return (struct pkt_hdr){.version = PKT_VERSION, .type = type, .len = sizeof(struct pkt_hdr)};
}

static unsigned handled_sum(const struct ch3_bench *b)
{
    unsigned sum = 0;
    for (int i = 0; i < PKT_TYPE_LAST; i++)
        sum += b->handled[i];
    return sum;
}

static void expect_refused(struct ch3_bench *b, const void *packet, size_t len, const char *what)
{
    char text[512];
    const uint64_t bad = b->ch3.stats.bad, received = b->ch3.stats.packets_received;
    b->vc[0].bad_packets = 0;
    ch3_deliver(&b->vc[0], packet, len);
    assert_int_equal(b->ch3.stats.bad, bad + 1);
    assert_int_equal(b->vc[0].bad_packets, 1);
    assert_int_equal(b->ch3.stats.packets_received, received);
    assert_int_equal(handled_sum(b), 0);
    if (!strstr(log_text(&b->lp, text, sizeof text), what))
        fail_msg("refused, but for \"%s\" and not the %s", text, what);
}

static void test_every_type_has_a_handler(void **state)
{
    (void)state;
    assert_null(rma_handlers[PKT_NONE]);
    for (int i = PKT_NONE + 1; i < PKT_TYPE_LAST; i++)
        assert_non_null(rma_handlers[i]);
}

static void test_good(void **state)
{
    struct ch3_bench *b = *state;
    for (uint8_t type = PKT_NONE + 1; type < PKT_TYPE_LAST; type++) {
        const struct pkt_hdr hdr = good(type);
        ch3_deliver(&b->vc[1], &hdr, sizeof hdr);
        assert_int_equal(b->handled[type], 1);
        assert_memory_equal(&b->last, &hdr, sizeof hdr);
        assert_ptr_equal(b->last_body, &hdr + 1);
        assert_ptr_equal(b->last_from, &b->vc[1]);
    }
    assert_int_equal(b->ch3.stats.packets_received, PKT_TYPE_LAST - 1);
    assert_int_equal(b->ch3.stats.bad, 0);
}

static void test_length(void **state)
{
    struct ch3_bench *b = *state;
    _Alignas(8) unsigned char packet[PKT_MAX + 64] = {0};
    struct pkt_hdr hdr = good(PKT_ACK);
    for (size_t len = 0; len < sizeof hdr;
         len++) { /* a short one is not even read: exact buffers */
        unsigned char *exact = malloc(len ? len : 1);
        memcpy(exact, &hdr, len);
        expect_refused(b, exact, len, "length");
        free(exact);
    }
    hdr.len = PKT_MAX + 8;
    memcpy(packet, &hdr, sizeof hdr);
    expect_refused(b, packet, PKT_MAX + 8, "length");
    const uint32_t fields[] = {0, 1, sizeof hdr - 1, sizeof hdr + 1, PKT_MAX, UINT32_MAX};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        hdr.len = fields[i];
        memcpy(packet, &hdr, sizeof hdr);
        expect_refused(b, packet, sizeof hdr, "length field");
    }
}

static void test_version_and_type(void **state)
{
    struct ch3_bench *b = *state;
    for (int v = 0; v < 256; v++) {
        struct pkt_hdr hdr = good(PKT_ACK);
        hdr.version = (uint8_t)v;
        if (v != PKT_VERSION)
            expect_refused(b, &hdr, sizeof hdr, "version");
    }
    for (int t = 0; t < 256; t++) {
        struct pkt_hdr hdr = good((uint8_t)t);
        if (t == PKT_NONE || t >= PKT_TYPE_LAST)
            expect_refused(b, &hdr, sizeof hdr, "type");
    }
}

/* Random bytes: refused or handled, never both, never neither. */
static void test_noise(void **state)
{
    struct ch3_bench *b = *state;
    _Alignas(8) unsigned char packet[128];
    uint64_t seed = 5;
    const unsigned n = 100000;
    b->vc[0].bad_packets = 1000;
    for (unsigned i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof packet; k++)
            packet[k] = (unsigned char)next_random(&seed);
        if (i % 2) { /* nearly right ones */
            const struct pkt_hdr hdr =
                good((uint8_t)(1 + next_random(&seed) % (PKT_TYPE_LAST - 1)));
            memcpy(packet, &hdr, sizeof hdr);
            packet[next_random(&seed) % 8] = (unsigned char)next_random(&seed);
        }
        ch3_deliver(&b->vc[0], packet,
                    i % 2 ? sizeof(struct pkt_hdr) : next_random(&seed) % sizeof packet);
    }
    assert_int_equal(handled_sum(b) + b->ch3.stats.bad, n);
    assert_int_equal(b->ch3.stats.packets_received, handled_sum(b));
    assert_true(handled_sum(b) > 100 && b->ch3.stats.bad > n / 4);
}

/* A peer that sends nothing but rubbish does not fill the log. */
static void test_reports_are_limited(void **state)
{
    struct ch3_bench *b = *state;
    char text[4096];
    struct pkt_hdr hdr = good(PKT_ACK);
    unsigned lines = 0;
    hdr.version = PKT_VERSION + 1;
    for (int i = 0; i < 1000; i++)
        ch3_deliver(&b->vc[2], &hdr, sizeof hdr);
    for (const char *at = log_text(&b->lp, text, sizeof text); *at; at++)
        lines += *at == '\n';
    assert_true(lines >= 1 && lines <= 20);
    assert_int_equal(b->ch3.stats.bad, 1000);
    assert_int_equal(b->vc[2].bad_packets, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_has_a_handler),
        BENCH_TEST(test_good),
        BENCH_TEST(test_length),
        BENCH_TEST(test_version_and_type),
        BENCH_TEST(test_noise),
        BENCH_TEST(test_reports_are_limited),
    };
    return cmocka_run_group_tests_name("dispatch", tests, NULL, NULL);
}
