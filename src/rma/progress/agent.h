/*
 * agent.h - the agent thread's loop. See agent.c.
 */
#ifndef MRMA_RMA_PROGRESS_AGENT_H
#define MRMA_RMA_PROGRESS_AGENT_H

#include <stdbool.h>
#include <stdint.h>

struct rma;

/* The agent is about to be started: before it can sleep, for threads that stop polling must know.
 * And: it has ended, or could not be started. */
void rma_agent_begins(struct rma *r);
void rma_agent_ended(struct rma *r);
/* Does it run? */
bool rma_has_agent(const struct rma *r);

/* The longest time that it may sleep, in nanoseconds; 0: until something comes. */
uint64_t rma_agent_limit(const struct rma *r);
/* Rounds of work, and sleep until something comes. Returns when *stop is set (and its
 * event woken). */
void rma_agent_loop(struct rma *r, const _Atomic bool *stop);

#endif
