/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_fabric.c - the netmod over the test provider, with the rules of each fabric.
 *
 * The provider reads its profile when libfabric is loaded, so each case is a process of its own:
 * this program once more, with the name of the case. A broken rule ends it.
 */
#include "test/support/nmofi_pair.h"

#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/support/near_machine.h"
#include "netmod/ofi/alive_socket.h"
#include "netmod/ofi/ofi.h"
#include "sys/topo.h"
#include "test/fabric/counts.h"

enum { LARGE = 100000, MANY = 200, SECONDS_LOST = 10, SECONDS_ALONE = 8, UNIVERSE = 1000 };
enum { SLEEPS = 50, SLEEP_MS = 10000 };

static char provider[16]; /* the profile's name */

static const struct fabric_counts *counts_of(struct end *e)
{
    void *counts = NULL;
    assert_int_equal(fi_open_ops(&e->nm->domain->fid, FABRIC_COUNTS, 0, &counts, NULL), 0);
    return counts;
}

static struct end *open_both(void)
{
    void *state = provider;
    return open_pair(&state);
}

/* ---- what goes on every fabric ---- */

static void send_many(struct end *from, struct end *to, size_t len)
{
    struct end *e = from < to ? from : to;
    for (unsigned i = 0; i < MANY; i++) {
        POLL_UNTIL(e, send_one(from, len));
        poll_both(e);
    }
}

static int finished, failed;

static void rdma_done(struct ch3_rdma *op, int err)
{
    (void)op;
    finished++;
    failed += err != 0;
}

static void read_behind(struct end *e, const struct ch3_mem_key *key)
{
    unsigned char byte;
    struct ch3_rdma op = {.local = &byte,
                          .len = 1,
                          .key = key->key,
                          .remote = key->base,
                          .behind = true,
                          .done = rdma_done};
    finished = 0;
    POLL_UNTIL(e, e[0].ch->ops->rdma(e[0].ch, &e[0].vc, &op) == MRMA_SUCCESS);
    POLL_UNTIL(e, finished == 1);
}

static void put_and_get(struct end *e)
{
    static unsigned char window[LARGE], mine[LARGE];
    struct ch3_mem_key key;
    struct ch3_mem *mem;
    memset(mine, 7, sizeof mine);
    assert_int_equal(e[1].ch->ops->mem_register(e[1].ch, window, sizeof window, &key, &mem),
                     MRMA_SUCCESS);
    struct ch3_rdma op = {.put = true,
                          .local = mine,
                          .len = sizeof mine,
                          .key = key.key,
                          .remote = key.base,
                          .done = rdma_done};
    POLL_UNTIL(e, e[0].ch->ops->rdma(e[0].ch, &e[0].vc, &op) == MRMA_SUCCESS);
    POLL_UNTIL(e, finished == 1);
    if (e[0].ch->caps & CH3_CAP_RDMA_READ_BEHIND)
        read_behind(e, &key);
    assert_memory_equal(window, mine, sizeof mine);
    memset(window, 9, sizeof window);
    op.put = false;
    finished = 0;
    POLL_UNTIL(e, e[0].ch->ops->rdma(e[0].ch, &e[0].vc, &op) == MRMA_SUCCESS);
    POLL_UNTIL(e, finished == 1);
    assert_memory_equal(window, mine, sizeof mine);
    assert_int_equal(failed, 0);
    e[1].ch->ops->mem_release(e[1].ch, mem);
}

/* Enough for several receive buffers to be used up. */
static void exchange(void **state)
{
    struct end *e = open_both();
    (void)state;
    send_many(&e[0], &e[1], 40);
    send_many(&e[1], &e[0], 20000);
    send_many(&e[0], &e[1], CH3_PACKET_MAX);
    POLL_UNTIL(e, e[1].got == 2 * MANY && e[0].got == MANY);
    put_and_get(e);
    assert_int_equal(counts_of(e)->violations, 0);
    assert_int_equal(e[0].nm->stats.dropped + e[1].nm->stats.dropped, 0);
    close_pair(e);
}

/* ---- who sleeps on the descriptor ---- */

static bool may_sleep(struct end *e)
{
    return e->ch->ops->wait_begin(e->ch);
}

