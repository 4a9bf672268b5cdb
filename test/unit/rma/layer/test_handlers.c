/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_handlers.c - packets that are not due: refused and counted, nothing follows
 * from them, and what is outstanding completes as if they had not come.
 */
#include "rma/origin/origin_impl.h"
#include "rma/origin/refused.h"
#include "test/support/pkt_craft.h"

#include "rma/layer/layer.h"

enum { PROCS = 3, SIZE = 4096 };

static unsigned char area[PROCS][SIZE];

/* Whatever a test has left open is closed, and everything works. */
static void destroy(struct fabric_proc *p, void *arg)
{
    struct win *w = win[p->rank];
    const int target = (p->rank + 1) % PROCS;
    int64_t old;
    const int64_t one = 1;
    (void)arg;
    if (w->epoch.state == EPOCH_LOCK_ALL)
        OK(rma_unlock_all(w));
    rest(p);
    memset(area[p->rank], 0, SIZE);
    rest(p);
    OK(rma_lock(w, true, target, 0));
    fetch_add(w, target, 0, &one, &old, 1);
    OK(rma_flush(w, target, false));
    fetch_add(w, target, 0, &one, &old, 1);
    OK(rma_unlock(w, target));
    FABRIC_CHECK(old == 1);
    OK(rma_fence(w, 0));
    add(w, target, 0, &one, 1);
    OK(rma_fence(w, 0));
    FABRIC_CHECK(*(int64_t *)(void *)area[p->rank] == 3);
    fabric_win_free(w);
}

static int setup(void **state)
{
    (void)state;
    craft_setup(PROCS, 0, (struct craft_window){area[0], SIZE, SIZE, 1});
    for (size_t i = 0; i < SIZE; i++)
        area[0][i] = area[1][i] = area[2][i] = (unsigned char)(i * 5);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    craft_teardown(destroy);
    return 0;
}

static void check_memory(void)
{
    for (size_t i = 0; i < SIZE; i++)
        for (int p = 0; p < PROCS; p++)
            assert_int_equal(area[p][i], (unsigned char)(i * 5));
}

/* c goes from one process to another and is refused there; nobody answers. */
static void check_refused(int from, int to, struct craft *c)
{
    const uint64_t before = refused(&fabric->procs[to]),
                   sent = counters(&fabric->procs[to]).packets_sent;
    craft_send(fabric, from, to, c);
    assert_int_equal(refused(&fabric->procs[to]), before + 1);
    assert_int_equal(counters(&fabric->procs[to]).packets_sent, sent);
    check_memory();
}

static void test_table(void **state)
{
    (void)state;
    assert_null(rma_handlers[PKT_NONE]);
    for (int type = PKT_NONE + 1; type < PKT_TYPE_LAST; type++)
        assert_non_null(rma_handlers[type]);
}

/* A header for window rank 0 of process 1, with a put behind it where it is PKT_OPS. */
static struct pkt_hdr *begin(struct craft *c, int type)
{
    static const struct pkt_op put = {.kind = PKT_OP_PUT, .nseg = 1, .data_len = 8};
    static const struct pkt_seg seg = {.disp = 8, .len = 8};
    craft_begin(c, (enum pkt_type)type, win[1], 0);
    if (type == PKT_OPS)
        craft_record(c, &put, &seg, 1, "12345678", 8);
    return craft_hdr(c);
}

static void test_wrong_window(void **state)
{
    static const uint32_t indices[] = {1, 15, 16, 1000, UINT32_MAX};
    struct craft c;
    (void)state;
    for (int type = PKT_NONE + 1; type < PKT_TYPE_LAST; type++) {
        for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
            begin(&c, type)->win = indices[i];
            check_refused(0, 1, &c);
        }
        const uint32_t gens[] = {0, win[1]->index_gen + 1,
                                 UINT32_MAX}; /* earlier ones: test_late */
        for (size_t i = 0; i < sizeof gens / sizeof *gens; i++) {
            begin(&c, type)->win_gen = gens[i];
            check_refused(0, 1, &c);
        }
    }
}

/* Of a window that has ended: what nobody awaits is dropped without a word, the rest
 * is refused. */
