/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sendq.c - what is sent leaves in the order given, whatever room the
 * channel has; nothing is lost, doubled or left behind; every done is called.
 *
 * A random test sends copies and streams of random lengths over several
 * connections while room comes and goes, against a list of what must arrive.
 */
#include "base/err.h"
#include "test/support/ch3_helper.h"

struct test_stream {
    struct ch3_stream stream;
    struct ch3_bench *b;
    uint32_t mark, packets, made; /* packets to make; each has seq mark + number */
    unsigned idle;                /* so many calls give nothing */
    size_t len;
    int done, err;
    struct ch3_vc *again; /* sent to from done, with mark 7777 */
    bool restart;         /* started anew from done, once */
    struct ch3_vc *vc;
};

static bool stream_next(struct ch3_stream *st, void *room, size_t cap, size_t *len)
{
    struct test_stream *ts = LIST_ENTRY(st, struct test_stream, stream);
    assert_true(ts->b->fake.reserved && room == ts->b->fake.buf);
    assert_int_equal(cap, st->wants ? st->wants : PKT_MAX);
    assert_int_equal(*len, 0);
    assert_true(ts->made < ts->packets || ts->packets == 0);
    if (ts->idle) {
        ts->idle--;
        return false;
    }
    if (!ts->packets)
        return true; /* nothing to send at all, as where only synchronization waited */
    const struct pkt_hdr hdr = bench_hdr(ts->mark + ts->made, ts->len);
    memset(room, 0, ts->len);
    memcpy(room, &hdr, sizeof hdr);
    *len = ts->len;
    return ++ts->made == ts->packets;
}

static void stream_done(struct ch3_stream *st, int err)
{
    struct test_stream *ts = LIST_ENTRY(st, struct test_stream, stream);
    assert_false(list_node_queued(&st->link));
    ts->done++;
    ts->err = err;
    if (ts->restart) {
        ts->restart = false;
        ts->made = 0;
        assert_int_equal(ch3_send_stream(ts->vc, st), err);
        return;
    }
    if (ts->again) {
        const struct pkt_hdr hdr = bench_hdr(7777, sizeof hdr);
        assert_int_equal(ch3_send(ts->again, &hdr, sizeof hdr, NULL, false),
                         err && ts->again == ts->vc ? err : MRMA_SUCCESS);
    }
}

static struct test_stream make_stream(struct ch3_bench *b, struct ch3_vc *vc, uint32_t mark,
                                      uint32_t packets)
{
    return (struct test_stream){.stream = {.next = stream_next, .done = stream_done},
                                .b = b,
                                .vc = vc,
                                .mark = mark,
                                .packets = packets,
                                .len = sizeof(struct pkt_hdr) + 8};
}

static void open_all(struct ch3_bench *b)
{
    for (int i = 0; i < FAKE_VCS; i++)
        assert_true(ch3_vc_event(&b->vc[i], CH3_VC_CONNECT));
}

static void copy(struct ch3_vc *vc, uint32_t mark, size_t len)
{
    _Alignas(8) unsigned char packet[PKT_MAX] = {0};
    const struct pkt_hdr hdr = bench_hdr(mark, len);
    memcpy(packet, &hdr, sizeof hdr);
    assert_int_equal(ch3_send(vc, packet, len, NULL, false), MRMA_SUCCESS);
    memset(packet, 0xee, sizeof packet); /* it was copied */
}

static void expect_sent(const struct ch3_bench *b, const uint32_t *marks, unsigned n)
{
    assert_int_equal(b->fake.nsent, n);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(b->fake.sent[i].mark, marks[i]);
}

