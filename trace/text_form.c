/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text_form.c - see text_form.h.
 */
#include "text_form.h"

#include <inttypes.h>
#include <string.h>

#include "util.h"

enum { WIDTH = 96 };

struct short_text text_duration(uint64_t ns)
{
    struct short_text out;

    if (ns < 1000)
        snprintf(out.text, sizeof out.text, "%" PRIu64 " ns", ns);
    else if (ns < 1000000)
        snprintf(out.text, sizeof out.text, "%.2f us", (double)ns / 1e3);
    else if (ns < NS_PER_S)
        snprintf(out.text, sizeof out.text, "%.3f ms", (double)ns / 1e6);
    else
        snprintf(out.text, sizeof out.text, "%.3f s", (double)ns / 1e9);
    return out;
}

struct short_text text_bytes(uint64_t n)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    struct short_text out;
    double value = (double)n;
    unsigned i = 0;

    while (value >= 1024 && i < 4) {
        value /= 1024;
        i++;
    }
    snprintf(out.text, sizeof out.text, i ? "%.1f %s" : "%.0f %s", value, unit[i]);
    return out;
}

void text_heading(FILE *out, const char *title)
{
    fprintf(out, "\n%s\n", title);
    for (size_t i = strlen(title); i > 0; i--)
        fputc('-', out);
    fputc('\n', out);
}

void text_wrapped(FILE *out, const char *sentence, int indent)
{
    int column = indent;

    fprintf(out, "%*s", indent, "");
    while (*sentence) {
        size_t word = strcspn(sentence, " ");

        if (column > indent && column + (int)word + 1 > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(sentence, 1, word, out);
        column += (int)word;
        sentence += word + (sentence[word] == ' ');
    }
    fputc('\n', out);
}
