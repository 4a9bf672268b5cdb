/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify_state.h - what notified access keeps in a window and in a target. Only src/rma/notify
 * changes it; notify/notify.h says what the counters mean, and their locks.
 */
#ifndef MRMA_RMA_WIN_NOTIFY_STATE_H
#define MRMA_RMA_WIN_NOTIFY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/list.h"

enum { NOTIFY_MAX = 64, NOTIFY_LINE = MRMA_CACHE_LINE / sizeof(uint64_t) };

typedef _Atomic uint64_t notify_counter;

/* In struct win. */
struct notify_win {
    uint32_t n;           /* how many numbers this window has; 0: it has no notifications */
    notify_counter *all;  /* the counters of all origins, by number */
    uint64_t *taken;      /* of all, by number */
    uint32_t awaited;     /* requests that await notifications; notify/await_notified.c */
    uint32_t awaited_any; /* of these, requests that await them from any process */
    bool watching;        /* this process also hears of losses of processes that it has nothing to
                             do with */
    uint32_t words;       /* notify/notify_words.h; 0: none */
    struct list_node with_words;
};

/* In struct rma_target. */
struct notify_target {
    notify_counter *to_all, *to; /* its counters of all origins, and of this process; NULL: packets
                                    tell it */
    notify_counter *from;        /* the counters here of what comes from it; NULL: none has come by
                                    packet */
    uint64_t *taken;             /* how many of its notifications were taken, by number; NULL:
                                    none */
    uint32_t awaited;            /* requests that await notifications from it */
};

#endif
