/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layer.h - the layer's start and end, for the engine. See layer.c.
 */
#ifndef MRMA_RMA_LAYER_LAYER_H
#define MRMA_RMA_LAYER_LAYER_H

#include "ch3/ch3.h"
#include "rma/progress/wait.h"
#include "rma/win/win.h"

/* rma_init sets up *r, the layer of one process; rma_fini ends it. Nothing is allocated. What the
 * arguments point to must outlive the layer. ch3, which was given rma_handlers, tells this layer
 * from now on of lost connections and of packets that are queued. threads says that several threads
 * of the application may call. */
void rma_init(struct rma *r, const struct log *log, const struct conf *conf, struct rma_env *env,
              struct ch3 *ch3, clock_fn clock, bool threads);

/* rma_fini drops all windows without communication, and the layer's own memory. No other thread is
 * in the layer. Peers of the node that wait for a lock of this process are told that it is lost to
 * them. */
void rma_fini(struct rma *r);

/* This layer's handlers by packet type, for ch3_init; their context is the struct rma. */
extern const ch3_handler rma_handlers[PKT_TYPE_LAST];

/* hang_awaits is the function awaits of progress/hooks.h, for layer.c. */
bool hang_awaits(struct win *w, const struct rma_wait *wait, const struct rma_target *t);

/* hang_report is the function report_wait of progress/hooks.h, for layer.c. */
void hang_report(struct win *w, const struct rma_wait *wait, uint64_t ns);

#endif