/* Until the put has ended, no end does anything but when its descriptor says so. */
static void sleep_until_finished(struct end *e)
{
    while (!finished) {
        struct pollfd fds[MAX];
        for (int i = 0; i < MAX; i++)
            fds[i] = (struct pollfd){.fd = e[i].ch->ops->wait_fd(e[i].ch), .events = POLLIN};
        if (may_sleep(&e[0]) && may_sleep(&e[1]))
            assert_true(poll(fds, MAX, SLEEP_MS) > 0);
        poll_both(e);
    }
}

/* The calls before a sleep have taken in the write, which its target's card holds for a while, and
 * the end of the write, which the origin is told later. */
static void wakes_who_sleeps(void **state)
{
    static unsigned char window[8], mine[8];
    struct end *e = open_both();
    struct ch3_mem_key key;
    struct ch3_mem *mem;
    (void)state;
    assert_int_equal(e[1].ch->ops->mem_register(e[1].ch, window, sizeof window, &key, &mem),
                     MRMA_SUCCESS);
    POLL_UNTIL(e, send_one(&e[0], 40));
    POLL_UNTIL(e, e[1].got == 1);
    for (unsigned i = 0; i < SLEEPS; i++) {
        struct ch3_rdma op = {.put = true,
                              .local = mine,
                              .len = sizeof mine,
                              .key = key.key,
                              .remote = key.base,
                              .done = rdma_done};
        memset(mine, (int)i, sizeof mine);
        finished = 0;
        POLL_UNTIL(e, e[0].ch->ops->rdma(e[0].ch, &e[0].vc, &op) == MRMA_SUCCESS);
        sleep_until_finished(e);
        assert_memory_equal(window, mine, sizeof mine);
    }
    assert_int_equal(failed, 0);
    e[1].ch->ops->mem_release(e[1].ch, mem);
    close_pair(e);
}

/* ---- a peer that has gone ---- */

/* What the kernel does when a process ends. The netmod there is not asked any more. */
static void end_abruptly(struct end *e)
{
    nm_life_end(e->nm);
    nm_fabric_end(e->nm);
}

static bool is_lost_in_time(struct end *e)
{
    const uint64_t began = clock_monotonic_ns();
    uint64_t probed = began;
    while (!ch3_vc_is_lost(&e->vc)) {
        const uint64_t now = clock_monotonic_ns();
        if (now - began > SECONDS_LOST * UINT64_C(1000000000))
            return false;
        if (now - probed > UINT64_C(500000000)) {
            e->ch->ops->probe(e->ch, &e->vc);
            probed = now;
        }
        e->ch->ops->poll(e->ch);
        usleep(1000);
    }
    return true;
}

static void close_lost(struct end *e)
{
    ch3_vc_event(&e[0].vc, CH3_VC_CLOSE);
    nmofi_close(e[0].nm);
    nmofi_close(e[1].nm);
    for (int i = 0; i < MAX; i++)
        log_pipe_close(&e[i].lp);
    free(e);
}

static void lose(bool socket)
{
    struct end *e = open_both();
    POLL_UNTIL(e, send_one(&e[0], 40));
    POLL_UNTIL(e, e[1].got == 1 && (!e[1].peer.link || !e[1].peer.link->under_way));
    if (!socket)
        e[0].peer.name.life = 0;
    end_abruptly(&e[1]);
    (void)send_one(&e[0], 8); /* injected: lost with a word, or without */
    assert_true(is_lost_in_time(&e[0]));
    close_lost(e);
}

/* The fabric says so only much later: the address by which the process is known to live is all that
 * there is. */
static void lost_by_its_socket_alone(void **state)
{
    struct end *e = open_both();
    (void)state;
    POLL_UNTIL(e, send_one(&e[0], 40));
    POLL_UNTIL(e, e[1].got == 1 && (!e[1].peer.link || !e[1].peer.link->under_way));
    assert_true(e[0].peer.name.life);
    end_abruptly(&e[1]);
    const uint64_t began = clock_monotonic_ns();
    (void)send_one(&e[0], 8);
    assert_true(is_lost_in_time(&e[0]));
    assert_true(clock_monotonic_ns() - began < SECONDS_ALONE * UINT64_C(1000000000));
    while (e[0].peer.link && e[0].peer.link->under_way) { /* the fabric says so at last */
        e->ch->ops->poll(e->ch);
        usleep(1000);
    }
    close_lost(e);
}

