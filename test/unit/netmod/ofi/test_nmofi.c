/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_nmofi.c - what the libfabric netmod promises beyond the contract of channels:
 * the job's secret, strangers that become known later, credits, memory that is
 * counted, peers that come back. Over TCP's own datagrams (provider.h) and over
 * "tcp;ofi_rxm", on loopback.
 */
#include "test/support/nmofi_pair.h"
#include "test/support/provider.h"

static const unsigned char other_secret[NMOFI_SECRET_BYTES + 1] = "of another one..";

/* Nothing of a link exists before the first packet; then it is counted. */
static void memory_is_counted(void **state)
{
    struct end *e = open_pair(state);
    for (int i = 0; i < 100; i++)
        poll_both(e);
    assert_int_equal(nmofi_get_stats(e[0].nm)->links, 0);
    assert_int_equal(nmofi_get_stats(e[0].nm)->link_bytes, 0);
    POLL_UNTIL(e, send_one(&e[0], 64));
    POLL_UNTIL(e, e[1].got == 1);
    for (int i = 0; i < MAX; i++) {
        assert_int_equal(nmofi_get_stats(e[i].nm)->links, 1);
        assert_true(nmofi_get_stats(e[i].nm)->link_bytes > 0);
        assert_true(nmofi_get_stats(e[i].nm)->link_bytes < 1024);
    }
    ch3_vc_event(&e[0].vc, CH3_VC_CLOSE);
    POLL_UNTIL(e, nmofi_get_stats(e[0].nm)->links == 0);
    assert_int_equal(nmofi_get_stats(e[0].nm)->link_bytes, 0);
    close_pair(e);
}

/* Credits bound what a silent receiver is sent, and come back by themselves. */
static void credits(void **state)
{
    struct end *e = open_pair(state);
    const struct nmofi_stats *s = nmofi_get_stats(e[0].nm), *r = nmofi_get_stats(e[1].nm);
    POLL_UNTIL(e, send_one(&e[0], 64));
    POLL_UNTIL(e, e[1].got == 1);
    unsigned sent = 1;
    for (unsigned idle = 0; idle < 1000;) {
        if (send_one(&e[0], 64)) {
            sent++;
            idle = 0;
        } else {
            e[0].ch->ops->poll(e[0].ch);
            idle++;
        }
    }
    assert_int_equal(sent, 512);
    assert_true(s->credit_stalls > 0);
    POLL_UNTIL(e, e[1].got == sent);
    for (; sent < 5000; sent++)
        POLL_UNTIL(e, send_one(&e[0], 64));
    POLL_UNTIL(e, e[1].got == sent);
    assert_true(r->credit_messages >= 5000 / 512 && r->credit_messages <= 5000 / 256 + 1);
    /* With traffic both ways they ride along. */
    const uint64_t before = r->credit_messages;
    for (unsigned i = 0; i < 2000; i++) {
        POLL_UNTIL(e, send_one(&e[0], 64));
        POLL_UNTIL(e, send_one(&e[1], 64));
        poll_both(e);
    }
    POLL_UNTIL(e, e[1].got == sent + 2000);
    assert_true(r->credit_messages <= before + 1);
    close_pair(e);
}

/* Its packets wait, in order, until the layer above knows who it is: of the one that connects at
 * the receiver. */
static void strangers(void **state)
{
    struct end *e = open_pair(state);
    e[0].known = false;
    for (unsigned i = 0; i < 100; i++)
        POLL_UNTIL(e, send_one(&e[1], 64));
    POLL_UNTIL(e, e[0].finds > 10);
    for (int i = 0; i < 200; i++)
        poll_both(e);
    assert_int_equal(e[0].got, 0);
    assert_int_not_equal(e[0].ch3.unsent, 0); /* somebody polls, though nothing arrives */
    assert_int_equal(nmofi_get_stats(e[0].nm)->dropped, 0);
    e[0].known = true;
    POLL_UNTIL(e, e[0].got == 100);
    assert_int_equal(e[0].ch3.unsent, 0);
    close_pair(e);
}

/* The one with the lower uid asks again until it is known. */
static void unknown_asks(void **state)
{
    struct end *e = open_pair(state);
    e[1].known = false;
    assert_false(send_one(&e[0], 64));
    POLL_UNTIL(e, e[1].finds > 3);
    assert_false(send_one(&e[0], 64));
    assert_int_equal(nmofi_get_stats(e[1].nm)->links, 0);
    assert_int_not_equal(e[0].ch3.unsent, 0); /* somebody polls and so asks again */
    assert_int_equal(nmofi_get_stats(e[1].nm)->dropped, 0);
    e[1].known = true;
    POLL_UNTIL(e, send_one(&e[0], 64));
    POLL_UNTIL(e, e[1].got == 1);
    assert_int_equal(e[0].ch3.unsent, 0);
    close_pair(e);
}

