/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hints.h - the hints of a window (MPI 4.1, 12.2.1) as its processes compare them. rma.h has them
 * as text. No state, no locks.
 */
#ifndef MRMA_RMA_WIN_HINTS_H
#define MRMA_RMA_WIN_HINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "rma/rma.h"

/* The first WIN_HINTS_COMMON bytes of the structure are the hints that must be the same on all
 * processes. */
#define WIN_HINTS_COMMON offsetof(struct win_hints, alloc_shm)

/* hint_differs returns whether hint i must be the same on all processes, and a and b differ in it.
 */
bool hint_differs(int i, const struct win_hints *a, const struct win_hints *b);

/* hint_join replaces hint i of *all by a value that is right for *all and for *h.
 * mpi_accumulate_granularity becomes 0 where they differ; mpi_minimum_memory_alignment stays. */
void hint_join(int i, struct win_hints *all, const struct win_hints *h);

#endif