static void test_late(void **state)
{
    struct craft c;
    struct rma *r = &fabric->procs[1].rma;
    (void)state;
    r->win_gens[win[1]->index] += 2; /* as if the index had been used again */
    for (int type = PKT_NONE + 1; type < PKT_TYPE_LAST; type++) {
        const uint64_t late = r->stats.late;
        begin(&c, type)->win_gen++;
        if (type != PKT_POST && type != PKT_OPEN && type != PKT_ERROR && type != PKT_REGION_ASK &&
            type != PKT_REGION) {
            check_refused(0, 1, &c);
            continue;
        }
        const uint64_t before = refused(&fabric->procs[1]);
        craft_send(fabric, 0, 1, &c);
        assert_int_equal(refused(&fabric->procs[1]), before);
        assert_int_equal(r->stats.late, late + 1);
    }
    r->win_gens[win[1]->index] -= 2;
}

static void test_wrong_rank(void **state)
{
    static const uint32_t ranks[] = {1, 2, PROCS, 1000, UINT32_MAX}; /* itself, another, none */
    struct craft c;
    (void)state;
    for (int type = PKT_NONE + 1; type < PKT_TYPE_LAST; type++)
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
            begin(&c, type)->rank = ranks[i];
            check_refused(0, 1, &c);
        }
}

static void test_wrong_header(void **state)
{
    static const uint8_t may_piggyback[PKT_EPOCH_LAST] = {
        [PKT_EPOCH_FENCE] = PKT_F_FENCE | PKT_F_WANT_OPEN,
        [PKT_EPOCH_PSCW] = PKT_F_COMPLETE | PKT_F_WANT_OPEN,
        [PKT_EPOCH_LOCK] = (uint8_t) ~(PKT_F_FENCE | PKT_F_COMPLETE),
        [PKT_EPOCH_NOCHECK] = PKT_F_WANT_OPEN | PKT_F_FLUSH};
    struct craft c;
    (void)state;
    begin(&c, PKT_OPS)->version++;
    check_refused(0, 1, &c);
    for (int type = 0; type < 256; type++) {
        begin(&c, PKT_OPS)->type = (uint8_t)type;
        if (type != PKT_OPS) /* a type that exists fails for its epoch */
            check_refused(0, 1, &c);
    }
    for (int epoch = 0; epoch < 256; epoch++) {
        begin(&c, PKT_OPS)->epoch = (uint8_t)epoch;
        if (epoch == PKT_EPOCH_NONE || epoch >= PKT_EPOCH_LAST)
            check_refused(0, 1, &c);
        for (int flag = 1; flag < 256 && epoch < PKT_EPOCH_LAST; flag <<= 1) {
            craft_hdr(&c)->flags = (uint8_t)flag;
            if (!(may_piggyback[epoch] & flag))
                check_refused(0, 1, &c);
        }
    }
    for (int type = PKT_OPS + 1; type < PKT_TYPE_LAST; type++) {
        begin(&c, type)->flags = PKT_F_FLUSH;
        check_refused(0, 1, &c);
        begin(&c, type)->epoch = PKT_EPOCH_LOCK;
        check_refused(0, 1, &c);
    }
    for (size_t len = 1; len < sizeof(struct pkt_hdr) + 48;
         len++) { /* what came is not what it says */
        const uint64_t before = refused(&fabric->procs[1]);
        begin(&c, PKT_OPS);
        if (len == craft_hdr(&c)->len)
            continue;
        craft_send_raw(fabric, 0, 1, &c, len);
        assert_int_equal(refused(&fabric->procs[1]), before + 1);
    }
    check_memory();
}

struct part {
    uint32_t request;
    uint64_t offset;
    uint32_t len;
    const unsigned char *data;
};

static void add_parts(struct craft *c, const struct part *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct pkt_part head = {parts[i].request, parts[i].len, parts[i].offset};
        craft_append(c, &head, sizeof head);
        craft_append(c, parts[i].data, parts[i].data ? parts[i].len : 0);
    }
    craft_hdr(c)->count = (uint32_t)n;
}

/* Nothing has been asked, so no acknowledgement, reply or barrier is due. */
static void test_not_due(void **state)
{
    static const uint32_t numbers[] = {0, 1, 2, 77, UINT32_MAX};
    struct craft c;
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        begin(&c, PKT_ACK)->seq = numbers[i];
        check_refused(0, 1, &c);
        begin(&c, PKT_REPLY)->count = numbers[i];
        check_refused(0, 1, &c);
        begin(&c, PKT_REPLY);
        add_parts(&c, &(struct part){numbers[i], 0, 8, (const unsigned char *)"12345678"}, 1);
        check_refused(0, 1, &c);
        if (numbers[i] != 1) {
            begin(&c, PKT_SYNC)->seq = numbers[i];
            check_refused(0, 1, &c);
        }
    }
}

