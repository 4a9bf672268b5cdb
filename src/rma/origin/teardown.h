/*
 * teardown.h - the end of pairs of window and target at the origin, and of what they still await.
 */
#ifndef MRMA_RMA_ORIGIN_TEARDOWN_H
#define MRMA_RMA_ORIGIN_TEARDOWN_H

#include "rma/origin/pair.h"

/* The connection to t is lost: requests of the pair, if it has any, end with an error, which the
 * window's next synchronization returns, too. Under the engine's lock. */
void pair_lost(struct rma_target *t);
/* Nothing will come for the window any more: all requests of its pairs end with err. Under the
 * engine's lock. */
void pair_fail_all(struct win *w, int err);
/* The window ends: t->pkt, if there is one, is freed, with what it still awaits. Under the engine's
 * lock. */
void pair_free(struct rma_target *t);

#endif
