/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_fence_counts.c - the sums of MPIRMA_FENCE=counts: many processes of one window in
 * one thread, a channel that keeps packets, and a delivery that picks its pair at random.
 *
 * Checked: every process expects exactly what all others have said, neither a byte less
 * nor more; nobody is through before all have entered; ceil(log2 P) messages a process;
 * processes that are through may enter the next fence while others are in this one.
 * And that a packet that is not due or not well-formed is refused and changes nothing.
 */
#include "rma/origin/origin_impl.h"
#include "test/support/base_helper.h"

#include "test/sim/channel_stub.h"
#include "base/err.h"
#include "boot/boot.h"
#include "rma/sync/fence_counts.h"
#include "rma/win/win.h"

enum { PAIRS_MAX = (PKT_MAX - sizeof(struct pkt_hdr)) / sizeof(struct pkt_count) };

struct packet {
    struct list_node link;
    alignas(8) unsigned char bytes[]; /* header first */
};

/* All processes; what they have in common is that they know each other alike. */
struct world {
    int n;
    struct conf conf;
    struct log log;
    struct rma_env env;
    struct rma rma;
    struct ch3 ch3;
    struct ch3_channel channel;
    struct rma_peer *peers;
    struct rma_target *targets;
    struct target_table table;
    struct win *wins;
    struct origin_pair *touched; /* one origin's at a time */
    struct list arrived;         /* struct packet */
    struct list *queues;         /* per receiver */
    unsigned char *room;
    int connects;
    uint64_t packets, parts; /* sent; of them, those that did not end their round */
    uint64_t seed;
};

static size_t below(struct world *s, size_t n)
{
    s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((s->seed >> 33) % n);
}

static void *room_for(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct world *s = LIST_ENTRY(ch, struct world, channel);
    (void)vc, (void)len;
    return s->room;
}

static void take(struct ch3_channel *ch, struct ch3_vc *vc, size_t len)
{
    struct world *s = LIST_ENTRY(ch, struct world, channel);
    struct packet *p = malloc(sizeof *p + len);
    struct rma_peer *to = LIST_ENTRY(vc, struct rma_peer, vc);
    memcpy(p->bytes, s->room, len);
    list_push_back(&s->queues[to - s->peers], &p->link);
    s->packets++;
    s->parts += ((struct pkt_hdr *)(void *)p->bytes)->offset != 0;
}

static const struct ch3_channel_ops keeping = {.name = "keeping",
                                               .reserve = room_for,
                                               .commit = take,
                                               .pending = stub_pending,
                                               .disconnect = stub_disconnect};

static int max_of_all(struct boot *boot, int mine, int *max)
{
    (void)boot;
    *max = mine;
    return MRMA_SUCCESS;
}

static int connect_peer(void *ctx, struct rma_peer *peer)
{
    (void)peer;
    ((struct world *)ctx)->connects++;
    return MRMA_SUCCESS;
}

static void *zeroed_lines(size_t bytes)
{
    const size_t whole = (bytes + MRMA_CACHE_LINE - 1) / MRMA_CACHE_LINE * MRMA_CACHE_LINE;
    void *at = aligned_alloc(MRMA_CACHE_LINE, whole);
    assert_non_null(at);
    memset(at, 0, whole);
    return at;
}

