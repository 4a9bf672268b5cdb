/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.h - moving packets on, from any thread (progress.c), and the agent thread (agent.c).
 */
#ifndef MRMA_RMA_PROGRESS_PROGRESS_H
#define MRMA_RMA_PROGRESS_PROGRESS_H

#include <stdbool.h>

#include "rma/win/win.h"

/* One round under a try-lock; whether anything moved. Without the engine's lock. */
bool rma_poll(struct rma *r);
/* The same, waiting for the lock: the last look before sleeping, which may not rely
 * on a round of somebody else that began earlier. *block (or NULL): nothing moved, and
 * one may block on the channels' descriptors now. */
bool rma_poll_surely(struct rma *r, bool *block);
/* Is a packet waiting to be polled, of a channel that has no descriptor? No lock needed. */
bool rma_pending(struct rma *r);

/* This thread polls: senders need not wake the agent. Nestable. */
void rma_polling_begin(struct rma *r);
void rma_polling_end(struct rma *r);

/* A window has procs processes on this node, which may use cpus processors. */
void rma_learn_node(struct rma *r, int procs, unsigned cpus);
/* Most processes of this node that a window has had, and are they more than their processors? */
int rma_node_procs(const struct rma *r);
bool rma_is_oversubscribed(const struct rma *r);
/* A window exists; packets: it sends or receives some. */
void rma_use_packets(struct rma *r, bool packets);

/* For ch3: packets are queued that nobody but a poller pushes; wakes the agent. */
void rma_queued(void *rma);

/* ---- the agent ---- */

/* The agent is about to be started: before it can sleep, for threads that stop polling must know.
 * And: it has ended, or could not be started. */
void rma_agent_begins(struct rma *r);
void rma_agent_ended(struct rma *r);
/* Does it run? */
bool rma_has_agent(const struct rma *r);

/* The longest time that it may sleep, in nanoseconds; 0: until something comes. */
uint64_t rma_agent_limit(const struct rma *r);
/* Work and sleep, in turns. Returns when *stop is set (and its event woken). */
void rma_agent_loop(struct rma *r, const _Atomic bool *stop);

#endif
