/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.h - values of info keys as text: booleans, numbers, lists of words. A value that is none of
 * the kind asked for gives false, and nothing is written then. And ranks for messages. No state, no
 * locks.
 */
#ifndef MRMA_BASE_TEXT_H
#define MRMA_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table of the words of a list ends with a NULL word. */
struct text_bit {
    const char *word;
    uint32_t bit; /* 0, of the first one: stands alone, for no bit at all */
};

/* true or false, in any case of the letters. */
bool text_bool(const char *text, bool *value);

/* Digits only. */
bool text_number(const char *text, uint64_t *value);

/* A number of bytes that is a power of two. */
bool text_alignment(const char *text, uint64_t *bytes);

/* The next word of a list with commas, without the blanks around it; false at the end. *list is
 * moved behind it. A word is cut to the buffer, which shall be longer than any word that is
 * understood. */
bool text_next_word(const char **list, char *word, size_t len);

/* A list of words of the table, in any case of the letters, as bits. */
bool text_bits(const struct text_bit *words, const char *text, uint32_t *bits);

/* The bits as a list, its words in the order of the table, each bit once. */
void text_show_bits(const struct text_bit *words, uint32_t bits, char *buf, size_t len);

/* The indices that are not marked, of n: "1 5-7". What finds no room is left out, which "..." at
 * the end tells. */
void text_show_unmarked(const bool *marked, int n, char *buf, size_t len);

#endif