static struct world *world_new(int n, enum conf_fence fence, int npackets)
{
    struct world *s = calloc(1, sizeof *s);
    struct boot boot = {.nproc = n, .allmax = max_of_all};
    s->n = n;
    s->seed = (uint64_t)n;
    s->conf = conf_default;
    s->conf.fence = fence;
    log_init(&s->log, LOG_LEVEL_ERROR, -1, "counts");
    s->env = (struct rma_env){.ctx = s, .peer_connect = connect_peer};
    s->rma = (struct rma){.log = &s->log, .conf = &s->conf, .env = &s->env, .ch3 = &s->ch3};
    s->channel.ops = &keeping;
    ch3_init(&s->ch3, &s->log, NULL, s);
    s->room = malloc(PKT_MAX);
    s->peers = zeroed_lines((size_t)n * sizeof *s->peers);
    s->targets = zeroed_lines((size_t)n * sizeof *s->targets);
    s->touched = calloc((size_t)n, sizeof *s->touched);
    s->queues = calloc((size_t)n, sizeof *s->queues);
    s->wins = zeroed_lines((size_t)n * sizeof *s->wins);
    assert_int_equal(target_table_init(&s->table, n), MRMA_SUCCESS);
    for (int i = 0; i < n; i++) {
        ch3_vc_init(&s->peers[i].vc, &s->ch3, &s->channel, NULL, NULL);
        s->peers[i].vc.state = CH3_VC_OPEN;
        s->targets[i].peer = &s->peers[i];
        s->targets[i].rank = i;
        assert_int_equal(target_table_put(&s->table, i, &s->targets[i]), MRMA_SUCCESS);
    }
    for (int i = 0; i < n; i++) {
        struct win *w = &s->wins[i];
        *w = (struct win){
            .rma = &s->rma, .rank = i, .nproc = n, .npackets = npackets, .targets = s->table};
        list_init(&w->origin_side.touched);
        list_init(&s->queues[i]);
        boot.rank = i;
        assert_int_equal(fence_counts_choose(w, &boot), MRMA_SUCCESS);
        if (w->sync.fence_counts)
            assert_int_equal(fence_counts_connect(w), MRMA_SUCCESS);
    }
    return s;
}

static void world_free(struct world *s)
{
    struct list_node *node;
    for (int i = 0; i < s->n; i++) {
        while ((node = list_pop_front(&s->queues[i])) != NULL)
            free(LIST_ENTRY(node, struct packet, link));
        fence_counts_free(&s->wins[i]);
    }
    target_table_fini(&s->table);
    free(s->rma.counts_packet);
    free(s->room);
    free(s->peers);
    free(s->targets);
    free(s->touched);
    free(s->queues);
    free(s->wins);
    free(s);
}

/* Process rank enters the fence, having sent to each what bytes says (n of them). */
static void enter(struct world *s, int rank, const uint64_t *bytes)
{
    struct win *w = &s->wins[rank];
    for (int t = s->n; t-- > 0;) {
        s->touched[t] =
            (struct origin_pair){.win = w, .target = &s->targets[t], .phase_bytes = bytes[t]};
        if (bytes[t])
            list_push_back(&w->origin_side.touched, &s->touched[t].touched);
    }
    assert_int_equal(fence_counts_enter(w), MRMA_SUCCESS);
    while (list_pop_front(&w->origin_side.touched))
        ;
}

/* Hand one packet to process rank; false if none is on its way. */
static bool deliver(struct world *s, int rank)
{
    struct list_node *node = list_pop_front(&s->queues[rank]);
    if (!node)
        return false;
    struct packet *p = LIST_ENTRY(node, struct packet, link);
    const struct pkt_hdr *hdr = (const struct pkt_hdr *)(const void *)p->bytes;
    assert_true(fence_counts_got(&s->wins[rank], &s->targets[hdr->rank], hdr, hdr + 1));
    free(p);
    return true;
}

static int log2_up(int n)
{
    int k = 0;
    while (1 << k < n)
        k++;
    return k;
}

struct plan {
    uint64_t *bytes; /* [origin][target] */
    uint64_t *sum;
};

static struct plan make_plan(struct world *s, unsigned percent)
{
    const size_t n = (size_t)s->n;
    struct plan p = {calloc(n * n, 8), calloc(n, 8)};
    for (size_t o = 0; o < n; o++)
        for (size_t t = 0; t < n; t++)
            if (t != o && below(s, 100) < percent) {
                p.bytes[o * n + t] = below(s, 20) ? 1 + below(s, 1000) : UINT64_C(5) << 32;
                p.sum[t] += p.bytes[o * n + t];
            }
    return p;
}