/* More posts than access epochs were started, and one. Fewer than are known have come late. */
static void test_posts(void **state)
{
    static const uint32_t many[] = {2, 77, INT32_MAX};
    const struct rma_target *t = win_peek(win[1], 0);
    struct craft c;
    (void)state;
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        begin(&c, PKT_POST)->seq = many[i];
        check_refused(0, 1, &c);
        begin(&c, PKT_OPS)->epoch = PKT_EPOCH_PSCW;
        craft_hdr(&c)->total = many[i];
        check_refused(0, 1, &c);
        static const int answers[] = {PKT_OPEN, PKT_ACK, PKT_REPLY};
        for (size_t k = 0; k < sizeof answers / sizeof *answers; k++) {
            begin(&c, answers[k])->total = many[i];
            check_refused(0, 1, &c);
        }
    }
    assert_int_equal(atomic_load(&t->in->posts), 0);
    for (uint32_t posts = 2; posts--;) {
        begin(&c, PKT_POST)->seq = posts;
        craft_send(fabric, 0, 1, &c);
        assert_int_equal(atomic_load(&t->in->posts), 1);
    }
    atomic_store(&t->in->posts, 0);
}

/* An epoch is not opened by the word for another one. */
static void test_wrong_open(void **state)
{
    struct win *w = win[0];
    struct craft c;
    (void)state;
    assert_int_equal(rma_lock(w, true, 1, 0), MRMA_SUCCESS);
    const struct origin_pair *pair = win_peek(w, 1)->pair;
    for (uint32_t lock = 0; lock < 2; lock++)
        for (uint32_t seq = 0; seq < 4; seq++) {
            craft_begin(&c, PKT_OPEN, w, 1);
            craft_hdr(&c)->seq = seq;
            craft_hdr(&c)->count = lock;
            craft_send(fabric, 1, 0, &c);
            assert_int_equal(pair->lock, ORIGIN_LOCK_DUE);
        }
    assert_int_equal(rma_unlock(w, 1), MRMA_SUCCESS);
}

/* The number of the one request that is under way. */
static uint32_t only_request(const struct rma *r)
{
    assert_int_equal(map_count(&r->requests), 1);
    for (uint64_t number = 1; number <= UINT32_MAX; number++)
        if (map_get(&r->requests, (uint32_t)number))
            return (uint32_t)number;
    return 0;
}

/* Process 0 has asked process 1 for 64 bytes; before these come, replies come that
 * are not the answer: from another, out of position, too long, empty. */
static void test_wrong_reply(void **state)
{
    struct win *w = win[0];
    unsigned char got[64] = {0}, none[64] = {0}, junk[72];
    struct rma_req req;
    struct rma_op op = byte_op(NULL, got, 1, 100, 64);
    struct craft c;
    (void)state;
    memset(junk, 0xee, sizeof junk);
    op.req = &req;
    rma_req_init(&req);
    assert_int_equal(rma_lock_all(w, RMA_NOCHECK), MRMA_SUCCESS);
    assert_int_equal(rma_get(w, &op), MRMA_SUCCESS);
    const uint32_t number = only_request(&fabric->procs[0].rma);
    const struct {
        int from;
        uint32_t request;
        uint64_t offset;
        uint32_t len;
    } wrong[] = {
        {1, number + 1, 0, 64},     {1, number - 1, 0, 64}, {2, number, 0, 64},
        {1, number, 8, 56},         {1, number, 64, 8},     {1, number, 0, 72},
        {1, number, UINT64_MAX, 8}, {1, number, 0, 0},      {1, number, UINT64_MAX - 7, 8}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const uint64_t before = fabric->procs[0].rma.stats.refused;
        craft_begin(&c, PKT_REPLY, w, wrong[i].from);
        add_parts(&c, &(struct part){wrong[i].request, wrong[i].offset, wrong[i].len, junk}, 1);
        /* not settle: process 1 has the request in its ring and would answer it */
        struct ch3_vc *vc = &fabric->procs[wrong[i].from].peers[0].peer.vc;
        assert_int_equal(ch3_send(vc, c.bytes, craft_hdr(&c)->len, NULL, false), MRMA_SUCCESS);
        fabric_progress(&fabric->procs[0]);
        assert_int_equal(fabric->procs[0].rma.stats.refused, before + 1);
        assert_false(rma_req_done(&req));
        assert_memory_equal(got, none, sizeof got);
    }
    settle(fabric);
    assert_true(rma_req_done(&req));
    assert_int_equal(atomic_load(&req.err), MRMA_SUCCESS);
    assert_memory_equal(got, area[1] + 100, sizeof got);
    check_memory();
}

