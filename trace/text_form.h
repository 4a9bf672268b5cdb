/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text_form.h - the form of the report for a terminal: numbers with units, headings, sentences.
 */
#ifndef MRMA_TRACE_TEXT_FORM_H
#define MRMA_TRACE_TEXT_FORM_H

#include <stdint.h>
#include <stdio.h>

/* A short text by value: as an argument, text_duration(ns).text lives up to the end of the
 * statement, however many of them that has. */
struct short_text {
    char text[32];
};

/* text_duration returns nanoseconds with their unit, 1234567 as "1.235 ms", and text_bytes bytes
 * with theirs. */
struct short_text text_duration(uint64_t ns);
struct short_text text_bytes(uint64_t n);

/* text_heading writes a title with a line below, text_wrapped the words of a sentence, broken into
 * lines that are indented. */
void text_heading(FILE *out, const char *title);
void text_wrapped(FILE *out, const char *sentence, int indent);

#endif
