/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * util.c - see util.h.
 */
#include "util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void out_of_memory(void)
{
    fputs("mpi-rma-trace: out of memory\n", stderr);
    exit(2);
}

void *zalloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);

    if (!memory)
        out_of_memory();
    return memory;
}

void *grow(void *items, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return items;
    *cap = *cap ? 2 * *cap : 8;
    if (*cap > SIZE_MAX / size)
        out_of_memory();
    items = realloc(items, *cap * size);
    if (!items)
        out_of_memory();
    return items;
}

static char *format_text(const char *format, va_list list)
{
    char *result = NULL;

    if (vasprintf(&result, format, list) < 0)
        out_of_memory();
    return result;
}

char *text(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    char *result = format_text(format, list);
    va_end(list);
    return result;
}

void say(const char *format, ...)
{
    va_list list;

    progress_end();
    va_start(list, format);
    fputs("mpi-rma-trace: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

static bool progress_shown;

void progress(const char *what, uint64_t done, uint64_t all)
{
    static uint64_t last;
    struct timespec now;

    if (!isatty(STDERR_FILENO))
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
    if (ns - last < NS_PER_S / 5)
        return;
    last = ns;
    fprintf(stderr, "\r\033[K%s %3.0f %%", what, all ? 100.0 * (double)done / (double)all : 0.0);
    fflush(stderr);
    progress_shown = true;
}

void progress_end(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

void notes_add(struct notes *notes, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    char *line = format_text(format, list);
    va_end(list);
    for (size_t i = 0; i < notes->n; i++)
        if (strcmp(notes->note[i].text, line) == 0) {
            notes->note[i].count++;
            free(line);
            return;
        }
    notes->note = grow(notes->note, notes->n, &notes->cap, sizeof *notes->note);
    notes->note[notes->n++] = (struct note){line, 1};
}

void notes_free(struct notes *notes)
{
    for (size_t i = 0; i < notes->n; i++)
        free(notes->note[i].text);
    free(notes->note);
    *notes = (struct notes){0};
}
