/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strict_impl.h - what the files of strict.h share: a window's state, and words for its messages.
 */
#ifndef MRMA_RMA_STRICT_STRICT_IMPL_H
#define MRMA_RMA_STRICT_STRICT_IMPL_H

#include <pthread.h>

#include "rma/strict/strict.h"
#include "rma/strict/strict_ranges.h"
#include "rma/win/win.h"

/* One for every rank of the window, used or not: this mode finds mistakes (user guide). */
struct strict_target {
    struct strict_ranges ranges;
    uint64_t held; /* what this process has added to the target's strict_locks */
    bool exclusive, nocheck;
};

struct strict {
    pthread_mutex_t mutex; /* ranges, issued, noted */
    bool issued;           /* operations since the last fence, in its epoch */
    bool noted;            /* in the log that the checks are incomplete, in this epoch */
    struct strict_target target[];
};

static inline bool strict_updates(enum strict_kind kind, unsigned op)
{
    return kind == STRICT_PUT || (kind == STRICT_ACC && op != ACC_NO_OP);
}

static inline bool strict_in_fence_epoch(const struct win *w)
{
    return epoch_now(&w->epoch) == EPOCH_FENCE || epoch_now(&w->epoch) == EPOCH_FENCE_USED;
}

/* An operation in words for messages, e.g. "accumulate (sum)": buf, or a constant. */
const char *strict_describe(unsigned kind, unsigned op, char *buf, size_t len);

/* An operation of valid arguments at byte offset of t's memory, about to be performed;
 * remembered if the answer is MRMA_SUCCESS. MRMA_ERR_RMA_CONFLICT, MRMA_ERR_OP
 * (which_accumulate_ops does not have it), MRMA_ERR_ASSERT (the target has said that no put
 * will come). Accumulates: kind STRICT_ACC, op->op ACC_OP_NONE for compare-and-swap. */
int strict_op(struct win *w, struct rma_target *t, enum strict_kind kind, const struct rma_op *op,
              int64_t offset);

/* The lock on t is about to be given back. MRMA_ERR_ASSERT is for unlock to return when done. */
int strict_check_unlock(struct win *w, struct rma_target *t);

/* Origin: has a memory peer said that no put will come? MRMA_ERR_ASSERT. */
int strict_check_noput(const struct win *w, const struct rma_target *t, enum strict_kind kind,
                       unsigned op);

#endif
