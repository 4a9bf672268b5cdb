/*
 * access.h - may a target be accessed in the present epoch (MPI 4.1, 12.5)? See access.c.
 */
#ifndef MRMA_RMA_PATH_ACCESS_H
#define MRMA_RMA_PATH_ACCESS_H

struct win;
struct rma_target;

/* Slow half of "may this target be accessed": checks the epoch, waits where
 * access must wait for the target (direct targets), marks the target ready. */
int epoch_access(struct win *w, struct rma_target *t);

/* Wait until the target has posted the exposure for the present PSCW epoch (direct targets). */
int epoch_wait_post(struct win *w, struct rma_target *t);

/* An operation in a fence epoch that needs no access to its target: a put into its stage. */
int epoch_use_fence(struct win *w);

/* May lock_all's holder access a direct target now? Waits while an exclusive lock is held there.
 * MRMA_ERR_PROC_FAILED. */
int lock_all_access(struct win *w, struct rma_target *t);

#endif
