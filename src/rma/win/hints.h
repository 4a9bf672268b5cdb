/*
 * hints.h - the hints of a window (MPI 4.1, 12.2.1) as a word that processes compare. As text they
 * are in rma.h. No state, no locks.
 */
#ifndef MRMA_RMA_WIN_HINTS_H
#define MRMA_RMA_WIN_HINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rma/rma.h"

/* All hints that must be the same on all processes, in one word. */
uint64_t hints_word(const struct win_hints *h);
void hint_show_word(int i, uint64_t word, char *buf, size_t len);

/* Do the two words differ in hint i? Then *all gets what serves both. */
bool hint_join(int i, uint64_t *all, uint64_t other);

/* Take what the word has; mpi_accumulate_granularity, which is not used, stays as it is. */
void hints_take(struct win_hints *h, uint64_t word);

#endif
