/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma_helper.h - a window built by hand: synchronization through shared
 * memory and nothing else, no window creation, no channel, no window memory.
 *
 * For tests with real processes (fork) or that drive one side only: make the
 * shared part once, before forking; then each process, or each thread that plays
 * one, makes its own view of it. What needs more uses ../sim/fabric.h.
 */
#ifndef MRMA_TEST_RMA_HELPER_H
#define MRMA_TEST_RMA_HELPER_H

#include "base/conf.h"
#include "base/log.h"
#include "rma/win/win.h"

enum { HAND_MAX = 8 };

/* In memory that all share. */
struct hand_proc {
    struct polling polling;
    _Atomic bool dead;
};

struct hand_shared {
    int n;
    size_t ctl_bytes;
    struct hand_proc *procs; /* n */
    char *ctls;              /* n of ctl_bytes */
    bool dynamic;
    struct hand_heap *heap; /* what rma_env.mem_alloc gives */
};

/* One process's view. */
struct hand {
    struct win win;
    struct rma rma;
    struct rma_env env;
    struct ch3 ch3;
    struct log log;
    struct conf conf;
    struct hand_shared shared;
    struct rma_peer peers[HAND_MAX];
    struct rma_target targets[HAND_MAX];
    int memory_ranks[HAND_MAX];
};

/* Memory that all share and that is never given back. */
struct hand_heap {
    _Atomic size_t used;
    size_t limit; /* so many bytes, HAND_HEAP at first; then there is no memory */
    alignas(MRMA_CACHE_LINE) char bytes[];
};
enum { HAND_HEAP = 64 << 20 };

/* Shared part for n processes; dynamic: with room for attached regions. */
struct hand_shared hand_share(int n, bool dynamic);
void hand_unshare(struct hand_shared *s);

/* The view of process rank. */
struct hand *hand_new(const struct hand_shared *s, int rank);
void hand_free(struct hand *h);

#endif
