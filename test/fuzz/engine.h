/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine.h - one process of the library for the fuzzer: the code that ships from
 * rma/rma.h down to ch3, over a channel that leads nowhere.
 *
 * The process is rank 0 of two windows, one of created memory and one dynamic; its
 * two peers exist only as what the script lets them say. They answer nothing. A wait
 * of the process takes the packets that come next in the script; when none does, the
 * peers are dead from then on, and every wait must end with an error. Time is a
 * counter that moves by a second a look, so nothing takes real time. FUZZ_LOG=1 in the
 * environment shows the library's messages.
 */
#ifndef MRMA_TEST_FUZZ_ENGINE_H
#define MRMA_TEST_FUZZ_ENGINE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acc/stripe.h"
#include "base/conf.h"
#include "base/err.h"
#include "boot/boot.h"
#include "ch3/ch3.h"
#include "fail.h"
#include "rma/win/win.h"
#include "script.h"

struct fuzz_engine {
    struct log log;
    struct conf conf;
    struct ch3 ch3;
    struct ch3_channel channel;
    struct rma rma;
    struct rma_env env;
    struct rma_proc_record record;
    struct rma_notice notices[RMA_NOTICES];
    struct rma_peer peers[FUZZ_PROCS];
    struct polling polling;
    struct fmutex stripes[RMA_STRIPES];
    struct win *win[2];
    char *memory;  /* of the created window, FUZZ_WINDOW bytes */
    char *regions; /* where memory is attached to the dynamic one */
    bool attached[FUZZ_REGIONS];
    struct rma_req req;
    /* Packets that waits may take: what the script has next. Sets *from and *len;
     * NULL: no packet. */
    const void *(*next_packet)(void *arg, unsigned *from, size_t *len);
    void *arg;
    bool stalled;                   /* the channel has no room */
    bool dead;                      /* the peers are */
    bool closing;                   /* the peers free their windows too, and behave: */
    bool synced[FUZZ_PROCS][2];     /* they have said so, */
    bool told[MRMA_ERR_LAST];       /* errors that a peer has spoken of */
    struct pkt_hdr ack[FUZZ_PROCS]; /* and will acknowledge this (no type: nothing) */
    bool reserved;
    alignas(8) unsigned char room[PKT_MAX];
};

/* flags: FUZZ_F_*. The caller has set next_packet and arg. */
void fuzz_engine_start(struct fuzz_engine *e, unsigned flags);
/* A packet has come. It is copied to a block of its own length first, so that a read
 * behind its end is seen; and checked for what a packet may not do. */
void fuzz_engine_deliver(struct fuzz_engine *e, unsigned from, const void *packet, size_t len);
/* Free the windows, with the peers where no epoch is open, and drop everything. */
void fuzz_engine_end(struct fuzz_engine *e);

#endif
