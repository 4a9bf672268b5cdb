/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chan_rdma.c - see chan_rdma.h.
 */
#include "chan_rdma.h"

#include "base/err.h"
#include "chan_rig.h"

enum { SEGMENT = 3 << 20 };

struct transfer {
    struct ch3_rdma op; /* first */
    struct rig_end *end;
    unsigned rounds; /* to go, from within done */
    unsigned done;
    int err;
};

static void transferred(struct ch3_rdma *op, int err)
{
    struct transfer *t = (struct transfer *)op;
    t->done++;
    t->err = err;
    if (!err && t->rounds && t->rounds-- && t->end->ch->ops->rdma(t->end->ch, &t->end->vc[1], op))
        t->rounds = UINT32_MAX; /* could not be started anew: seen by the test */
}

static void start(struct rig *rig, struct transfer *t)
{
    struct rig_end *a = &rig->end[0];
    const uint64_t begin = rig_now(rig);
    int err;
    t->end = a;
    t->op.done = transferred;
    while ((err = a->ch->ops->rdma(a->ch, &a->vc[1], &t->op)) == MRMA_AGAIN) {
        rig_poll(rig);
        assert_true(rig_now(rig) - begin < UINT64_C(20000000000));
    }
    assert_int_equal(err, 0);
}

static void finish(struct rig *rig, const struct transfer *t, unsigned done)
{
    const uint64_t begin = rig_now(rig);
    while (t->done < done) {
        rig_poll(rig);
        assert_true(rig_now(rig) - begin < UINT64_C(20000000000));
    }
    assert_int_equal(t->done, done);
}

/* Packets that tell where puts end look at the memory when they arrive. */
static unsigned char *looked_at;
static size_t look_len;
static unsigned seen_late;

static void look(struct rig_end *end, int from, const void *packet, size_t len)
{
    const unsigned char mark = (unsigned char)(end->got[from] + 1);
    (void)packet;
    (void)len;
    seen_late +=
        looked_at[0] != mark || looked_at[look_len / 2] != mark || looked_at[look_len - 1] != mark;
}

static struct rig *rdma_rig(void **state)
{
    struct rig *rig = rig_open(*state, 2);
    if (rig->end[0].ch->caps & CH3_CAP_RDMA)
        return rig;
    rig_close(rig);
    return NULL;
}

/* There and back, whole, any length; done comes once and may start anew. */
void rdma_put_get(void **state)
{
    static const size_t lengths[] = {1, 7, 4096, 65537, SEGMENT};
    struct rig *rig = rdma_rig(state);
    if (!rig)
        return;
    struct rig_end *b = &rig->end[1];
    unsigned char *target = calloc(1, SEGMENT), *out = malloc(SEGMENT), *in = malloc(SEGMENT);
    struct ch3_mem_key key;
    struct ch3_mem *mem;
    assert_int_equal(b->ch->ops->mem_register(b->ch, target, SEGMENT, &key, &mem), 0);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const size_t len = lengths[i], at = SEGMENT - len;
        struct transfer put = {
            .op = {.put = true, .local = out, .len = len, .key = key.key, .remote = key.base + at},
            .rounds = 3};
        struct transfer get = {
            .op = {.local = in, .len = len, .key = key.key, .remote = key.base + at}};
        assert_true(len <= rig->end[0].ch->rdma.max);
        for (size_t k = 0; k < len; k++)
            out[k] = (unsigned char)(k * 11 + i + (k >> 9));
        start(rig, &put);
        finish(rig, &put, 4);
        assert_int_equal(put.err, 0);
        assert_memory_equal(target + at, out, len);
        memset(in, 0, len);
        start(rig, &get);
        finish(rig, &get, 1);
        assert_int_equal(get.err, 0);
        assert_memory_equal(in, out, len);
    }
    b->ch->ops->mem_release(b->ch, mem);
    rig_close(rig);
    free(target), free(out), free(in);
}

