/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * edit_distance.c - how much a word differs from a known one (edit_distance.h).
 *
 * It computes the table of distances between all beginnings of the two words, and keeps one row at
 * a time. No state, no locks.
 */
#include "base/edit_distance.h"

#include <string.h>

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t edit_distance(const char *word, size_t len, const char *known)
{
    const size_t n = least(len, LONGEST), m = least(strlen(known), LONGEST);
    size_t row[LONGEST + 1];

    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = diagonal + (word[i - 1] != known[j - 1]);

            diagonal = row[j];
            row[j] = least(change, 1 + least(row[j], row[j - 1]));
        }
    }
    return row[m];
}

bool nearest_is_near(const char *word, size_t len, const char *known)
{
    return edit_distance(word, len, known) * 2 <= least(len, LONGEST);
}
