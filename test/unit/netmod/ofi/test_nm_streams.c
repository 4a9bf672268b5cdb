/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_nm_streams.c - several senders to one receiver, through the libfabric netmod over loopback,
 * without pause and in messages of mixed sizes: every byte that arrives is checked. Messages are
 * partly in the sockets at any time, so that the provider fills several places in its receive
 * buffers at once.
 *
 * MTEST_MESSAGES is the number of messages of all senders together (30000 if not set).
 */
#include "test/support/base_helper.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/err.h"
#include "ch3/ch3.h"
#include "netmod/ofi/nmofi.h"

enum { SENDERS = 3, HEAD = 8 };

#define PATIENCE UINT64_C(60000000000) /* without a message */

static const unsigned char secret[NMOFI_SECRET_BYTES + 1] = "of this job only";

struct end {
    struct log_pipe lp;
    struct ch3 ch3;
    struct nmofi *nm;
    struct ch3_channel *ch;
};

/* The receiver's side of a sender. */
struct source {
    struct nmofi_peer peer;
    struct ch3_vc vc;
    uint64_t rng;
    unsigned got;
};

struct receiver {
    struct end end; /* first */
    struct source sources[SENDERS];
    unsigned got, damaged;
    _Atomic bool over; /* senders may end */
};

struct sender {
    struct end end; /* first */
    struct nmofi_peer peer;
    struct ch3_vc vc;
    pthread_t thread;
    struct receiver *to;
    unsigned me, messages;
    bool failed;
};

static unsigned messages_each;

/* Lengths and contents of a sender's messages, in order: the same at both ends. */
static size_t draw_length(uint64_t *rng)
{
    static const size_t most[] = {64, 64, 256, 4096, 17000, CH3_PACKET_MAX, CH3_PACKET_MAX};
    const size_t bound = most[next_random(rng) % (sizeof most / sizeof most[0])];
    return HEAD + next_random(rng) % (bound - HEAD + 1);
}

static void fill(unsigned char *bytes, size_t len, unsigned who, unsigned number)
{
    uint64_t v = ((uint64_t)who << 40) + ((uint64_t)number << 13);
    for (size_t i = 0; i < len; i += sizeof v, v++)
        memcpy(bytes + i, &v, len - i < sizeof v ? len - i : sizeof v);
}

static void deliver(struct ch3_vc *from, const void *packet, size_t len)
{
    static unsigned char expected[CH3_PACKET_MAX];
    struct receiver *r = from->owner;
    struct source *s = LIST_ENTRY(from, struct source, vc);
    const size_t right = draw_length(&s->rng);
    fill(expected, right, (unsigned)(s - r->sources), s->got);
    r->damaged += len != right || memcmp(packet, expected, right) != 0;
    s->got++;
    r->got++;
}

static struct ch3_vc *find(void *ctx, uint64_t uid)
{
    struct receiver *r = ctx;
    return uid >= 1 && uid <= SENDERS ? &r->sources[uid - 1].vc : NULL;
}

static struct ch3_vc *find_receiver(void *ctx, uint64_t uid)
{
    struct sender *s = ctx;
    return uid == 0 ? &s->vc : NULL;
}

static void open_end(struct end *e, uint64_t uid, struct ch3_vc *(*who)(void *, uint64_t),
                     const char *provider)
{
    log_to_pipe(&e->lp, LOG_LEVEL_WARN);
    ch3_init(&e->ch3, &e->lp.log, NULL, e);
    const struct nmofi_opts opts = {.provider = provider,
                                    .loopback = true,
                                    .uid = uid,
                                    .log = &e->lp.log,
                                    .ctx = e,
                                    .find = who};
    assert_int_equal(nmofi_open(&opts, &e->nm), MRMA_SUCCESS);
    e->ch = nmofi_channel(e->nm);
    ch3_add_channel(&e->ch3, e->ch);
    e->ch->deliver = deliver;
    assert_int_equal(nmofi_add_secret(e->nm, secret), MRMA_SUCCESS);
}