/* Where the channel says so, a packet behind a put finds its data in place. */
void rdma_ordered(void **state)
{
    struct rig *rig = rdma_rig(state);
    if (!rig)
        return;
    struct rig_end *a = &rig->end[0], *b = &rig->end[1];
    if (a->ch->caps & CH3_CAP_RDMA_ORDERED) {
        unsigned char *out[4];
        struct ch3_mem_key key;
        struct ch3_mem *mem;
        look_len = 200000;
        looked_at = calloc(1, look_len);
        seen_late = 0;
        assert_int_equal(b->ch->ops->mem_register(b->ch, looked_at, look_len, &key, &mem), 0);
        b->on_packet = look;
        for (unsigned i = 0; i < 4; i++)
            out[i] = malloc(look_len);
        for (unsigned i = 0; i < 100; i++) {
            struct transfer put = {.op = {.put = true,
                                          .local = out[i % 4],
                                          .len = look_len,
                                          .key = key.key,
                                          .remote = key.base}};
            memset(out[i % 4], (int)(i + 1), look_len);
            start(rig, &put);
            rig_send_surely(rig, 0, 1, 64); /* at once */
            finish(rig, &put, 1);
            rig_settle(rig);
        }
        assert_int_equal(seen_late, 0);
        b->ch->ops->mem_release(b->ch, mem);
        free(looked_at);
        for (unsigned i = 0; i < 4; i++)
            free(out[i]);
    }
    rig_close(rig);
}

/* The words of puts look at the memory, too. */
static unsigned words;

static void look_for_word(struct ch3_channel *ch, uint32_t word)
{
    const unsigned char mark = (unsigned char)++words;
    (void)ch;
    assert_int_equal(word, UINT32_MAX - words);
    seen_late +=
        looked_at[0] != mark || looked_at[look_len / 2] != mark || looked_at[look_len - 1] != mark;
}

/* A word comes once for each put that takes it, in order, when the data of the put is in place, and
 * none for others. */
void rdma_words(void **state)
{
    static const size_t lengths[] = {1, 200, 65537, 200000};
    struct rig *rig = rdma_rig(state);
    if (!rig)
        return;
    struct rig_end *b = &rig->end[1];
    if (rig->end[0].ch->caps & CH3_CAP_RDMA_WORD) {
        unsigned char *out = malloc(200000);
        struct ch3_mem_key key;
        struct ch3_mem *mem;
        looked_at = calloc(1, 200000);
        seen_late = words = 0;
        assert_int_equal(b->ch->ops->mem_register(b->ch, looked_at, 200000, &key, &mem), 0);
        b->ch->word = look_for_word;
        for (unsigned i = 1; i <= 100; i++) {
            look_len = lengths[i % 4];
            struct transfer put = {.op = {.put = true,
                                          .local = out,
                                          .len = look_len,
                                          .key = key.key,
                                          .remote = key.base}};
            memset(out, (int)i + 100, look_len);
            start(rig, &put);
            finish(rig, &put, 1);
            memset(out, (int)i, look_len);
            put.op.with_word = true;
            put.op.word = UINT32_MAX - i;
            start(rig, &put);
            finish(rig, &put, 2);
            const uint64_t begin = rig_now(rig);
            while (words < i) {
                rig_poll(rig);
                assert_true(rig_now(rig) - begin < UINT64_C(20000000000));
            }
        }
        for (unsigned i = 0; i < 100; i++)
            rig_poll(rig);
        assert_int_equal(words, 100);
        assert_int_equal(seen_late, 0);
        b->ch->ops->mem_release(b->ch, mem);
        free(looked_at), free(out);
    }
    rig_close(rig);
}

/* The target ends: done is called all the same, once, with an error. */
void rdma_lost(void **state)
{
    struct rig *rig = rdma_rig(state);
    if (!rig)
        return;
    struct rig_end *a = &rig->end[0], *b = &rig->end[1];
    unsigned char *target = calloc(1, SEGMENT), *out = calloc(1, SEGMENT);
    struct ch3_mem_key key;
    struct ch3_mem *mem;
    rig_greet(rig);
    assert_int_equal(b->ch->ops->mem_register(b->ch, target, SEGMENT, &key, &mem), 0);
    struct transfer get = {
        .op = {.local = out, .len = SEGMENT, .key = key.key, .remote = key.base}};
    start(rig, &get);
    b->ch->ops->mem_release(b->ch, mem);
    rig->kind->vanish(rig, 1);
    const uint64_t begin = rig_now(rig);
    for (unsigned i = 0; !get.done; i++) {
        if (i % 100 == 0 && a->vc[1].state == CH3_VC_OPEN)
            a->ch->ops->probe(a->ch, &a->vc[1]);
        rig_poll(rig);
        rig_rest(rig);
        assert_true(rig_now(rig) - begin < UINT64_C(10000000000));
    }
    for (unsigned i = 0; i < 100; i++)
        rig_poll(rig);
    assert_int_equal(get.done, 1);
    assert_int_not_equal(get.err, 0);
    assert_int_equal(a->vc[1].state, CH3_VC_FAILED);
    rig_close(rig);
    assert_int_equal(get.done, 1);
    free(target), free(out);
}
