/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * util.h - memory, growing arrays, strings and messages of mpi-rma-trace.
 *
 * Running out of memory ends the program with a message. Messages to the user go to standard
 * error; progress is shown only where that is a terminal.
 */
#ifndef MRMA_TRACE_UTIL_H
#define MRMA_TRACE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdint.h>

#define NS_PER_S UINT64_C(1000000000)

static inline uint64_t u64_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t u64_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* a - b, or 0 where b is the greater. */
static inline uint64_t u64_minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* out_of_memory ends the program with a message. */
_Noreturn void out_of_memory(void);

/* Zeroed memory; free() gives it back. */
void *zalloc(size_t count, size_t size);

/* grow makes room in a growing array for one more element, and returns the array. items are *n of
 * *cap. */
void *grow(void *items, size_t n, size_t *cap, size_t size);

/* A formatted string; the caller frees it. */
char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* say writes a line to standard error, with the name of the program. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is under way, rewritten in place, at most a few times a second and only on a terminal.
 * progress_end removes it. */
void progress(const char *what, uint64_t done, uint64_t all);
void progress_end(void);

/* Notes about the trace itself that every report repeats: counted, each text once. */
struct notes {
    struct note {
        char *text;
        uint64_t count;
    } * note;
    size_t n, cap;
};
void notes_add(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void notes_free(struct notes *notes);

/* qsort, which takes no array that is not there, be it empty. */
static inline void sort(void *array, size_t n, size_t size,
                        int (*compare)(const void *a, const void *b))
{
    if (n > 1)
        qsort(array, n, size, compare);
}

#endif
