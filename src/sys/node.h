/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node.h - what counts as one node: processes that can share memory, signal and find each other.
 *
 * They run under the same boot of a kernel, in the same PID namespace (peers open each other's
 * memory by process id) and in the same network namespace (doorbells have their names there).
 * No state, no locks.
 */
#ifndef MRMA_SYS_NODE_H
#define MRMA_SYS_NODE_H

#include <stdbool.h>
#include <stdint.h>

/* It travels between processes, and is equal exactly for processes of one node. */
struct node_id {
    uint64_t word[2];
};

/* node_self returns the identity of the node that this process is on. It reads files, so callers
 * keep the result. */
struct node_id node_self(void);

/* node_clock returns the identity of this process's CLOCK_MONOTONIC: the same in all processes
 * under one boot of a kernel and in one time namespace. It reads files, so callers keep the
 * result. */
uint64_t node_clock(void);

/* node_same returns whether two processes with these identities are on one node. */
static inline bool node_same(const struct node_id *a, const struct node_id *b)
{
    return a->word[0] == b->word[0] && a->word[1] == b->word[1];
}

#endif