static void test_direct(void **state)
{
    struct ch3_bench *b = *state;
    open_all(b);
    copy(&b->vc[0], 1, 64);
    copy(&b->vc[0], 2, PKT_MAX);
    expect_sent(b, (uint32_t[]){1, 2}, 2);
    assert_int_equal(b->fake.sent[1].len, PKT_MAX);
    assert_false(ch3_vc_busy(&b->vc[0]));
    assert_int_equal(b->ch3.stats.packets_sent, 2);
    assert_int_equal(b->ch3.stats.bytes_sent, 64 + PKT_MAX);
    assert_int_equal(b->ch3.stats.by_type[PKT_ACK], 2);
    assert_int_equal(b->ch3.stats.queued, 0);
    assert_int_equal(b->queued, 0);
}

static void test_copies_queue_in_order(void **state)
{
    struct ch3_bench *b = *state;
    struct ch3_vc *vc = &b->vc[0];
    const uint32_t marks[] = {1, 2, 3, 4, 5, 6};
    open_all(b);
    b->fake.room = 1;
    for (uint32_t i = 1; i <= 5; i++)
        copy(vc, i, 48 + 8 * i);
    expect_sent(b, marks, 1);
    assert_true(ch3_vc_busy(vc));
    assert_int_equal(vc->queued, 4 * 48 + 8 * (2 + 3 + 4 + 5));
    assert_int_equal(b->queued, 1);  /* once, when the queue began */
    assert_false(ch3_poll(&b->ch3)); /* no room: nothing moved */
    b->fake.room = 2;
    assert_true(ch3_poll(&b->ch3));
    expect_sent(b, marks, 3);
    b->fake.room = 100;
    copy(vc, 6, 48); /* room again, but not past those that wait */
    expect_sent(b, marks, 3);
    assert_true(ch3_poll(&b->ch3));
    expect_sent(b, marks, 6);
    assert_int_equal(vc->queued, 0);
    assert_false(ch3_vc_busy(vc));
    assert_false(ch3_unsent(&b->ch3));
    assert_false(ch3_poll(&b->ch3));
}

/* A poll that makes room and delivers nothing, as one that takes in credits does: nobody is told of
 * that room a second time, so what waits leaves at once. */
static void test_room_by_poll(void **state)
{
    struct ch3_bench *b = *state;
    open_all(b);
    b->fake.room = 0;
    copy(&b->vc[0], 1, 64);
    copy(&b->vc[1], 2, 64);
    copy(&b->vc[0], 3, 64);
    b->fake.room_by_poll = 2;
    assert_true(ch3_poll(&b->ch3));
    assert_int_equal(b->fake.nsent, 2);
    assert_true(ch3_unsent(&b->ch3));
    b->fake.room_by_poll = 1;
    assert_true(ch3_poll(&b->ch3));
    assert_int_equal(b->fake.nsent, 3);
    assert_false(ch3_unsent(&b->ch3));
}

static void test_stream_keeps_its_place(void **state)
{
    struct ch3_bench *b = *state;
    struct ch3_vc *vc = &b->vc[0];
    struct test_stream s1 = make_stream(b, vc, 100, 3), s2 = make_stream(b, vc, 200, 2);
    open_all(b);
    b->fake.room = 0;
    copy(vc, 1, 64);
    assert_int_equal(ch3_send_stream(vc, &s1.stream), MRMA_SUCCESS);
    copy(vc, 2, 64);
    assert_int_equal(ch3_send_stream(vc, &s2.stream), MRMA_SUCCESS);
    copy(vc, 3, 64);
    const uint32_t marks[] = {1, 100, 101, 102, 2, 200, 201, 3};
    for (unsigned i = 0; i < 8; i++) {
        expect_sent(b, marks, i);
        assert_int_equal(s1.done, i >= 4);
        assert_int_equal(s2.done, i >= 7);
        b->fake.room = 1;
        assert_true(ch3_poll(&b->ch3));
    }
    expect_sent(b, marks, 8);
    assert_false(ch3_vc_busy(vc));
    assert_int_equal(s1.err, MRMA_SUCCESS);
}