static void check_sums(struct world *s, const uint64_t *sum, int closings)
{
    for (int i = 0; i < s->n; i++) {
        struct win *w = &s->wins[i];
        w->phase_arrived = sum[i] + 1;
        assert_false(fence_counts_done(w));
        w->phase_arrived = sum[i] - 1;
        assert_false(fence_counts_done(w));
        w->phase_arrived = sum[i];
        assert_true(fence_counts_done(w));
        assert_int_equal(fence_counts_leave(w), MRMA_SUCCESS);
    }
    assert_int_equal(s->packets - s->parts, (uint64_t)closings * (uint64_t)(s->n * log2_up(s->n)));
}

static void one_fence(struct world *s, unsigned percent, int closings)
{
    const struct plan p = make_plan(s, percent);
    const int last = (int)below(s, (size_t)s->n);
    for (int i = 0; i < s->n; i++)
        if (i != last)
            enter(s, i, p.bytes + (size_t)i * (size_t)s->n);
    for (int i = 0; i < s->n; i++)
        while (deliver(s, i))
            ;
    for (int i = 0; i < s->n; i++) { /* nobody is through while one has not entered */
        s->wins[i].phase_arrived = p.sum[i];
        if (i != last)
            assert_false(fence_counts_done(&s->wins[i]));
    }
    enter(s, last, p.bytes + (size_t)last * (size_t)s->n);
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < 4 * s->n; i++)
            moved |= deliver(s, (int)below(s, (size_t)s->n));
        for (int i = 0; !moved && i < s->n; i++)
            moved |= deliver(s, i);
    }
    check_sums(s, p.sum, closings);
    free(p.bytes);
    free(p.sum);
}

static void test_sums(void **state)
{
    static const int sizes[] = {2, 3, 4, 5, 7, 8, 13, 16, 31, 64, 100, 257};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct world *s = world_new(sizes[i], CONF_FENCE_COUNTS, 1);
        assert_int_equal(s->connects, sizes[i] * log2_up(sizes[i]));
        one_fence(s, 0, 1);
        one_fence(s, 5, 2);
        one_fence(s, 50, 3);
        one_fence(s, 100, 4);
        world_free(s);
    }
}

/* So many pairs that a round takes several packets. */
static void test_long_rounds(void **state)
{
    enum { N = 9200 };
    struct world *s = world_new(N, CONF_FENCE_COUNTS, 1);
    uint64_t *bytes = calloc(N, 8), *sum = calloc(N, 8);
    (void)state;
    for (int i = 0; i < N; i++) {
        memset(bytes, 0, N * 8);
        for (int t = 0; (i == 7 || i == 4000) && t < N; t++)
            bytes[t] = t == i ? 0 : (uint64_t)(i + t);
        for (int t = 0; t < N; t++)
            sum[t] += bytes[t];
        enter(s, i, bytes);
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < N; i++)
            moved |= deliver(s, i);
    }
    assert_true(s->parts >= 4);
    check_sums(s, sum, 1);
    free(bytes);
    free(sum);
    world_free(s);
}

