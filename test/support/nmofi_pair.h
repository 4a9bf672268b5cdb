/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nmofi_pair.h - for tests of the network: two ends in this process, each with an endpoint of its
 * own and the other as its peer, and what they do by turns.
 */
#ifndef MRMA_TEST_NMOFI_PAIR_H
#define MRMA_TEST_NMOFI_PAIR_H

#include "base_helper.h"

#include <sched.h>

#include "base/clock.h"
#include "base/err.h"
#include "ch3/ch3.h"
#include "netmod/ofi/nmofi.h"

enum { MAX = 2 };

static const unsigned char secret[NMOFI_SECRET_BYTES + 1] = "of this job only";

struct end {
    struct log_pipe lp;
    struct ch3 ch3;
    struct nmofi *nm;
    struct ch3_channel *ch;
    struct nmofi_peer peer;
    struct ch3_vc vc;
    bool known; /* find knows the other */
    unsigned got, finds;
    unsigned char last[64];
};

static inline uint64_t uid_of(int i)
{
    return 0x1000 + (uint64_t)i;
}

static inline struct ch3_vc *find(void *ctx, uint64_t uid)
{
    struct end *e = ctx;
    e->finds++;
    return e->known && uid == e->peer.uid ? &e->vc : NULL;
}

static inline void deliver(struct ch3_vc *from, const void *packet, size_t len)
{
    struct end *e = from->owner;
    memcpy(e->last, packet, len < sizeof e->last ? len : sizeof e->last);
    e->got++;
}

static inline void open_end(struct end *e, int me, const char *provider)
{
    log_to_pipe(&e->lp, LOG_LEVEL_WARN);
    ch3_init(&e->ch3, &e->lp.log, NULL, e);
    e->known = true;
    const struct nmofi_opts opts = {.provider = provider,
                                    .loopback = true,
                                    .uid = uid_of(me),
                                    .log = &e->lp.log,
                                    .ctx = e,
                                    .find = find};
    assert_int_equal(nmofi_open(&opts, &e->nm), MRMA_SUCCESS);
    e->ch = nmofi_channel(e->nm);
    ch3_add_channel(&e->ch3, e->ch);
    e->ch->deliver = deliver;
}

static inline void connect_end(struct end *e, struct end *to, int other, const unsigned char *key)
{
    struct nmofi_name name;
    nmofi_get_name(to->nm, &name);
    assert_int_equal(nmofi_peer_init(e->nm, &e->peer, uid_of(other), &name, key), MRMA_SUCCESS);
    ch3_vc_init(&e->vc, &e->ch3, e->ch, &e->peer, e);
    assert_true(ch3_vc_event(&e->vc, CH3_VC_CONNECT));
}

static inline struct end *open_pair(void **state)
{
    struct end *e = calloc(MAX, sizeof *e);
    for (int i = 0; i < MAX; i++)
        open_end(&e[i], i, *state);
    for (int i = 0; i < MAX; i++) {
        assert_int_equal(nmofi_add_secret(e[i].nm, secret), MRMA_SUCCESS);
        connect_end(&e[i], &e[1 - i], 1 - i, secret);
    }
    return e;
}

static inline void close_pair(struct end *e)
{
    for (int i = 0; i < MAX; i++)
        ch3_vc_event(&e[i].vc, CH3_VC_CLOSE);
    for (int i = 0; i < MAX; i++)
        nmofi_close(e[i].nm);
    for (int i = 0; i < MAX; i++) {
        assert_int_equal(e[i].ch3.unsent, 0); /* nothing is promised any more */
        log_pipe_close(&e[i].lp);
    }
    free(e);
}

static inline void poll_both(struct end *e)
{
    for (int i = 0; i < MAX; i++)
        e[i].ch->ops->poll(e[i].ch);
    sched_yield();
}

static inline bool send_one(struct end *e, size_t len)
{
    void *room = e->ch->ops->reserve(e->ch, &e->vc, len);
    if (!room)
        return false;
    memset(room, 'x', len);
    e->ch->ops->commit(e->ch, &e->vc, len);
    return true;
}

#define POLL_UNTIL(e, condition)                                       \
    do {                                                               \
        const uint64_t start_ = clock_monotonic_ns();                  \
        while (!(condition)) {                                         \
            poll_both(e);                                              \
            if (clock_monotonic_ns() - start_ > UINT64_C(20000000000)) \
                fail_msg("never: %s", #condition);                     \
        }                                                              \
    } while (0)

/* A test over each provider, whose names net and rxm are the caller's. */
#define BOTH(test)                                   \
    {"net: " #test, test, NULL, NULL, net},          \
    {                                                \
        "tcp;ofi_rxm: " #test, test, NULL, NULL, rxm \
    }

#endif
