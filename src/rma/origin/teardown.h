/*
 * teardown.h - the end of pairs of window and target at the origin, and of what they still await.
 */
#ifndef MRMA_RMA_ORIGIN_TEARDOWN_H
#define MRMA_RMA_ORIGIN_TEARDOWN_H

#include "rma/origin/pair.h"

/* Nothing will come for pt any more: all its requests end with err. Under the engine's lock. */
void pair_fail(struct pkt_target *pt, int err);
/* The same for all pairs of a window. */
void pair_fail_all(struct win *w, int err);
/* The window ends: t->pkt, if there is one, is freed, with what it still awaits. Under the engine's
 * lock. */
void pair_free(struct rma_target *t);

#endif
