/*
 * agent.h - the agent thread's loop. See agent.c.
 */
#ifndef MRMA_RMA_PROGRESS_AGENT_H
#define MRMA_RMA_PROGRESS_AGENT_H

#include <stdbool.h>

struct rma;

/* Rounds of work, and sleep until something comes. Returns when *stop is set (and its
 * event woken). */
void rma_agent_loop(struct rma *r, const _Atomic bool *stop);

#endif
