/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_memory.h - does the node have what its processes ask for together in one creation?
 *
 * Memory of windows is reserved and comes by first touch, so each process looks whether its own
 * part is there, and all of them may find that. What they reserve together is in the records
 * (proc_records.h); every process holds the sum for its node against what it sees itself, since
 * processes may be in different control groups. The answers may differ: the caller makes the
 * agreement.
 */
#ifndef MRMA_RMA_CREATE_NODE_MEMORY_H
#define MRMA_RMA_CREATE_NODE_MEMORY_H

#include <stdint.h>

#include "rma/create/win_create.h"

/* size_sum returns a + b, of sizes that processes gave: UINT64_MAX stands for all that is more. */
static inline uint64_t size_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* node_memory_fits returns MRMA_SUCCESS if this node has what its processes reserve for w together,
 * as the records of all say, else MRMA_ERR_NO_MEM with a message. Processes may get different
 * answers. Does not wait. */
int node_memory_fits(const struct win *w, const struct win_plan *plan);

#endif
