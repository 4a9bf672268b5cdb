/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_memory.h - checks that the node has the memory for which its processes ask together in one
 * creation.
 *
 * Memory of windows is reserved and comes by first touch. Each process looks whether there is
 * memory for its own part, and all of them may find so although there is not enough for all
 * together. The records tell what they reserve together (proc_records.h), and every process
 * compares the sum for its node with the memory that it sees, since processes may be in different
 * control groups. The answers may differ: the caller makes the agreement.
 */
#ifndef MRMA_RMA_CREATE_NODE_MEMORY_H
#define MRMA_RMA_CREATE_NODE_MEMORY_H

#include <stdint.h>

#include "rma/create/win_create.h"

/* size_sum returns a + b, which are sizes that processes have given; UINT64_MAX stands for every
 * larger sum. */
static inline uint64_t size_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* node_memory_fits returns MRMA_SUCCESS if this node has what its processes reserve for w together,
 * as the records of all say, else MRMA_ERR_NO_MEM with a message. Processes may get different
 * answers. Does not wait. */
int node_memory_fits(const struct win *w, const struct win_plan *plan);

#endif