/* Numbers of requests come round: 0 is none, and one that is in use is not given again. */
static void test_requests_come_round(void **state)
{
    enum { GETS = 4 };
    static const uint32_t numbers[GETS] = {UINT32_MAX, 1, 2, 3};
    struct rma *r = &fabric->procs[0].rma;
    unsigned char got[GETS][64] = {{0}};
    struct rma_req req[GETS];
    (void)state;
    assert_int_equal(rma_lock_all(win[0], RMA_NOCHECK), MRMA_SUCCESS);
    for (int i = 0; i < GETS; i++) {
        struct rma_op op = byte_op(NULL, got[i], 1, 100 * (i + 1), 64);
        if (i == 0 || i == GETS - 1)
            r->last_request = UINT32_MAX - 1;
        op.req = &req[i];
        rma_req_init(&req[i]);
        assert_int_equal(rma_get(win[0], &op), MRMA_SUCCESS);
        assert_int_equal(map_count(&r->requests), i + 1);
        assert_non_null(map_get(&r->requests, numbers[i]));
    }
    settle(fabric);
    for (int i = 0; i < GETS; i++) {
        assert_true(rma_req_done(&req[i]));
        assert_int_equal(atomic_load(&req[i].err), MRMA_SUCCESS);
        assert_memory_equal(got[i], area[1] + 100 * (i + 1), sizeof got[i]);
    }
    assert_int_equal(rma_unlock_all(win[0]), MRMA_SUCCESS);
}

/* Replies to two requests in one packet: as they should be, and before that wrong in every way. */
static void test_parts(void **state)
{
    struct win *w = win[0];
    unsigned char got[2][64] = {{0}}, none[64] = {0}, data[64];
    struct rma_req req[2];
    uint32_t number[2];
    struct craft c;
    (void)state;
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i + 1);
    assert_int_equal(rma_lock_all(w, RMA_NOCHECK), MRMA_SUCCESS);
    for (int i = 0; i < 2; i++) {
        struct rma_op op = byte_op(NULL, got[i], 1, 100, i ? 13 : 64);
        op.req = &req[i];
        rma_req_init(&req[i]);
        assert_int_equal(rma_get(w, &op), MRMA_SUCCESS);
    }
    for (uint64_t k = 1, n = 0; n < 2; k++)
        if (map_get(&fabric->procs[0].rma.requests, (uint32_t)k))
            number[n++] = (uint32_t)k;
    const struct {
        struct part part;
        uint32_t count;
    } wrong[] = {{{number[0], 0, 0, data}, 1},         {{number[0], 8, 8, data}, 1},
                 {{number[0], 0, 65, NULL}, 1},        {{number[0], 0, UINT32_MAX, NULL}, 1},
                 {{number[1], 0, 14, data}, 1},        {{number[1] + 1, 0, 8, data}, 1},
                 {{number[0], 0, 0, NULL}, UINT32_MAX}};
    struct ch3_vc *vc = &fabric->procs[1].peers[0].peer.vc;
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        const uint64_t before = fabric->procs[0].rma.stats.refused;
        craft_begin(&c, PKT_REPLY, w, 1);
        if (i < sizeof wrong / sizeof *wrong)
            add_parts(&c, &wrong[i].part, 1);
        craft_hdr(&c)->count =
            i < sizeof wrong / sizeof *wrong ? wrong[i].count : 1; /* the last: no part at all */
        assert_int_equal(ch3_send(vc, c.bytes, craft_hdr(&c)->len, NULL, false), MRMA_SUCCESS);
        fabric_progress(&fabric->procs[0]);
        assert_true(fabric->procs[0].rma.stats.refused > before);
        assert_false(rma_req_done(&req[0]) || rma_req_done(&req[1]));
        assert_memory_equal(got[0], none, sizeof none);
        assert_memory_equal(got[1], none, sizeof none);
    }
    const struct part right[] = {
        {number[0], 0, 40, data}, {number[1], 0, 13, data}, {number[0], 40, 24, data + 40}};
    craft_begin(&c, PKT_REPLY, w, 1);
    add_parts(&c, right, 3);
    assert_int_equal(ch3_send(vc, c.bytes, craft_hdr(&c)->len, NULL, false), MRMA_SUCCESS);
    fabric_progress(&fabric->procs[0]);
    assert_true(rma_req_done(&req[0]) && rma_req_done(&req[1]));
    assert_memory_equal(got[0], data, 64);
    assert_memory_equal(got[1], data, 13);
    assert_memory_equal(got[1] + 13, none, 51);
    settle(fabric); /* the answers of process 1, to requests that have ended */
    assert_memory_equal(got[0], data, 64);
}