/* A peer of another job cannot say anything. */
static void wrong_secret(void **state)
{
    char text[2048];
    struct end *e = calloc(MAX, sizeof *e);
    for (int i = 0; i < MAX; i++)
        open_end(&e[i], i, *state);
    assert_int_equal(nmofi_add_secret(e[1].nm, other_secret), MRMA_SUCCESS);
    assert_int_equal(nmofi_add_secret(e[0].nm, secret), MRMA_SUCCESS);
    connect_end(&e[1], &e[0], 0, other_secret);
    connect_end(&e[0], &e[1], 1, secret);
    for (unsigned i = 0; i < 20; i++)
        POLL_UNTIL(e, send_one(&e[1], 64));
    POLL_UNTIL(e, nmofi_get_stats(e[0].nm)->dropped == 21); /* hello, too */
    assert_int_equal(e[0].got, 0);
    assert_int_equal(e[0].finds, 0); /* nobody was asked who that is */
    assert_non_null(
        strstr(log_text(&e[0].lp, text, sizeof text), "does not know the job's secret"));
    /* The same two with the right one, later: both are known. */
    assert_int_equal(nmofi_add_secret(e[0].nm, other_secret), MRMA_SUCCESS);
    ch3_vc_event(&e[1].vc, CH3_VC_CLOSE);
    connect_end(&e[1], &e[0], 0, other_secret);
    POLL_UNTIL(e, send_one(&e[1], 64));
    POLL_UNTIL(e, e[0].got == 1);
    close_pair(e);
}

/* Closed and opened again: both directions start anew, with all their credits. */
static void comes_back(void **state)
{
    struct end *e = open_pair(state);
    for (unsigned round = 0; round < 5; round++) {
        const unsigned got[MAX] = {e[0].got, e[1].got};
        for (unsigned i = 0; i < 300; i++) {
            POLL_UNTIL(e, send_one(&e[0], 64));
            POLL_UNTIL(e, send_one(&e[1], 2000));
        }
        POLL_UNTIL(e, e[0].got == got[0] + 300 && e[1].got == got[1] + 300);
        for (int i = 0; i < MAX; i++)
            ch3_vc_event(&e[i].vc, CH3_VC_CLOSE);
        POLL_UNTIL(e, nmofi_get_stats(e[0].nm)->links + nmofi_get_stats(e[1].nm)->links == 0);
        connect_end(&e[0], &e[1], 1, secret);
        connect_end(&e[1], &e[0], 0, secret);
    }
    close_pair(e);
}

/* Only one side forgets the other, and returns. */
static void one_side_comes_back(void **state)
{
    struct end *e = open_pair(state);
    for (unsigned round = 0; round < 3; round++) {
        const unsigned got[MAX] = {e[0].got, e[1].got};
        for (unsigned i = 0; i < 600; i++)
            POLL_UNTIL(e, send_one(&e[0], 64));
        POLL_UNTIL(e, e[1].got == got[1] + 600);
        for (unsigned i = 0; i < 600; i++)
            POLL_UNTIL(e, send_one(&e[1], 64));
        POLL_UNTIL(e, e[0].got == got[0] + 600);
        ch3_vc_event(&e[0].vc, CH3_VC_CLOSE);
        POLL_UNTIL(e, nmofi_get_stats(e[0].nm)->links == 0);
        connect_end(&e[0], &e[1], 1, secret);
    }
    close_pair(e);
}

/* One ends, and its endpoint is gone: nothing of it is left at the other, which tells nobody
 * goodbye. */
