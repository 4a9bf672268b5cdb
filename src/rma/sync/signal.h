/*
 * signal.h - telling peers: direct ones by a store to my slot in their control
 * block, packet ones by a packet. And the barrier over a window's direct group.
 */
#ifndef MRMA_RMA_SYNC_SIGNAL_H
#define MRMA_RMA_SYNC_SIGNAL_H

struct win;
struct rma_target;

/* Tell a direct peer (store, release) that an exposure epoch for it is open. The peer
 * is woken by signal_wake afterwards. The other way round: stage_complete. */
void signal_post(struct rma_target *t);

/* After signals were stored: wake those of the direct targets that sleep. */
void signal_wake(struct win *w, const int *ranks, int n);

/* Wait until all processes of the direct group have called it equally often.
 * What each stored or copied before is visible to all after. */
int signal_barrier(struct win *w);

#endif
