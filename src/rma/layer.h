/*
 * layer.h - the layer's start and end, for the engine. See layer.c.
 */
#ifndef MRMA_RMA_LAYER_H
#define MRMA_RMA_LAYER_H

#include "rma/win/win.h"

/* Nothing is allocated. What is pointed to must outlive the layer; ch3 gets what it tells to this
 * layer, and its handlers are those of handlers.h. threads: several application threads may call.
 */
void rma_init(struct rma *r, const struct log *log, const struct conf *conf, struct rma_env *env,
              struct ch3 *ch3, clock_fn clock, bool threads);
/* Drop all windows without communication, and the layer's own memory. */
void rma_fini(struct rma *r);
/* Sum over freed and living windows. */
void rma_paths_total(const struct rma *r, struct win_stats *out);

#endif
