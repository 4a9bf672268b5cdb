/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chan_rig.h - some processes of one kind of channel, in one test process, for the
 * conformance test (test_shm_channel.c). A further channel is added by a struct
 * chan_kind: how to make the ends and connect them; nothing else of it is known to
 * the tests but ch3/channel.h.
 *
 * Every packet carries who, to whom, its number and its length, and a pattern
 * made of them: the receiving end checks all, and that numbers come without gaps.
 */
#ifndef MRMA_TEST_CHAN_RIG_H
#define MRMA_TEST_CHAN_RIG_H

#include "base_helper.h"
#include "ch3/ch3.h"

enum { RIG_MAX = 12 };

struct rig;

struct rig_end {
    struct rig *rig;
    int me;
    bool gone; /* vanished: not touched any more */
    struct ch3 ch3;
    struct ch3_channel *ch;
    void *impl;                /* the kind's */
    struct ch3_vc vc[RIG_MAX]; /* [me] is unused */
    uint32_t sent[RIG_MAX], got[RIG_MAX];
    /* What deliver does besides checking; NULL: nothing. */
    void (*on_packet)(struct rig_end *end, int from, const void *packet, size_t len);
};

struct chan_kind {
    const char *name;
    /* Make end->ch and end->impl for all ends; then the channel data of each vc by
     * ch3_vc_init. false: this system has it not (said why). */
    bool (*open)(struct rig *rig);
    void (*close)(struct rig *rig);
    /* The process ends without a word; NULL: cannot be made here. */
    void (*vanish)(struct rig *rig, int who);
    /* Nanoseconds of a clock of its own, which moves with the polls alone: nothing outside
     * of the test has to get on. NULL: the system's clock. */
    uint64_t (*now)(const struct rig *rig);
    unsigned caps;   /* what it announces */
    const char *arg; /* the kind's own */
};

struct rig {
    const struct chan_kind *kind;
    int n;
    struct log_pipe lp;
    struct rig_end end[RIG_MAX];
    void *impl;
    unsigned bad; /* packets that were not as sent */
};

struct rig *rig_open(const struct chan_kind *kind, int n);
void rig_close(struct rig *rig);

/* Send the next packet; false: no room. */
bool rig_send(struct rig *rig, int from, int to, size_t len);
/* Let everyone poll. Returns how many packets moved. */
unsigned rig_poll(struct rig *rig);
/* Poll until everything that was sent has been received; fails after some seconds. */
void rig_settle(struct rig *rig);
/* Send, polling until there is room. */
void rig_send_surely(struct rig *rig, int from, int to, size_t len);
/* Send both ways between 0 and 1, and poll: connections are made then, the ends at rest. */
void rig_greet(struct rig *rig);
/* The kind's time, for limits of waits. */
uint64_t rig_now(const struct rig *rig);
/* Between two polls that moved nothing: let the system get on, where the kind needs that. */
void rig_rest(const struct rig *rig);

/* The kinds. */
extern const struct chan_kind rig_shm, rig_shm_most, rig_net, rig_rxm, rig_sim;

#endif
