/*
 * lock_queue.h - the target's side of locks that packets ask for.
 *
 * The request takes a ticket of the same lock word that direct origins use and
 * waits in win->target_side.lockq; whoever polls looks whether its turn has come. Under the
 * engine's lock.
 */
#ifndef MRMA_RMA_TARGET_LOCK_QUEUE_H
#define MRMA_RMA_TARGET_LOCK_QUEUE_H

#include <stdbool.h>

struct win;
struct pkt_origin;

/* Ask for the lock: true if it is held at once, else it is queued until lock_queue_grant returns
 * it. */
bool lock_queue_request(struct pkt_origin *po, bool exclusive, bool all);
void lock_queue_release(struct pkt_origin *po);
/* The window goes away while po still waits (a peer has died). */
void lock_queue_forget(struct pkt_origin *po);
/* Grant the lock of w to one that waits for it and whose turn has come: that one, or NULL. */
struct pkt_origin *lock_queue_grant(struct win *w);

#endif
