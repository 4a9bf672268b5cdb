/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.h - moves packets on, from any thread (progress.c), and runs the agent thread (agent.c).
 *
 * Errors of what a round does are not returned here: a connection that is lost ends its requests,
 * and threads that wait find it out (wait.h).
 */
#ifndef MRMA_RMA_PROGRESS_PROGRESS_H
#define MRMA_RMA_PROGRESS_PROGRESS_H

#include <stdbool.h>

#include "rma/win/win.h"
#include "sys/joint_board.h"

/* rma_poll does one round of progress if no other thread is doing one: it delivers packets that
 * have come, sends what is queued, and grants locks that packets wait for. Returns whether anything
 * moved. Without the engine's lock; never waits. */
bool rma_poll(struct rma *r);

/* rma_poll_surely does one round like rma_poll, but waits until other threads have given back the
 * engine's lock: it is the last look before a sleep, which may not rely on another thread's round
 * that began earlier. It sets *block (block may be NULL) to whether nothing moved and the calling
 * thread may now block on the channels' descriptors. Returns whether anything moved. Without the
 * engine's lock. */
bool rma_poll_surely(struct rma *r, bool *block);

/* rma_grant_released does one round if packets wait for a lock of this process and there is no
 * agent. The calling thread has just given back its lock on this process's own memory, and may call
 * the library late, or never again, while others wait for that lock. Without the engine's lock;
 * never waits. */
void rma_grant_released(struct rma *r);

/* rma_pending returns whether a packet waits to be polled, in any channel. With or without the
 * engine's lock. */
bool rma_pending(struct rma *r);

/* rma_polling_begin notes that the calling thread polls (rma_poll) until its rma_polling_end, so
 * that senders need not wake the agent. May be nested. Without the engine's lock. */
void rma_polling_begin(struct rma *r);

/* rma_polling_end ends rma_polling_begin. Packets that have come meanwhile are served by one more
 * round, or left to the agent, which is woken. Without the engine's lock. */
void rma_polling_end(struct rma *r);

/* rma_learn_node notes that a window has procs processes on this node, which may use cpus
 * processors together. The values of the window with the most processes are kept. It is called
 * while that window is created. */
void rma_learn_node(struct rma *r, int procs, unsigned cpus);

/* rma_node_procs returns how many processes of this node the largest window had, 0 before the first
 * one. Any thread. */
int rma_node_procs(const struct rma *r);

/* rma_is_oversubscribed returns whether there are more of these processes than processors that they
 * may use. Any thread. */
bool rma_is_oversubscribed(const struct rma *r);

/* rma_use_packets decides how waits are spent from now on, when a window is created and
 * rma_learn_node has been called for it. packets says that the window sends or receives packets, so
 * that all waits of the process poll. */
void rma_use_packets(struct rma *r, bool packets);

/* rma_queued is what ch3 calls, with the struct rma, when packets are queued that only a poll
 * sends: it wakes the agent, if there is one, unless a thread polls. Under the engine's lock. */
void rma_queued(void *rma);

/* ---- the agent ---- */

/* rma_agent_begins notes that the agent is about to be started. It is called before the agent can
 * sleep, since threads that stop polling must know of the agent. From then on all threads take the
 * engine's lock. */
void rma_agent_begins(struct rma *r);

/* rma_agent_ended notes that the agent has ended, or could not be started. */
void rma_agent_ended(struct rma *r);

/* rma_has_agent returns whether the agent runs, or is being started. Any thread. */
static inline bool rma_has_agent(const struct rma *r)
{
    return r->progress.agent;
}

/* rma_pause returns for how long, in nanoseconds, a thread may sleep before it polls again, where a
 * channel wakes nobody (CH3_CAP_POLLED); the time grows while nothing comes, up to a limit. 0:
 * there is no such channel. */
uint64_t rma_pause(const struct rma *r);

/* rma_agent_limit returns the longest time that the agent may sleep now, in nanoseconds; 0: until
 * something comes. */
uint64_t rma_agent_limit(const struct rma *r);

/* rma_agent_loop is what the agent's thread does: it serves packets and sleeps, in turns. Returns
 * when *stop is set, after which somebody wakes the agent's event. */
void rma_agent_loop(struct rma *r, const _Atomic bool *stop);

/* rma_board returns the board on which this process takes part in the copies of others while it
 * waits, or NULL: it takes no part, since it may have no processor meanwhile. */
static inline struct joint_board *rma_board(const struct rma *r)
{
    return r->progress.oversubscribed || r->env->idle ? NULL : r->env->board;
}

/* rma_help_begin says on that board that the calling thread waits from now on, and returns it. */
static inline struct joint_board *rma_help_begin(const struct rma *r)
{
    struct joint_board *board = rma_board(r);
    if (board)
        joint_help_begin(board, !r->threads);
    return board;
}

/* rma_help_end ends what rma_help_begin, which has returned board, has begun. */
static inline void rma_help_end(const struct rma *r, struct joint_board *board)
{
    if (board)
        joint_help_end(board, !r->threads);
}

#endif