/* Who is through enters the next fence; what it sends is kept by those who are not. */
static void test_running_ahead(void **state)
{
    (void)state;
    for (int n = 2; n < 40; n += 3) {
        struct world *s = world_new(n, CONF_FENCE_COUNTS, 1);
        enum { FENCES = 6 };
        struct plan plans[FENCES];
        int *at = calloc((size_t)n, sizeof *at), left = n * FENCES;
        bool *inside = calloc((size_t)n, sizeof *inside);
        for (int f = 0; f < FENCES; f++)
            plans[f] = make_plan(s, 30);
        while (left) {
            const int i = (int)below(s, (size_t)n);
            struct win *w = &s->wins[i];
            if (!inside[i] && at[i] < FENCES) {
                enter(s, i, plans[at[i]].bytes + i * n);
                inside[i] = true;
            }
            (void)deliver(s, i);
            if (!inside[i])
                continue;
            w->phase_arrived = plans[at[i]].sum[i];
            if (!fence_counts_done(w))
                continue;
            for (int k = 0; k < n; k++)
                assert_true(at[k] > at[i] || (at[k] == at[i] && inside[k]));
            assert_int_equal(fence_counts_leave(w), MRMA_SUCCESS);
            inside[i] = false;
            at[i]++;
            left--;
        }
        for (int f = 0; f < FENCES; f++) {
            free(plans[f].bytes);
            free(plans[f].sum);
        }
        free(at);
        free(inside);
        world_free(s);
    }
}

/* ---- what is refused ---- */

struct crafted {
    struct pkt_hdr hdr;
    struct pkt_count pairs[8];
};

/* To rank 0 of 8 in round k from the right sender. */
static struct crafted craft(uint32_t seq, unsigned k, uint32_t n, const uint32_t *ranks,
                            uint64_t left)
{
    struct crafted c = {.hdr = {.type = PKT_COUNTS,
                                .rank = 8 - (1u << k),
                                .seq = seq,
                                .count = n,
                                .total = k,
                                .len = (uint32_t)(sizeof c.hdr + n * sizeof c.pairs[0]),
                                .offset = left}};
    for (uint32_t i = 0; i < n; i++)
        c.pairs[i] = (struct pkt_count){.rank = ranks[i], .bytes = 10};
    return c;
}

static bool got(struct world *s, const struct crafted *c)
{
    return fence_counts_got(&s->wins[0], &s->targets[c->hdr.rank % 8], &c->hdr, c->pairs);
}

static void test_refused(void **state)
{
    static const uint32_t good[] = {0, 2, 6}, odd[] = {1}, twice[] = {2, 2}, back[] = {4, 2},
                          none[] = {8};
    static const uint32_t far_off[] = {UINT32_MAX - 1}, two[] = {2};
    struct world *s = world_new(8, CONF_FENCE_COUNTS, 7);
    uint64_t nothing[8] = {0};
    struct crafted c;
    (void)state;
    enter(s, 0, nothing);
#define REFUSED(...) (c = (__VA_ARGS__), assert_false(got(s, &c)))
    REFUSED(craft(2, 0, 0, NULL, 0));          /* two fences ahead */
    REFUSED(craft(UINT32_MAX, 0, 0, NULL, 0)); /* a fence that is over */
    REFUSED(craft(0, 0, 1, odd, 0));           /* ranks that this round does not lead here */
    REFUSED(craft(0, 1, 1, two, 0));
    REFUSED(craft(0, 0, 2, twice, 0));
    REFUSED(craft(0, 0, 2, back, 0));
    REFUSED(craft(0, 0, 1, none, 0));
    REFUSED(craft(0, 0, 1, far_off, 0));
    REFUSED(craft(0, 0, 0, NULL, 1)); /* a part without anything */
    REFUSED(craft(0, 0, 3, good, 6)); /* more than there are ranks */
    REFUSED(craft(0, 0, 3, good, UINT64_MAX));
    c = craft(0, 0, 3, good, 0);
    c.hdr.total = 3; /* no such round */
    assert_false(got(s, &c));
    c.hdr.total = 0x100;
    assert_false(got(s, &c));
    c = craft(0, 0, 3, good, 0);
    c.hdr.rank = 6; /* not the one that sends in this round */
    assert_false(got(s, &c));
    c = craft(0, 0, 3, good, 0);
    c.hdr.count = 2; /* length and count differ */
    assert_false(got(s, &c));
    c.hdr.count = UINT32_MAX;
    assert_false(got(s, &c));
    c = craft(0, 0, 1, good, 2); /* in parts: the next must be what was announced */
    assert_true(got(s, &c));
    REFUSED(craft(0, 0, 1, two, 0));
    REFUSED(craft(0, 0, 1, good, 1)); /* rank 0 again */
    c = craft(0, 0, 2, good + 1, 0);
    assert_true(got(s, &c));
    REFUSED(craft(0, 0, 0, NULL, 0)); /* the round is over */
    for (unsigned k = 1; k < 3; k++) {
        c = craft(0, k, 0, NULL, 0);
        assert_true(got(s, &c));
        REFUSED(craft(0, k, 0, NULL, 0));
    }
    s->wins[0].phase_arrived = 10; /* what was refused has left no trace */
    assert_true(fence_counts_done(&s->wins[0]));
    assert_int_equal(fence_counts_leave(&s->wins[0]), MRMA_SUCCESS);
    world_free(s);
    s = world_new(8, CONF_FENCE_MARKERS, 7); /* a window with markers takes no counts */
    REFUSED(craft(0, 0, 0, NULL, 0));
    world_free(s);
}