static void lost_by_its_socket(void **state)
{
    (void)state;
    lose(true);
}

static void lost_by_the_fabric(void **state)
{
    (void)state;
    lose(false);
}

/* ---- what is asked of the provider ---- */

static void has_a_descriptor(void **state)
{
    struct end *e = open_both();
    (void)state;
    assert_true(e->ch->caps & CH3_CAP_WAIT);
    assert_false(e->ch->caps & CH3_CAP_POLLED);
    close_pair(e);
}

static void must_be_polled(void **state)
{
    struct end *e = open_both();
    (void)state;
    assert_false(e->ch->caps & CH3_CAP_WAIT);
    assert_true(e->ch->caps & CH3_CAP_POLLED);
    assert_true(ch3_must_poll(&e->ch3));
    close_pair(e);
}

static void registers_by_itself(void **state)
{
    struct end *e = open_both();
    (void)state;
    assert_int_equal(counts_of(e)->local_descriptors, 0);
    assert_int_equal(counts_of(e)->registrations, 0);
    close_pair(e);
}

static void needs_descriptors(void **state)
{
    struct end *e = open_both();
    assert_int_equal(counts_of(e)->local_descriptors, MAX);
    close_pair(e);
    exchange(state);
}

static void buffers_grow_with_peers(void **state)
{
    struct end *e = open_both();
    (void)state;
    const unsigned before = e->nm->nrx;
    assert_true(nm_rx_grow(e->nm, 100));
    assert_true(e->nm->nrx > before + 16 && e->nm->nrx < 100);
    close_pair(e);
}

/* Process i of a node takes the card of that number. */
static void takes_card(unsigned i, const struct topo_cpuset *cpus, const char *number)
{
    static struct ch3 ch3;
    static const struct log quiet = {.level = LOG_LEVEL_ERROR, .fd = 2};
    struct nmofi *nm;
    const struct nmofi_opts opts = {.provider = provider,
                                    .node_index = i,
                                    .node_cpus = cpus,
                                    .uid = 1 + i,
                                    .log = &quiet,
                                    .find = find};
    ch3_init(&ch3, &quiet, NULL, NULL);
    assert_int_equal(nmofi_open(&opts, &nm), MRMA_SUCCESS);
    assert_string_equal(nm->info->domain_attr->name + strlen(provider), number);
    ch3_add_channel(&ch3, nmofi_channel(nm));
    nmofi_close(nm);
}

static void processes_take_cards_in_turn(void **state)
{
    static const char *const wanted[] = {"0", "1", "2", "0"};
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        takes_card(i, NULL, wanted[i]);
}

/* On a made machine of two packages, with two cards beside each. */
static void processes_take_near_cards(void **state)
{
    static const struct topo_cpuset node[] = {{{1}}, {{2}}, {{4}}, {{8}}, {{1}}, {{15}}};
    static const char *const wanted[] = {"0", "1", "2", "3", "0", "1"};
    (void)state;
    near_machine();
    for (unsigned i = 0; i < 6; i++)
        takes_card(i, node, wanted[i]);
}

/* The provider does not say where its cards are. */
static void places_are_not_known(void **state)
{
    static const struct topo_cpuset node[] = {{{4}}, {{4}}, {{1}}};
    static const char *const wanted[] = {"0", "1", "2"};
    (void)state;
    near_machine();
    for (unsigned i = 0; i < 3; i++)
        takes_card(i, node, wanted[i]);
}

/* A provider whose addresses are too long is not taken where it is one of several, and is an error
 * where the user names it. */
static void addresses_too_long(void **state)
{
    static const struct log quiet = {.level = LOG_LEVEL_ERROR, .fd = -1};
    static struct ch3 ch3;
    struct nmofi *nm;
    struct nmofi_opts opts = {.uid = 1, .log = &quiet, .find = find};
    (void)state;
    ch3_init(&ch3, &quiet, NULL, NULL);
    assert_int_equal(nmofi_open(&opts, &nm), MRMA_SUCCESS);
    assert_string_not_equal(nm->info->fabric_attr->prov_name, provider);
    ch3_add_channel(&ch3, nmofi_channel(nm));
    nmofi_close(nm);
    opts.provider = provider;
    assert_int_equal(nmofi_open(&opts, &nm), MRMA_ERR_OTHER);
}

