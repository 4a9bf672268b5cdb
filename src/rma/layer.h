/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layer.h - the layer's start and end, for the engine. See layer.c.
 */
#ifndef MRMA_RMA_LAYER_H
#define MRMA_RMA_LAYER_H

#include "ch3/ch3.h"
#include "rma/progress/wait.h"
#include "rma/win/win.h"

/* Nothing is allocated. What is pointed to must outlive the layer; ch3 gets what it tells to this
 * layer, and its handlers are rma_handlers. threads: several application threads may call. */
void rma_init(struct rma *r, const struct log *log, const struct conf *conf, struct rma_env *env,
              struct ch3 *ch3, clock_fn clock, bool threads);
/* Drop all windows without communication, and the layer's own memory. */
void rma_fini(struct rma *r);

/* From packet types to this layer, for ch3_init; the handlers' context is the struct rma. */
extern const ch3_handler rma_handlers[PKT_TYPE_LAST];

/* See awaits in progress/hooks.h. */
bool hang_awaits(struct win *w, const struct rma_wait *wait, const struct rma_target *t);
/* See report_wait there. */
void hang_report(struct win *w, const struct rma_wait *wait, uint64_t ns);

#endif
