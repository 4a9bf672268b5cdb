/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json.c - texts as strings of JSON (json.h). No state, no locks.
 */
#include "json.h"

/* How many bytes the character takes that begins here; 0: it is no UTF-8. */
static size_t utf8_length(const unsigned char *c)
{
    static const struct {
        unsigned char first, last; /* of its first byte */
        unsigned char low,
            high; /* of its second: neither a longer form than needed, nor a surrogate */
        size_t length;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = 1;

        if (c[0] < forms[i].first || c[0] > forms[i].last)
            continue;
        if (forms[i].length > 1 && (c[1] < forms[i].low || c[1] > forms[i].high))
            return 0;
        while (n < forms[i].length && (n == 1 || (c[n] & 0xc0) == 0x80))
            n++;
        return n == forms[i].length ? n : 0;
    }
    return 0;
}

void json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        const size_t length = utf8_length(c);

        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (length == 0 || *c < ' ' || *c == 0x7f || *c == '<')
            fprintf(out, "\\u%04x", *c);
        else
            fwrite(c, 1, length, out);
        c += length ? length : 1;
    }
    fputc('"', out);
}