/* As long as others can be told. */
static void longest_address(void **state)
{
    static const struct log quiet = {.level = LOG_LEVEL_ERROR, .fd = 2};
    static struct ch3 ch3;
    const struct nmofi_opts opts = {.uid = 1, .log = &quiet, .find = find};
    struct nmofi *nm;
    ch3_init(&ch3, &quiet, NULL, NULL);
    assert_int_equal(nmofi_open(&opts, &nm), MRMA_SUCCESS);
    assert_string_equal(nm->info->fabric_attr->prov_name, provider);
    assert_int_equal(nm->name.len, NMOFI_NAME_BYTES);
    ch3_add_channel(&ch3, nmofi_channel(nm));
    nmofi_close(nm);
    exchange(state);
}

/* The provider reads how many processes there may be, and what was set for that is gone again; what
 * the user has set stays. */
static void opens_in_a_job_of(unsigned processes)
{
    static const struct log quiet = {.level = LOG_LEVEL_ERROR, .fd = 2};
    static struct ch3 ch3;
    struct nmofi *nm;
    const struct nmofi_opts opts = {
        .provider = provider, .universe = processes, .uid = 1, .log = &quiet, .find = find};
    const bool set = getenv("FI_UNIVERSE_SIZE") != NULL;
    ch3_init(&ch3, &quiet, NULL, NULL);
    assert_int_equal(nmofi_open(&opts, &nm), MRMA_SUCCESS);
    assert_int_equal(getenv("FI_UNIVERSE_SIZE") != NULL, set);
    ch3_add_channel(&ch3, nmofi_channel(nm));
    nmofi_close(nm);
}

static void says_how_many_there_may_be(void **state)
{
    (void)state;
    opens_in_a_job_of(UNIVERSE);
}

/* A small job may spawn children, and the queues of a large one must be no longer than a card's. */
static void small_job(void **state)
{
    (void)state;
    opens_in_a_job_of(2);
}

static void large_job(void **state)
{
    (void)state;
    opens_in_a_job_of(1000000);
}

static void the_user_says_how_many(void **state)
{
    setenv("FI_UNIVERSE_SIZE", "5", 1);
    says_how_many_there_may_be(state);
    assert_string_equal(getenv("FI_UNIVERSE_SIZE"), "5");
}

static void no_memory_to_register(void **state)
{
    static const struct log quiet = {.level = LOG_LEVEL_ERROR, .fd = -1};
    const struct nmofi_opts opts = {.provider = provider, .uid = 1, .log = &quiet, .find = find};
    struct nmofi *nm;
    (void)state;
    assert_int_equal(nmofi_open(&opts, &nm), MRMA_ERR_NO_MEM);
}

/* The provider itself: who breaks a rule is found out. */
static void rules_are_held(void **state)
{
    struct end *e = open_both();
    char bytes[4096] = "";
    (void)state;
    POLL_UNTIL(e, send_one(&e[0], 40));
    POLL_UNTIL(e, e[1].got == 1);
    assert_int_equal(counts_of(e)->violations, 0);
    assert_int_not_equal(fi_inject(e->nm->ep, bytes, sizeof bytes, e->peer.addr), 0);
    assert_int_equal(counts_of(e)->violations, 1);
    assert_int_not_equal(fi_send(e->nm->ep, bytes, sizeof bytes, NULL, e->peer.addr + 1, bytes), 0);
    assert_int_equal(counts_of(e)->violations, 2);
    close_pair(e);
}

/* ---- each in a process of its own ---- */

struct test_case {
    const char *name, *profile, *rules;
    void (*run)(void **state);
};

