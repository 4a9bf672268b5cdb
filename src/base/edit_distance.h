/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * edit_distance.h - how much an unknown word differs from a known one, for messages that name the
 * nearest known word.
 *
 * The function has no state and may be called by any thread at any time.
 */
#ifndef MRMA_BASE_EDIT_DISTANCE_H
#define MRMA_BASE_EDIT_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>

/* edit_distance returns how many letters must be changed, added or removed to turn the first len
 * letters of word into known. It looks at the first 64 letters of both only. */
size_t edit_distance(const char *word, size_t len, const char *known);

/* nearest_is_near returns whether known is near enough to the first len letters of word to be named
 * in a message: at most half of the letters must change. */
bool nearest_is_near(const char *word, size_t len, const char *known);

#endif
