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

/* One for every rank of the window, used or not: memory does not matter in this mode, which finds
 * mistakes (user guide). */
struct strict_target {
    struct strict_ranges ranges;
    uint64_t held; /* what this process has added to the target's strict_locks */
    bool exclusive, nocheck;
};

struct strict {
    pthread_mutex_t mutex; /* ranges, issued, noted */
    bool issued;           /* operations were issued since the last fence, in its epoch */
    bool noted;            /* the log says that the checks are incomplete, in this epoch */
    struct strict_target target[];
};

/* strict_updates returns whether an operation of that kind (for accumulates also with that enum
 * acc_op) changes the target. */
static inline bool strict_updates(enum strict_kind kind, unsigned op)
{
    return kind == STRICT_PUT || (kind == STRICT_ACC && op != ACC_NO_OP);
}

/* strict_in_fence_epoch returns whether the present epoch is one that a fence has begun. */
static inline bool strict_in_fence_epoch(const struct win *w)
{
    return epoch_now(&w->epoch) == EPOCH_FENCE || epoch_now(&w->epoch) == EPOCH_FENCE_USED;
}

/* strict_describe returns an operation in words for messages, e.g. "accumulate (sum)": buf, or a
 * constant. */
const char *strict_describe(unsigned kind, unsigned op, char *buf, size_t len);

/* strict_op checks an operation of valid arguments at byte offset of t's memory, which is about to
 * be performed, and remembers it if the answer is MRMA_SUCCESS. For accumulates kind is STRICT_ACC;
 * for compare-and-swap op->op is ACC_OP_NONE. Returns MRMA_ERR_RMA_CONFLICT or MRMA_ERR_OP
 * (which_accumulate_ops does not have the operation), with a message. Takes the mutex. */
int strict_op(struct win *w, struct rma_target *t, enum strict_kind kind, const struct rma_op *op,
              int64_t offset);

/* strict_check_unlock notes that the lock on t, if strict_lock has noted one, is about to be given
 * back. Where MPI_MODE_NOCHECK was given it checks once more that no other process holds a lock
 * that excludes this one: MPI_Win_unlock returns its MRMA_ERR_ASSERT, which has a message, when the
 * unlock is done. */
int strict_check_unlock(struct win *w, struct rma_target *t);

/* strict_check_noput is called at the origin. It returns MRMA_ERR_ASSERT, with a message, if t is a
 * memory peer that has said that no put will come and the operation is a put; else MRMA_SUCCESS. */
int strict_check_noput(const struct win *w, const struct rma_target *t, enum strict_kind kind,
                       unsigned op);

#endif
