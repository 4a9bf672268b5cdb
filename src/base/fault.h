/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault.h - what is wrong with a call of MPI, as a row of the one table (fault_table.h).
 *
 * Code that refuses a call names the row and the values that belong to it:
 *
 *     return FAULT(log, COUNT_NEGATIVE, "origin_count", (long long)count);
 *
 * The text is held for the call (log.h), whose entry point adds the function and the window to it
 * (mpi/process/errhan.h). FAULT is not used on a path that succeeds.
 */
#ifndef MRMA_BASE_FAULT_H
#define MRMA_BASE_FAULT_H

#include <stddef.h>

#include "base/err.h"
#include "base/fault_table.h"
#include "base/log.h"

enum fault {
    FAULT_NONE, /* no row: a text of log_fail */
#define FAULT_NAME(name, err, argument, sentence, section, advice) FAULT_##name,
    FAULT_TABLE(FAULT_NAME)
#undef FAULT_NAME
        FAULT_LAST
};

#define FAULT_TEXT(name, err, argument, sentence, section, advice) \
    static const char fault_text_##name[] __attribute__((unused)) = argument sentence;
/* FAULT_TABLE makes here the formats, arrays that the compiler compares with the values. */
FAULT_TABLE(FAULT_TEXT)
#undef FAULT_TEXT

struct fault_row {
    const char *name; /* "COUNT_NEGATIVE" */
    int err;          /* enum mrma_err */
    const char *argument, *sentence, *section, *advice;
};

/* fault_row returns the row of a fault, a constant; for FAULT_NONE a row without any text. */
const struct fault_row *fault_row(enum fault fault);

/* fault_brief writes a fault's argument name and, if its sentence has no values, the sentence, for
 * processes that are told of another process's fault: "size: a size is not negative". For
 * FAULT_NONE it writes "". */
void fault_brief(enum fault fault, char *text, size_t len);

/* fault_raise holds the text back for the call that is refused, or writes it as log_fail does, and
 * returns the row's enum mrma_err. log may be NULL. errno is kept. Callers use FAULT. */
int fault_raise(const struct log *log, enum fault fault, const char *fmt, ...)
    __attribute__((cold, noinline, format(printf, 3, 4)));

/* FAULT(log, ROW, values...) is fault_raise for a row and all its values. */
#define FAULT(log, name, ...) fault_raise(log, FAULT_##name, fault_text_##name, ##__VA_ARGS__)

#endif
