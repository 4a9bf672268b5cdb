/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_posts.c - posts by packet, which are told on demand (doc/protocol.md, start, complete, post,
 * wait): who asks, who hears unasked, and how many packets small epochs have.
 */
#include "test/support/count_packets.h"

/* An epoch from rank 0 to rank 1, which has posted before it begins, or else posts when the origin
 * may have waited for that. Returns how many packets of that type this process has sent in it. */
static int one_way(struct fabric_proc *p, struct win *w, size_t size, bool late, int type)
{
    static unsigned char from[300 * 1024];
    static const int origin = 0, target = 1;
    rest(p);
    const uint64_t before = counters(p).by_type[type];
    rest(p);
    if (p->rank == target && !late)
        OK(rma_post(w, &origin, 1, 0));
    rest(p);
    fabric_progress(p); /* a post that was told is here */
    if (p->rank == origin) {
        OK(rma_start(w, &target, 1, 0));
        put(w, target, 0, from, size);
        OK(rma_complete(w));
    } else if (p->rank == target) {
        if (late)
            OK(rma_post(w, &origin, 1, 0));
        OK(rma_wait(w));
    }
    rest(p);
    return (int)(counters(p).by_type[type] - before);
}

enum { SMALL = 64, LARGE = 300 * 1024 };

/* A put that does not fit into what may be early asks for the post; the next posts come unasked, as
 * long as the epochs are such. */
static void posts_on_demand(struct fabric_proc *p, void *arg)
{
    static const struct {
        size_t size;
        bool late;
        int posts;
    } epochs[] = {{SMALL, false, 0}, {SMALL, true, 0},  {LARGE, false, 1}, {LARGE, false, 1},
                  {LARGE, true, 1},  {SMALL, false, 1}, {SMALL, true, 0},  {LARGE, true, 1},
                  {SMALL, true, 1},  {SMALL, false, 0}};
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, LARGE, 1);
    (void)arg;
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++) {
        const int posts = one_way(p, w, epochs[i].size, epochs[i].late, PKT_POST);
        check_count(p->rank, PKT_POST, posts, p->rank == 1 ? epochs[i].posts : 0);
    }
    rest(p);
    fabric_win_free(w);
}

/* Nobody asks twice: the first of several large epochs has a packet more. */
static void asked_once(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, LARGE, 1);
    (void)arg;
    const int first = one_way(p, w, LARGE, false, PKT_OPS);
    for (int i = 0; i < 4; i++) {
        const int next = one_way(p, w, LARGE, i & 1, PKT_OPS);
        check_count(p->rank, PKT_OPS, next, p->rank == 0 ? first - 1 : 0);
    }
    rest(p);
    fabric_win_free(w);
}

/* An origin to which its target sends nothing hears of every fourth post. */
static void posts_one_way(struct fabric_proc *p, void *arg)
{
    enum { IN_A_ROW = 40 };
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, LARGE, 1);
    int posts = 0;
    (void)arg;
    for (int i = 0; i < IN_A_ROW; i++)
        posts += one_way(p, w, SMALL, false, PKT_POST);
    check_count(p->rank, PKT_POST, posts, p->rank == 1 ? IN_A_ROW / 4 : 0);
    rest(p);
    fabric_win_free(w);
}

enum { ROUNDS = 100, EPOCHS = 100 };

/* Some epochs between two ranks that put to each other. Returns how many packets this process has
 * sent; no post is among them. */
static int both_ways(struct fabric_proc *p, struct win *w)
{
    const int peer = p->rank ^ 1;
    rest(p);
    const struct ch3_stats before = counters(p);
    rest(p);
    for (int i = 0; i < EPOCHS; i++) {
        const unsigned char from[SMALL] = {(unsigned char)i};
        OK(rma_post(w, &peer, 1, 0));
        OK(rma_start(w, &peer, 1, 0));
        put(w, peer, 0, from, SMALL);
        put(w, peer, SMALL, from, SMALL);
        OK(rma_complete(w));
        OK(rma_wait(w));
        FABRIC_CHECK(*(unsigned char *)*win_base_attr(w) == (unsigned char)i);
    }
    rest(p);
    const struct ch3_stats after = counters(p);
    check_count(p->rank, PKT_POST, (int)(after.by_type[PKT_POST] - before.by_type[PKT_POST]), 0);
    return (int)(after.packets_sent - before.packets_sent);
}

/* A packet an epoch, whoever is ahead; but where a process was kept from its processor in the midst
 * of an epoch, for then the puts leave by themselves. */
static void posts_both_ways(struct fabric_proc *p, void *arg)
{
    struct win *w = fabric_win(p, WIN_ALLOCATE, NULL, LARGE, 1);
    int least = INT32_MAX;
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        const int sent = both_ways(p, w);
        least = sent < least ? sent : least;
    }
    check_count(p->rank, PKT_OPS, least, EPOCHS);
    rest(p);
    fabric_win_free(w);
}

static void test_posts_on_demand(void **state)
{
    (void)state;
    run_counted(posts_on_demand, CONF_FENCE_AUTO, NULL);
}

static void test_asked_once(void **state)
{
    (void)state;
    run_counted(asked_once, CONF_FENCE_AUTO, NULL);
}

static void test_posts_one_way(void **state)
{
    (void)state;
    run_counted(posts_one_way, CONF_FENCE_AUTO, NULL);
}

static void test_posts_both_ways(void **state)
{
    (void)state;
    run_counted(posts_both_ways, CONF_FENCE_AUTO, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posts_on_demand),
        cmocka_unit_test(test_asked_once),
        cmocka_unit_test(test_posts_one_way),
        cmocka_unit_test(test_posts_both_ways),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("posts", tests, NULL, NULL);
}