#define ALL(run)                                                            \
    {"ideal: " #run, "ideal", "", run}, {"verbs: " #run, "verbs", "", run}, \
        {"cxi: " #run, "cxi", "", run}, {"efa: " #run, "efa", "", run},     \
        {"opx: " #run, "opx", "", run},                                     \
    {                                                                       \
        "psm3: " #run, "psm3", "", run                                      \
    }

static const struct test_case cases[] = {
    ALL(exchange),
    ALL(lost_by_its_socket),
    ALL(lost_by_the_fabric),
    {"verbs: has_a_descriptor", "verbs", "", has_a_descriptor},
    {"cxi: has_a_descriptor", "cxi", "", has_a_descriptor},
    {"cxi: wakes_who_sleeps", "cxi", "", wakes_who_sleeps},
    {"cxi: wakes who sleeps long", "cxi", "delay_us=3000", wakes_who_sleeps},
    {"ideal: wakes_who_sleeps", "ideal", "", wakes_who_sleeps},
    {"efa: must_be_polled", "efa", "", must_be_polled},
    {"opx: must_be_polled", "opx", "", must_be_polled},
    {"psm3: must_be_polled", "psm3", "", must_be_polled},
    {"efa: registers_by_itself", "efa", "", registers_by_itself},
    {"verbs: needs_descriptors", "verbs", "", needs_descriptors},
    {"cxi: needs_descriptors", "cxi", "mr_local=2", needs_descriptors},
    {"verbs: buffers_grow_with_peers", "verbs", "", buffers_grow_with_peers},
    {"verbs: slow registration", "verbs", "mr_us=20000", exchange},
    {"verbs: no_memory_to_register", "verbs", "mr_local=2,mr_fail_after=2", no_memory_to_register},
    {"cxi: processes_take_cards_in_turn", "cxi", "cards=3", processes_take_cards_in_turn},
    {"verbs: processes_take_near_cards", "verbs", "cards=4,pci=16", processes_take_near_cards},
    {"cxi: processes_take_near_cards", "cxi", "cards=4,pci=16", processes_take_near_cards},
    {"cxi: places_are_not_known", "cxi", "cards=4", places_are_not_known},
    {"cxi: names of unequal length", "cxi", "uneven=8", exchange},
    {"cxi: addresses_too_long", "cxi", "name_len=113", addresses_too_long},
    {"opx: addresses_too_long", "opx", "name_len=1024", addresses_too_long},
    {"verbs: longest_address", "verbs", "name_len=112", longest_address},
    {"opx: all sends may be late", "opx", "late_sends=5", exchange},
    {"verbs: universe", "verbs", "universe=1000", says_how_many_there_may_be},
    {"verbs: universe of a small job", "verbs", "universe=64", small_job},
    {"verbs: universe of a large job", "verbs", "universe=16384", large_job},
    {"verbs: universe of the user", "verbs", "universe=5", the_user_says_how_many},
    {"ideal: automatic progress", "ideal", "wait=3", has_a_descriptor},
    {"ideal: exchange with automatic progress", "ideal", "wait=3", exchange},
    {"efa: no automatic progress", "efa", "wait=3", must_be_polled},
    {"verbs: lost_by_its_socket_alone", "verbs", "lost_ms=12000", lost_by_its_socket_alone},
    {"cxi: lost_by_its_socket_alone", "cxi", "lost_ms=12000", lost_by_its_socket_alone},
    {"cxi: rules_are_held", "cxi", "", rules_are_held},
};

/* In the new process, the first of its line to load libfabric. */
static int run_case(const struct test_case *c)
{
    const struct CMUnitTest test[] = {{c->name, c->run, NULL, NULL, NULL}};
    snprintf(provider, sizeof provider, "%s", c->profile);
    return cmocka_run_group_tests(test, NULL, NULL);
}

static void start_case(void **state)
{
    const struct test_case *c = *state;
    const pid_t child = fork();
    int status;
    if (child == 0) {
        setenv("FABRIC_PROFILE", c->profile, 1);
        setenv("FABRIC_RULES", c->rules, 1);
        if (c->run == rules_are_held)
            setenv("FABRIC_VIOLATIONS", "count", 1);
        dup2(2, 1); /* one plan on standard output */
        exit(run_case(c));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    enum { N = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[N];
    setenv("FI_PROVIDER_PATH", FABRIC_DIR, 1);
    for (size_t i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, start_case, NULL, NULL,
                                       (void *)(uintptr_t)&cases[i]};
    return _cmocka_run_group_tests("fabric", tests, N, NULL, NULL);
}
