/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * edit_distance.h - how far a word that nobody knows is from one that is known, for messages that
 * name the nearest.
 *
 * The function has no state and may be called by any thread at any time.
 */
#ifndef MRMA_BASE_EDIT_DISTANCE_H
#define MRMA_BASE_EDIT_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>

/* edit_distance returns how many letters have to be changed, added or left out to make known of
 * the first len letters of word. Of both it looks at the first 64 letters only. */
size_t edit_distance(const char *word, size_t len, const char *known);

/* nearest_is_near returns whether known is near enough to the first len letters of word to be told:
 * at most half of them would have to change. */
bool nearest_is_near(const char *word, size_t len, const char *known);

#endif
