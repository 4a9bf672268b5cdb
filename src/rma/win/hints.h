/*
 * hints.h - the hints of a window (MPI 4.1, 12.2.1) as text, and as a word that processes compare.
 *
 * A hint is known by its number, 0 to HINTS - 1. No state, no locks.
 */
#ifndef MRMA_RMA_WIN_HINTS_H
#define MRMA_RMA_WIN_HINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rma/rma.h"

enum { HINTS = 12 };

const char *hint_key(int i);
const char *hint_expected(int i); /* what its value may be, for messages */

/* Take the value from text; false, and *h as it was: not understood. */
bool hint_read(int i, const char *text, struct win_hints *h);

/* The value as MPI_Win_get_info shows it. */
void hint_show(int i, const struct win_hints *h, char *buf, size_t len);

/* true or false, as for all keys that are so. */
bool hints_bool(const char *text, bool *value);

/* A number of bytes that is a power of two (mpi_minimum_memory_alignment). */
bool hints_alignment(const char *text, uint64_t *bytes);

/* The next word of a list with commas, without the blanks around it; false at the end. *list is
 * moved behind it. A word is cut to the buffer, which shall be longer than any word that is
 * understood. */
bool hints_next_word(const char **list, char *word, size_t len);

/* All hints that must be the same on all processes, in one word. */
uint64_t hints_word(const struct win_hints *h);
void hint_show_word(int i, uint64_t word, char *buf, size_t len);

/* Do the two words differ in hint i? Then *all gets what serves both. */
bool hint_join(int i, uint64_t *all, uint64_t other);

/* Take what the word has; mpi_accumulate_granularity, which is not used, stays as it is. */
void hints_take(struct win_hints *h, uint64_t word);

#endif