static void test_stream_at_once(void **state)
{
    struct ch3_bench *b = *state;
    struct test_stream s = make_stream(b, &b->vc[0], 10, 3),
                       none = make_stream(b, &b->vc[0], 20, 0);
    open_all(b);
    s.stream.wants = s.len;
    assert_int_equal(ch3_send_stream(&b->vc[0], &s.stream), MRMA_SUCCESS);
    assert_int_equal(s.done, 1);
    assert_int_equal(b->fake.biggest_reserve, s.len);
    assert_int_equal(ch3_send_stream(&b->vc[0], &none.stream), MRMA_SUCCESS);
    assert_int_equal(none.done, 1);
    assert_int_equal(b->fake.empty_commits, 1);
    expect_sent(b, (uint32_t[]){10, 11, 12}, 3);
    assert_int_equal(b->queued, 0);
}

/* A stream that has nothing to give for the moment holds its place. */
static void test_idle_stream(void **state)
{
    struct ch3_bench *b = *state;
    struct test_stream s = make_stream(b, &b->vc[0], 10, 1);
    open_all(b);
    s.idle = 2;
    assert_int_equal(ch3_send_stream(&b->vc[0], &s.stream), MRMA_SUCCESS);
    copy(&b->vc[0], 11, 64);
    expect_sent(b, NULL, 0);
    assert_false(ch3_poll(&b->ch3));
    assert_true(ch3_poll(&b->ch3));
    expect_sent(b, (uint32_t[]){10, 11}, 2);
}

/* done may send on the same connection, whose queue it has just emptied. */
static void test_send_from_done(void **state)
{
    struct ch3_bench *b = *state;
    struct test_stream s = make_stream(b, &b->vc[0], 10, 1),
                       other = make_stream(b, &b->vc[1], 20, 1);
    open_all(b);
    s.again = &b->vc[0];
    other.again = &b->vc[2];
    b->fake.room = 0;
    assert_int_equal(ch3_send_stream(&b->vc[0], &s.stream), MRMA_SUCCESS);
    assert_int_equal(ch3_send_stream(&b->vc[1], &other.stream), MRMA_SUCCESS);
    b->fake.room = 1;
    assert_true(ch3_poll(&b->ch3)); /* s leaves, what its done sends must wait */
    expect_sent(b, (uint32_t[]){10}, 1);
    assert_true(ch3_vc_busy(&b->vc[0]));
    b->fake.room = 100;
    for (int i = 0; i < 3; i++)
        (void)ch3_poll(&b->ch3);
    assert_int_equal(b->fake.nsent, 4);
    assert_false(ch3_unsent(&b->ch3));
    assert_true(list_empty(&b->ch3.pending_vcs));
    for (int i = 0; i < FAKE_VCS; i++)
        assert_false(ch3_vc_busy(&b->vc[i]));
}

static void test_restart_from_done(void **state)
{
    struct ch3_bench *b = *state;
    struct test_stream s = make_stream(b, &b->vc[0], 10, 2);
    open_all(b);
    s.restart = true;
    b->fake.room = 3;
    assert_int_equal(ch3_send_stream(&b->vc[0], &s.stream), MRMA_SUCCESS);
    assert_int_equal(s.done, 1);
    b->fake.room = 1;
    assert_true(ch3_poll(&b->ch3));
    expect_sent(b, (uint32_t[]){10, 11, 10, 11}, 4);
    assert_int_equal(s.done, 2);
    assert_true(list_empty(&b->ch3.pending_vcs));
}

