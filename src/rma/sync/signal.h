/*
 * signal.h - signals by a store into this process's slot of another one's control block.
 */
#ifndef MRMA_RMA_SYNC_SIGNAL_H
#define MRMA_RMA_SYNC_SIGNAL_H

struct win;
struct rma_target;

/* An exposure epoch for t has begun. t is woken by signal_wake afterwards. The other way round:
 * stage_complete. */
void signal_post(struct rma_target *t);

/* After signals were stored: wake those of the direct targets that sleep. */
void signal_wake(struct win *w, const int *ranks, int n);

#endif