/* Of a request in two records the second is refused: its error comes behind the first one's answer.
 */
static void test_part_refused(void **state)
{
    struct win *w = win[0];
    unsigned char got[64] = {0};
    const struct rma_op op = byte_op(NULL, got, 1, 100, 64);
    const uint64_t before = fabric->procs[0].rma.stats.refused;
    const struct pkt_seg inside = {.disp = 100, .len = 8}, outside = {.disp = -8, .len = 56};
    struct craft c;
    (void)state;
    assert_int_equal(rma_lock_all(w, RMA_NOCHECK), MRMA_SUCCESS);
    assert_int_equal(rma_get(w, &op), MRMA_SUCCESS); /* stays in the open packet */
    struct pkt_op rec = {
        .kind = PKT_OP_GET, .nseg = 1, .request = only_request(&fabric->procs[0].rma)};
    craft_begin(&c, PKT_OPS, win[1], 0);
    craft_record(&c, &rec, &inside, 1, NULL, 0);
    rec.offset = 8;
    craft_record(&c, &rec, &outside, 1, NULL, 0);
    craft_send(fabric, 0, 1, &c);
    settle(fabric);
    assert_int_equal(map_count(&fabric->procs[0].rma.requests), 0);
    assert_int_equal(fabric->procs[0].rma.stats.refused, before);
    assert_memory_equal(got, area[1] + 100, 8);
    assert_int_equal(origin_take_error(w), MRMA_ERR_RMA_RANGE);
}

/* With one acknowledgement due, only that one is taken. */
static void test_wrong_ack(void **state)
{
    struct win *w = win[0];
    struct rma_req req;
    struct rma_op op = byte_op(area[0], NULL, 1, 0, 8);
    struct craft c;
    (void)state;
    op.req = &req;
    rma_req_init(&req);
    assert_int_equal(rma_lock_all(w, RMA_NOCHECK), MRMA_SUCCESS);
    assert_int_equal(rma_put(w, &op), MRMA_SUCCESS);
    settle(fabric);
    struct origin_pair *pair = win_peek(w, 1)->pair;
    pair->acks_due += 2; /* as if two flushes were under way */
    static const uint32_t wrong[] = {0, 2, 3, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        craft_begin(&c, PKT_ACK, w, 1);
        craft_hdr(&c)->seq = pair->acks_seen + wrong[i];
        check_refused(1, 0, &c);
    }
    craft_begin(&c, PKT_ACK, w, 1);
    craft_hdr(&c)->seq = pair->acks_seen + 1;
    craft_send(fabric, 1, 0, &c);
    check_refused(1, 0, &c);          /* the same again */
    craft_begin(&c, PKT_REPLY, w, 1); /* of no request: refused, but what it acknowledges is due */
    craft_hdr(&c)->flags = PKT_F_FLUSH;
    craft_hdr(&c)->seq = pair->acks_seen + 1;
    check_refused(1, 0, &c);
    assert_int_equal(pair->acks_seen, craft_hdr(&c)->seq);
    check_refused(1, 0, &c);
    assert_int_equal(pair->acks_seen, craft_hdr(&c)->seq);
    pair->acks_due = pair->acks_seen;
}

/* An error report for no request: the window reports it once, and goes on. */
static void test_error(void **state)
{
    /* the second has a kind and an epoch that there are not */
    static const uint32_t codes[] = {
        MRMA_ERR_RMA_RANGE, MRMA_ERR_RMA_RANGE | 0xc9c900, 0, MRMA_AGAIN, MRMA_ERR_LAST,
        UINT32_MAX};
    struct craft c;
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        craft_begin(&c, PKT_ERROR, win[0], 1);
        craft_hdr(&c)->total = codes[i];
        craft_hdr(&c)->count = 12345;
        craft_send(fabric, 1, 0, &c);
        assert_int_equal(origin_take_error(win[0]), i > 1 ? MRMA_ERR_INTERN : MRMA_ERR_RMA_RANGE);
        assert_int_equal(origin_take_error(win[0]), MRMA_SUCCESS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test_setup_teardown(test_wrong_window, setup, teardown),
        cmocka_unit_test_setup_teardown(test_late, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_rank, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_header, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_due, setup, teardown),
        cmocka_unit_test_setup_teardown(test_posts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_open, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_reply, setup, teardown),
        cmocka_unit_test_setup_teardown(test_requests_come_round, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_part_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_ack, setup, teardown),
        cmocka_unit_test_setup_teardown(test_error, setup, teardown),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("handlers", tests, NULL, NULL);
}
