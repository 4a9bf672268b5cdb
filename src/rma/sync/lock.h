/*
 * lock.h - passive target: one target's lock, and lock_all. See lock.c, lock_all.c.
 */
#ifndef MRMA_RMA_SYNC_LOCK_H
#define MRMA_RMA_SYNC_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct win;
struct win_ctl;
struct rma_target;

/* The lock word of a direct target was changed by an exchange: wake who sleeps for it, and the
 * target itself if packets wait there. */
void lock_notify(struct rma_target *t);

/* The rest of it: the target itself. */
void lock_wake_owner(struct rma_target *t);

/* lock_all.c: may lock_all's holder access a direct target now? Waits while an
 * exclusive lock is held there. */
int lock_all_access(struct win *w, struct rma_target *t);
/* An exclusive ticket whose turn has come: true if no lock_all holder is in the
 * way; else the request has stepped back (LOCKWORD_YIELDED) and must ask again. */
bool lock_all_pass(struct win *w, struct rma_target *t, bool *yielded);
/* One more or one less who holds lock_all in this process's direct group. */
void lock_all_join(struct win *w);
void lock_all_leave(struct win *w);

#endif
