/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ch3_helper.h - a channel with as much room as the test gives it, for the tests
 * of src/ch3.
 *
 * What is committed is kept in order, with its connection. room counts packets
 * that reserve still accepts. The contract of ch3/channel.h is checked: no call
 * between reserve and commit, no commit of more than was reserved.
 */
#ifndef MRMA_TEST_CH3_HELPER_H
#define MRMA_TEST_CH3_HELPER_H

#include "base_helper.h"
#include "ch3/ch3.h"

enum { FAKE_KEPT = 4096 };

struct fake_packet {
    struct ch3_vc *vc;
    uint32_t len, mark; /* mark: the header's seq */
};

struct fake_channel {
    struct ch3_channel channel;  /* first */
    unsigned room, room_by_poll; /* room_by_poll: what the next poll adds */
    bool reserved;
    size_t reserved_len, biggest_reserve;
    _Alignas(8) unsigned char buf[CH3_PACKET_MAX];
    struct fake_packet sent[FAKE_KEPT];
    unsigned nsent, empty_commits, disconnects, polls;
    bool arrived; /* what pending says */
};

static inline void *fake_reserve(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct fake_channel *f = (struct fake_channel *)ch;
    (void)vc;
    assert_false(f->reserved);
    assert_true(len > 0 && len <= CH3_PACKET_MAX);
    if (f->biggest_reserve < len)
        f->biggest_reserve = len;
    if (!f->room)
        return NULL;
    f->reserved = true;
    f->reserved_len = len;
    return f->buf;
}

static inline void fake_commit(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct fake_channel *f = (struct fake_channel *)ch;
    assert_true(f->reserved);
    assert_true(len <= f->reserved_len);
    f->reserved = false;
    if (!len) {
        f->empty_commits++;
        return;
    }
    const struct pkt_hdr *hdr = (const struct pkt_hdr *)(const void *)f->buf;
    assert_true(f->nsent < FAKE_KEPT);
    f->sent[f->nsent++] = (struct fake_packet){vc, (uint32_t)len, hdr->seq};
    f->room--;
}

static inline unsigned fake_poll(struct ch3_channel *ch)
{
    struct fake_channel *f = (struct fake_channel *)ch;
    f->polls++;
    f->room += f->room_by_poll;
    f->room_by_poll = 0;
    return 0;
}

static inline bool fake_pending(struct ch3_channel *ch)
{
    return ((struct fake_channel *)ch)->arrived;
}

static inline void fake_disconnect(struct ch3_channel *ch, struct ch3_vc *vc)
{
    (void)vc;
    ((struct fake_channel *)ch)->disconnects++;
}

static const struct ch3_channel_ops fake_ops = {.name = "fake",
                                                .reserve = fake_reserve,
                                                .commit = fake_commit,
                                                .poll = fake_poll,
                                                .pending = fake_pending,
                                                .disconnect = fake_disconnect};

enum { FAKE_VCS = 3 };

/* One process's end with a few connections. */
struct ch3_bench {
    struct log_pipe lp;
    struct fake_channel fake;
    struct ch3 ch3;
    struct ch3_vc vc[FAKE_VCS];
    unsigned queued; /* ch3's queued call-back */
    unsigned handled[PKT_TYPE_LAST];
    struct pkt_hdr last;
    const void *last_body;
    struct ch3_vc *last_from;
};

static inline void bench_handle(void *ctx, struct ch3_vc *from, const struct pkt_hdr *hdr,
                                const void *body)
{
    struct ch3_bench *b = ctx;
    b->handled[hdr->type]++;
    b->last = *hdr;
    b->last_body = body;
    b->last_from = from;
}

static inline void bench_queued(void *ctx)
{
    ((struct ch3_bench *)ctx)->queued++;
}

static const ch3_handler bench_handlers[PKT_TYPE_LAST] = {
    [PKT_OPS] = bench_handle,    [PKT_POST] = bench_handle,        [PKT_OPEN] = bench_handle,
    [PKT_ACK] = bench_handle,    [PKT_REPLY] = bench_handle,       [PKT_ERROR] = bench_handle,
    [PKT_SYNC] = bench_handle,   [PKT_COUNTS] = bench_handle,      [PKT_REGION_ASK] = bench_handle,
    [PKT_REGION] = bench_handle, [PKT_REGION_GONE] = bench_handle, [PKT_REGION_LEFT] = bench_handle,
};

static inline int bench_setup(void **state)
{
    struct ch3_bench *b = calloc(1, sizeof *b);
    log_to_pipe(&b->lp, LOG_LEVEL_WARN);
    b->fake.channel.ops = &fake_ops;
    b->fake.room = UINT32_MAX;
    ch3_init(&b->ch3, &b->lp.log, bench_handlers, b);
    b->ch3.queued = bench_queued;
    ch3_add_channel(&b->ch3, &b->fake.channel);
    for (int i = 0; i < FAKE_VCS; i++)
        ch3_vc_init(&b->vc[i], &b->ch3, &b->fake.channel, &b->handled[i], b);
    *state = b;
    return 0;
}

static inline int bench_teardown(void **state)
{
    struct ch3_bench *b = *state;
    for (int i = 0; i < FAKE_VCS; i++)
        ch3_vc_lost(&b->vc[i]);
    log_pipe_close(&b->lp);
    free(b);
    return 0;
}

static inline struct pkt_hdr bench_hdr(uint32_t mark, size_t len)
{
    return (struct pkt_hdr){
        .version = PKT_VERSION, .type = PKT_ACK, .len = (uint32_t)len, .seq = mark};
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

#endif