static void ended_peer(void **state)
{
    struct end *e = open_pair(state);
    POLL_UNTIL(e, send_one(&e[0], 64));
    POLL_UNTIL(e, send_one(&e[1], 64));
    POLL_UNTIL(e, e[0].got == 1 && e[1].got == 1);
    assert_true(nmofi_peer_is_used(&e[0].peer) && !nmofi_peer_is_gone(&e[0].peer));
    ch3_vc_event(&e[1].vc, CH3_VC_CLOSE);
    POLL_UNTIL(e, nmofi_peer_is_gone(&e[0].peer));
    nmofi_close(e[1].nm);
    /* Who asks after it, and the provider sees it, too, loses nothing by that. */
    for (int i = 0; i < 10000; i++) {
        if (i % 1000 == 0)
            e[0].ch->ops->probe(e[0].ch, &e[0].vc);
        e[0].ch->ops->poll(e[0].ch);
    }
    assert_int_equal(nmofi_get_stats(e[0].nm)->lost, 0);
    assert_false(ch3_vc_is_lost(&e[0].vc));
    ch3_vc_event(&e[0].vc, CH3_VC_CLOSE);
    assert_false(nmofi_peer_is_used(&e[0].peer));
    for (int i = 0; nmofi_get_stats(e[0].nm)->links && i < 100000; i++)
        e[0].ch->ops->poll(e[0].ch);
    assert_int_equal(nmofi_get_stats(e[0].nm)->links, 0);
    assert_int_equal(e[0].ch3.unsent, 0);
    nmofi_close(e[0].nm);
    for (int i = 0; i < MAX; i++)
        log_pipe_close(&e[i].lp);
    free(e);
}

/* What arrives while one closes finds nobody: windows and peers have been forgotten by then. */
static void hello_at_the_end(void **state)
{
    for (int ends = 0; ends < MAX; ends++) {
        struct end *e = open_pair(state);
        const int stays = 1 - ends;
        struct ch3_vc *vc = &e[stays].vc;
        POLL_UNTIL(e, send_one(&e[1], 64));
        POLL_UNTIL(e, send_one(&e[0], 64));
        POLL_UNTIL(e, e[0].got && e[1].got);
        ch3_vc_event(vc, CH3_VC_CLOSE);
        for (int i = 0; i < 100; i++)
            e[stays].ch->ops->poll(e[stays].ch);
        connect_end(&e[stays], &e[ends], ends, secret);
        (void)send_one(&e[stays], 64); /* its greeting, and perhaps more, is under way */
        for (int i = 0; i < 100; i++)
            e[stays].ch->ops->poll(e[stays].ch);
        const unsigned finds = e[ends].finds, got = e[ends].got;
        ch3_vc_event(&e[ends].vc, CH3_VC_CLOSE);
        nmofi_close(e[ends].nm);
        assert_int_equal(e[ends].finds, finds);
        assert_int_equal(e[ends].got, got);
        ch3_vc_event(vc, CH3_VC_CLOSE);
        nmofi_close(e[stays].nm);
        for (int i = 0; i < MAX; i++)
            log_pipe_close(&e[i].lp);
        free(e);
    }
}

/* Names that do not fit are refused with a message, not connected to. */
static void foreign_names(void **state)
{
    struct end *e = open_pair(state);
    struct nmofi_name name;
    struct nmofi_peer peer;
    char text[1024];
    nmofi_get_name(e[1].nm, &name);
    name.protocol++;
    assert_int_equal(nmofi_peer_init(e[0].nm, &peer, 7, &name, secret), MRMA_ERR_OTHER);
    assert_non_null(strstr(log_text(&e[0].lp, text, sizeof text), "another kind of network"));
    close_pair(e);
}

static void no_such_provider(void **state)
{
    struct log_pipe lp;
    struct nmofi *nm = NULL;
    char text[1024];
    (void)state;
    log_to_pipe(&lp, LOG_LEVEL_WARN);
    struct nmofi_opts opts = {.provider = "nosuch", .log = &lp.log, .find = find};
    assert_int_equal(nmofi_open(&opts, &nm), MRMA_ERR_OTHER);
    assert_non_null(strstr(log_text(&lp, text, sizeof text), "named nosuch (MPIRMA_OFI_PROVIDER)"));
    opts.provider = NULL;
    opts.interface = "nosuchif0";
    assert_int_equal(nmofi_open(&opts, &nm), MRMA_ERR_OTHER);
    assert_non_null(
        strstr(log_text(&lp, text, sizeof text), "on nosuchif0 (MPIRMA_OFI_INTERFACE)"));
    opts.interface = "127.0.0.1";
    assert_int_equal(nmofi_open(&opts, &nm), MRMA_SUCCESS);
    assert_non_null(strstr(nmofi_describe(nm), "127.0.0.1:"));
    nmofi_close(nm);
    log_pipe_close(&lp);
}

/* In a child: libfabric reads FI_PROVIDER once, at its first call. The others run after this one.
 */
