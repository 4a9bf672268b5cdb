/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_local.h - operations by load and store on memory that this process can reach: mapped
 * targets, its own window, and, at the target, operations that come by packet.
 *
 * All are complete when the function returns, except that stores may be in the processor's store
 * buffer (win_full_fence). Accumulates leave nothing there, since the return of a stripe is a full
 * fence. No locks but the stripes; acc_lock_mode must be called before an accumulate
 * (acc_atomic.h).
 */
#ifndef MRMA_RMA_PATH_COPY_LOCAL_H
#define MRMA_RMA_PATH_COPY_LOCAL_H

#include "base/copy.h"
#include "acc/stripe.h"
#include "rma/rma.h"

/* Memory that this process can reach: its address here, its owner's address, by which stripes are
 * chosen, and the owner's stripes. */
struct acc_at {
    struct stripes stripes;
    uint64_t vaddr;
    char *here;
};

/* An operation on elements of one type. */
struct acc_what {
    enum acc_op op;
    enum acc_type type;
};

/* direct_put does the put op of any datatypes. target is the address here from which the pieces'
 * displacements count. */
void direct_put(char *target, const struct rma_op *op);

/* direct_get does the get op of any datatypes. target is the address here from which the pieces'
 * displacements count. */
void direct_get(const char *target, const struct rma_op *op);

/* direct_acc does the accumulate op of any datatypes. at is the place from which the pieces'
 * displacements count. With fetch the old contents go to op's result. Like all functions below it
 * may wait for those who hold the stripes. */
void direct_acc(struct acc_at at, const struct rma_op *op, bool fetch);

/* direct_acc_piece does an accumulate on one contiguous piece of whole elements, len bytes; origin
 * is packed; old gets the old contents, packed; NULL: they are not wanted. */
void direct_acc_piece(struct acc_at at, struct acc_what what, const void *origin, void *old,
                      size_t len);

/* direct_acc_held does what direct_acc_piece does, with the stripe that is held already, and keeps
 * the last stripe. It is for pieces that follow each other. The caller drops the stripe soon, and
 * before it does anything else. */
void direct_acc_held(struct stripe_hold *hold, struct acc_at at, struct acc_what what,
                     const void *origin, void *old, size_t len);

/* direct_acc_walk_held does the same for the next len bytes, whole elements, of the pieces that cur
 * walks over. at is the place from which their displacements count. origin and old are packed; old
 * NULL: the old contents are not wanted. */
void direct_acc_walk_held(struct stripe_hold *hold, struct acc_at at, struct dtype_cursor *cur,
                          struct acc_what what, const char *origin, char *old, size_t len);

/* direct_cas compares unit bytes at at with compare, and stores value there if they are equal; old
 * gets the old contents. */
void direct_cas(struct acc_at at, const void *compare, const void *value, void *old, size_t unit);

#endif