static void test_lost_connection(void **state)
{
    struct ch3_bench *b = *state;
    struct ch3_vc *vc = &b->vc[0];
    struct test_stream s1 = make_stream(b, vc, 10, 2), s2 = make_stream(b, vc, 20, 1),
                       late = make_stream(b, vc, 30, 1);
    open_all(b);
    b->fake.room = 1;
    s1.again = vc; /* refused then: the connection is gone */
    assert_int_equal(ch3_send_stream(vc, &s1.stream), MRMA_SUCCESS);
    copy(vc, 1, 100);
    assert_int_equal(ch3_send_stream(vc, &s2.stream), MRMA_SUCCESS);
    ch3_vc_lost(vc);
    assert_int_equal(s1.done, 1);
    assert_int_equal(s1.err, MRMA_ERR_PROC_FAILED);
    assert_int_equal(s2.done, 1);
    assert_int_equal(s2.err, MRMA_ERR_PROC_FAILED);
    assert_int_equal(vc->queued, 0);
    assert_false(ch3_vc_busy(vc));
    assert_false(ch3_unsent(&b->ch3));
    assert_int_equal(ch3_send_stream(vc, &late.stream), MRMA_ERR_PROC_FAILED);
    assert_int_equal(late.done, 0); /* it was never accepted */
    b->fake.room = 10;
    assert_false(ch3_poll(&b->ch3));
    expect_sent(b, (uint32_t[]){10}, 1);
}

/* ---- random ---- */

enum { RANDOM_SENDS = 1500 };

struct expectation {
    uint32_t marks[FAKE_VCS][FAKE_KEPT];
    unsigned n[FAKE_VCS];
};

static void test_random(void **state)
{
    struct ch3_bench *b = *state;
    static struct test_stream streams[RANDOM_SENDS];
    static struct expectation want;
    uint64_t seed = 4711;
    uint32_t mark = 1;
    unsigned nstreams = 0, at[FAKE_VCS] = {0}, was_queued = 0;
    memset(&want, 0, sizeof want);
    open_all(b);
    b->fake.room = 0;
    for (int i = 0; i < RANDOM_SENDS; i++) {
        const uint64_t r = next_random(&seed);
        const unsigned v = r % FAKE_VCS;
        uint32_t packets = 1;
        if (r / 8 % 4 == 0) {
            struct test_stream *s = &streams[nstreams++];
            packets = (uint32_t)(r / 64 % 5);
            *s = make_stream(b, &b->vc[v], mark, packets);
            s->idle = r / 512 % 3;
            assert_int_equal(ch3_send_stream(&b->vc[v], &s->stream), MRMA_SUCCESS);
        } else {
            copy(&b->vc[v], mark, sizeof(struct pkt_hdr) + r / 1024 % 2000);
        }
        for (uint32_t k = 0; k < packets; k++)
            want.marks[v][want.n[v]++] = mark++;
        was_queued += ch3_unsent(&b->ch3);
        b->fake.room += next_random(&seed) % 4;
        if (next_random(&seed) % 2)
            (void)ch3_poll(&b->ch3);
    }
    b->fake.room = UINT32_MAX;
    for (int i = 0; i < 10; i++)
        (void)ch3_poll(&b->ch3);
    assert_false(ch3_unsent(&b->ch3));
    assert_true(was_queued > RANDOM_SENDS / 4);
    for (unsigned i = 0; i < b->fake.nsent; i++) {
        const long v = b->fake.sent[i].vc - b->vc;
        assert_int_equal(b->fake.sent[i].mark, want.marks[v][at[v]]);
        at[v]++;
    }
    for (int v = 0; v < FAKE_VCS; v++) {
        assert_int_equal(at[v], want.n[v]);
        assert_int_equal(b->vc[v].queued, 0);
    }
    for (unsigned i = 0; i < nstreams; i++)
        assert_int_equal(streams[i].done, 1);
    assert_int_equal(b->ch3.stats.packets_sent, b->fake.nsent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(test_direct),
        BENCH_TEST(test_copies_queue_in_order),
        BENCH_TEST(test_room_by_poll),
        BENCH_TEST(test_stream_at_once),
        BENCH_TEST(test_stream_keeps_its_place),
        BENCH_TEST(test_idle_stream),
        BENCH_TEST(test_send_from_done),
        BENCH_TEST(test_restart_from_done),
        BENCH_TEST(test_lost_connection),
        BENCH_TEST(test_random),
    };
    return cmocka_run_group_tests_name("sendq", tests, NULL, NULL);
}