static int open_under_filter(void *arg)
{
    const char *const *env = arg;
    struct log_pipe lp;
    struct nmofi *nm = NULL;
    char text[1024];
    setenv("FI_PROVIDER", env[0], 1);
    log_to_pipe(&lp, LOG_LEVEL_WARN);
    const struct nmofi_opts opts = {
        .provider = env[1], .loopback = true, .log = &lp.log, .find = find};
    const int err = nmofi_open(&opts, &nm);
    log_text(&lp, text, sizeof text);
    if (env[2]) {
        CHILD_CHECK(err == MRMA_ERR_OTHER);
        CHILD_CHECK(strstr(text, env[2]) && strstr(text, "MPIRMA_OFI_PROVIDER"));
        return 0;
    }
    CHILD_CHECK(err == MRMA_SUCCESS && text[0] == '\0');
    nmofi_close(nm);
    return 0;
}

/* FI_PROVIDER, set for the host: what it leaves is used; if that is nothing, the message says why.
 */
static void provider_filter(void **state)
{
    const char *none[] = {"udp", NULL, "FI_PROVIDER=udp"},
               *other[] = {"^tcp", "tcp;ofi_rxm", "FI_PROVIDER=^tcp"};
    const char *some[] = {"tcp", NULL, NULL}, *named[] = {"tcp", "tcp;ofi_rxm", NULL};
    (void)state;
    assert_int_equal(run_child(open_under_filter, none), 0);
    assert_int_equal(run_child(open_under_filter, other), 0);
    assert_int_equal(run_child(open_under_filter, some), 0);
    assert_int_equal(run_child(open_under_filter, named), 0);
}

/* ---- many first contacts, each begun by both sides at once ---- */

/* The providers tell processes apart by this. */
static pid_t pid_now = 1;
pid_t getpid(void)
{
    return pid_now;
}

/* The same numbers in each run. */
static unsigned drawn(unsigned below)
{
    static uint32_t x = 12345;
    x = x * 1664525u + 1013904223u;
    return (x >> 16) % below;
}

static void meet_at_once(struct end *e, pid_t other)
{
    bool sent[MAX] = {false};
    const uint64_t start = clock_monotonic_ns();
    while (!e[0].got || !e[1].got) {
        const int i = (int)drawn(MAX);
        pid_now = i ? other : 1;
        if (!sent[i])
            sent[i] = send_one(&e[i], 64);
        for (unsigned polls = drawn(3); polls; polls--)
            e[i].ch->ops->poll(e[i].ch);
        if (clock_monotonic_ns() - start > UINT64_C(20000000000))
            fail_msg("process %d: sent %d and %d, arrived %u and %u", (int)other, sent[0], sent[1],
                     e[1].got, e[0].got);
    }
}

/* One process meets others that come and go. No message is lost, whoever's connection comes first.
 */
static void crossing(void **state)
{
    enum { OTHERS = 30 };
    struct end e[MAX] = {{.got = 0}};
    open_end(&e[0], 0, *state);
    assert_int_equal(nmofi_add_secret(e[0].nm, secret), MRMA_SUCCESS);
    for (int other = 2; other < 2 + OTHERS; other++) {
        /* The higher uid is now of the one that stays, now of the other. */
        const int uid = other % 2 ? other : -other;
        pid_now = other;
        e[1] = (struct end){.got = 0};
        open_end(&e[1], uid, *state);
        assert_int_equal(nmofi_add_secret(e[1].nm, secret), MRMA_SUCCESS);
        connect_end(&e[0], &e[1], uid, secret);
        connect_end(&e[1], &e[0], 0, secret);
        e[0].got = 0;
        meet_at_once(e, other);
        ch3_vc_event(&e[1].vc, CH3_VC_CLOSE);
        ch3_vc_event(&e[0].vc, CH3_VC_CLOSE);
        pid_now = other;
        nmofi_close(e[1].nm);
        log_pipe_close(&e[1].lp);
        pid_now = 1;
        for (int i = 0; i < 20; i++)
            e[0].ch->ops->poll(e[0].ch);
    }
    nmofi_close(e[0].nm);
    log_pipe_close(&e[0].lp);
}

/* In a child: provider_filter wants to be the first that calls libfabric. */
static int has_net(void *arg)
{
    (void)arg;
    return strcmp(provider_of_datagrams(), "net") != 0;
}

int main(void)
{
    static char rxm[] = "tcp;ofi_rxm";
    char net[8];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(provider_filter),
        BOTH(memory_is_counted),
        BOTH(credits),
        BOTH(strangers),
        BOTH(unknown_asks),
        BOTH(wrong_secret),
        BOTH(comes_back),
        BOTH(one_side_comes_back),
        BOTH(foreign_names),
        BOTH(crossing),
        BOTH(ended_peer),
        BOTH(hello_at_the_end),
        cmocka_unit_test(no_such_provider),
    };
    strcpy(net, run_child(has_net, NULL) == 0 ? "net" : "tcp");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
