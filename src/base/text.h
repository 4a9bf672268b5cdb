/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.h - values of info keys as text: booleans, numbers, lists of words. The readers return false
 * for a value that is not of the kind asked for, and write nothing then. The file also writes lists
 * of ranks for messages. No state, no locks.
 */
#ifndef MRMA_BASE_TEXT_H
#define MRMA_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table of the words of a list ends with a NULL word. */
struct text_bit {
    const char *word;
    uint32_t bit; /* 0, only in the first entry: the word stands alone, and means no bit */
};

/* text_bool reads "true" or "false", in any case of the letters. */
bool text_bool(const char *text, bool *value);

/* text_number reads a number of decimal digits, with nothing before or behind them. */
bool text_number(const char *text, uint64_t *value);

/* text_alignment reads a number of bytes that is a power of two. */
bool text_alignment(const char *text, uint64_t *bytes);

/* text_next_word copies the next word of a list with commas to word (len bytes), without the blanks
 * around it, and moves *list behind it. Returns false at the end of the list; *list is NULL after
 * the last word. A word that is too long is cut, so the buffer must be longer than any word that is
 * understood. */
bool text_next_word(const char **list, char *word, size_t len);

/* text_bits reads a list of words of the table, in any case of the letters, as the sum of their
 * bits. */
bool text_bits(const struct text_bit *words, const char *text, uint32_t *bits);

/* text_show_bits writes the bits to buf (len bytes) as a list: its words in the order of the table,
 * each bit once. */
void text_show_bits(const struct text_bit *words, uint32_t bits, char *buf, size_t len);

/* text_show_unmarked writes those of the numbers 0 to n - 1 that are not marked to buf (len bytes),
 * as in "1 5-7". Numbers for which there is no room are left out, and "..." stands at the end. */
void text_show_unmarked(const bool *marked, int n, char *buf, size_t len);

#endif
