/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.c - values of info keys as text (text.h). No state, no locks.
 */
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool text_next_word(const char **list, char *word, size_t len)
{
    const char *at = *list, *end;
    size_t n;

    if (at == NULL)
        return false;
    end = strchr(at, ',');
    *list = end != NULL ? end + 1 : NULL;
    if (end == NULL)
        end = at + strlen(at);
    while (at < end && *at == ' ')
        at++;
    while (end > at && end[-1] == ' ')
        end--;
    n = (size_t)(end - at) < len - 1 ? (size_t)(end - at) : len - 1;
    memcpy(word, at, n);
    word[n] = '\0';
    return true;
}

bool text_bits(const struct text_bit *words, const char *text, uint32_t *bits)
{
    const bool has_none = words->bit == 0;
    char word[16];
    uint32_t found = 0;

    for (bool none = has_none && strcasecmp(text, words->word) == 0;
         !none && text_next_word(&text, word, sizeof word);) {
        const struct text_bit *known = words + has_none;
        while (known->word != NULL && strcasecmp(known->word, word) != 0)
            known++;
        if (known->word == NULL)
            return false;
        found |= known->bit;
    }
    *bits = found;
    return true;
}

void text_show_bits(const struct text_bit *words, uint32_t bits, char *buf, size_t len)
{
    size_t at = 0;

    if (!bits && !words->bit)
        at = (size_t)snprintf(buf, len, "%s", words->word);
    for (buf[at] = '\0'; words->word != NULL; words++) {
        if (bits & words->bit && at < len)
            at += (size_t)snprintf(buf + at, len - at, "%s%s", at > 0 ? "," : "", words->word);
        bits &= ~words->bit;
    }
}

bool text_bool(const char *text, bool *value)
{
    if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
        return false;
    *value = strcasecmp(text, "true") == 0;
    return true;
}

bool text_number(const char *text, uint64_t *value)
{
    uint64_t sum = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || sum > UINT64_MAX / 10 - 1)
            return false;
        sum = sum * 10 + (uint64_t)(*text - '0');
    }
    *value = sum;
    return true;
}

bool text_alignment(const char *text, uint64_t *bytes)
{
    uint64_t value;

    if (!text_number(text, &value) || value == 0 || (value & (value - 1)) != 0)
        return false;
    *bytes = value;
    return true;
}

void text_show_unmarked(const bool *marked, int n, char *buf, size_t len)
{
    size_t used = 0;

    *buf = '\0';
    for (int first = 0; first < n; first++) {
        int last = first, more;

        if (marked[first])
            continue;
        while (last + 1 < n && !marked[last + 1])
            last++;
        more = last == first
                   ? snprintf(buf + used, len - used, "%s%d", used > 0 ? " " : "", first)
                   : snprintf(buf + used, len - used, "%s%d-%d", used > 0 ? " " : "", first, last);
        if ((size_t)more >= len - used) {
            snprintf(buf + (used < len - 4 ? used : len - 4), 4, "...");
            return;
        }
        used += (size_t)more;
        first = last;
    }
}
