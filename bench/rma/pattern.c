/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern.c - see pattern.h. Words of eight bytes that depend on their number and on the seed; what
 * is left behind the last whole word is the beginning of the next one.
 */
#include "bench/rma/pattern.h"

#include <stdint.h>
#include <string.h>

static uint64_t word_at(size_t i, unsigned seed)
{
    return (i + 1) * 0x9e3779b97f4a7c15u + seed * 0x2545f4914f6cdd1du;
}

void pattern_fill(void *at, size_t n, unsigned seed)
{
    char *to = at;

    for (size_t i = 0; i * sizeof(uint64_t) < n; i++) {
        const uint64_t word = word_at(i, seed);
        const size_t left = n - i * sizeof(word);

        memcpy(to + i * sizeof(word), &word, left < sizeof(word) ? left : sizeof(word));
    }
}

size_t pattern_check(const void *at, size_t n, unsigned seed)
{
    const unsigned char *from = at;

    for (size_t i = 0; i * sizeof(uint64_t) < n; i++) {
        const uint64_t word = word_at(i, seed);
        const size_t left = n - i * sizeof(word), len = left < sizeof(word) ? left : sizeof(word);

        if (!memcmp(from + i * sizeof(word), &word, len))
            continue;
        unsigned char expected[sizeof(word)];
        size_t wrong = 0;

        memcpy(expected, &word, sizeof(word));
        while (from[i * sizeof(word) + wrong] == expected[wrong])
            wrong++;
        return i * sizeof(word) + wrong;
    }
    return n;
}