static void connect_to(struct end *e, struct end *to, uint64_t uid, struct nmofi_peer *peer,
                       struct ch3_vc *vc)
{
    struct nmofi_name name;
    nmofi_get_name(to->nm, &name);
    assert_int_equal(nmofi_peer_init(e->nm, peer, uid, &name, secret), MRMA_SUCCESS);
    ch3_vc_init(vc, &e->ch3, e->ch, peer, e);
    assert_true(ch3_vc_event(vc, CH3_VC_CONNECT));
}

static bool send_one(struct sender *s, size_t len, unsigned number)
{
    struct ch3_channel *ch = s->end.ch;
    void *room = ch->ops->reserve(ch, &s->vc, len);
    if (!room)
        return false;
    fill(room, len, s->me, number);
    ch->ops->commit(ch, &s->vc, len);
    return true;
}

static void *run_sender(void *arg)
{
    struct sender *s = arg;
    struct ch3_channel *ch = s->end.ch;
    uint64_t rng = s->me + 1, last = clock_monotonic_ns();
    for (unsigned i = 0; i < messages_each && !s->failed; i++) {
        const size_t len = draw_length(&rng);
        while (!send_one(s, len, i) && !s->failed) {
            ch->ops->poll(ch);
            s->failed = s->vc.state == CH3_VC_FAILED || clock_monotonic_ns() - last > PATIENCE;
        }
        last = clock_monotonic_ns();
    }
    while (!atomic_load(&s->to->over)) { /* the provider moves when it is asked to */
        ch->ops->poll(ch);
        sched_yield();
    }
    return NULL;
}

static void receive_all(struct receiver *r)
{
    uint64_t last = clock_monotonic_ns();
    while (r->got < SENDERS * messages_each && !r->damaged &&
           clock_monotonic_ns() - last < PATIENCE) {
        if (r->end.ch->ops->poll(r->end.ch))
            last = clock_monotonic_ns();
        else
            sched_yield();
        for (unsigned i = 0; i < SENDERS; i++)
            if (r->sources[i].vc.state == CH3_VC_FAILED)
                return;
    }
}

static void streams(void **state)
{
    struct receiver *r = calloc(1, sizeof *r);
    struct sender *s = calloc(SENDERS, sizeof *s);
    char text[4096];
    open_end(&r->end, 0, find, *state);
    for (unsigned i = 0; i < SENDERS; i++) {
        s[i].me = i;
        s[i].to = r;
        open_end(&s[i].end, i + 1, find_receiver, *state);
        connect_to(&s[i].end, &r->end, 0, &s[i].peer, &s[i].vc);
        connect_to(&r->end, &s[i].end, i + 1, &r->sources[i].peer, &r->sources[i].vc);
        r->sources[i].rng = i + 1;
    }
    for (unsigned i = 0; i < SENDERS; i++)
        assert_int_equal(pthread_create(&s[i].thread, NULL, run_sender, &s[i]), 0);
    receive_all(r);
    atomic_store(&r->over, true);
    for (unsigned i = 0; i < SENDERS; i++)
        pthread_join(s[i].thread, NULL);
    const char *said = log_text(&r->end.lp, text, sizeof text);
    if (*said)
        print_message("%s", said);
    assert_string_equal(said, "");
    assert_int_equal(r->damaged, 0);
    assert_int_equal(r->got, SENDERS * messages_each);
    assert_int_equal(nmofi_get_stats(r->end.nm)->dropped, 0);
    for (unsigned i = 0; i < SENDERS; i++) {
        ch3_vc_event(&s[i].vc, CH3_VC_CLOSE);
        ch3_vc_event(&r->sources[i].vc, CH3_VC_CLOSE);
    }
    for (unsigned i = 0; i < SENDERS; i++) {
        nmofi_close(s[i].end.nm);
        log_pipe_close(&s[i].end.lp);
    }
    nmofi_close(r->end.nm);
    log_pipe_close(&r->end.lp);
    free(s);
    free(r);
}

int main(void)
{
    static char rxm[] = "tcp;ofi_rxm";
    const char *asked = getenv("MTEST_MESSAGES");
    messages_each = (unsigned)(asked ? atoi(asked) : 30000) / SENDERS;
    const struct CMUnitTest tests[] = {
        {"the best provider: streams", streams, NULL, NULL, NULL},
        {"tcp;ofi_rxm: streams", streams, NULL, NULL, rxm},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