/* Who has lost something says so to all that it may concern; nobody waits for sums. */
static void test_broken(void **state)
{
    struct world *s = world_new(8, CONF_FENCE_COUNTS, 7);
    uint64_t nothing[8] = {0};
    struct crafted c;
    (void)state;
    enter(s, 0, nothing);
    for (unsigned k = 0; k < 3; k++) {
        c = craft(0, k, 0, NULL, 0);
        c.hdr.total |= k ? 0 : PKT_COUNTS_BROKEN;
        assert_true(got(s, &c));
    }
    s->wins[0].phase_arrived = 99;
    assert_true(fence_counts_done(&s->wins[0]));
    assert_int_equal(fence_counts_leave(&s->wins[0]), MRMA_ERR_NO_MEM);
    for (unsigned k = 0; k < 3; k++) { /* round 0 had left before it knew */
        const struct packet *p = LIST_ENTRY(list_first(&s->queues[1u << k]), struct packet, link);
        const uint32_t flag =
            ((const struct pkt_hdr *)(const void *)p->bytes)->total & PKT_COUNTS_BROKEN;
        assert_int_equal(flag != 0, k > 0);
    }
    s->wins[5].fence_lost = true; /* operations refused: alone */
    for (unsigned k = 0; k < 3; k++) {
        c = craft(0, k, 0, NULL, 0);
        c.hdr.rank = (5 + 8 - (1u << k)) % 8;
        assert_true(fence_counts_got(&s->wins[5], &s->targets[c.hdr.rank], &c.hdr, c.pairs));
    }
    enter(s, 5, nothing);
    s->wins[5].phase_arrived = 1;
    assert_true(fence_counts_done(&s->wins[5]));
    assert_int_equal(fence_counts_leave(&s->wins[5]), MRMA_ERR_INTERN);
    world_free(s);
}

static void test_choice(void **state)
{
    static const struct {
        enum conf_fence conf;
        int npackets;
        bool counts;
    } cases[] = {
        {CONF_FENCE_AUTO, 0, false},
        {CONF_FENCE_COUNTS, 0, false},
        {CONF_FENCE_AUTO, 1, false},
        {CONF_FENCE_AUTO, FENCE_MARKERS_MAX, false},
        {CONF_FENCE_AUTO, FENCE_MARKERS_MAX + 1, true},
        {CONF_FENCE_COUNTS, 1, true},
        {CONF_FENCE_MARKERS, 19, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world *s = world_new(20, cases[i].conf, cases[i].npackets);
        assert_int_equal(s->wins[3].sync.fence_counts != NULL, cases[i].counts);
        world_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),      cmocka_unit_test(test_sums),
        cmocka_unit_test(test_long_rounds), cmocka_unit_test(test_running_ahead),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_broken)};
    return cmocka_run_group_tests_name("fence counts", tests, NULL, NULL);
}
