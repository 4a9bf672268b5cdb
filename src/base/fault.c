/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault.c - see fault.h. No state, no locks.
 */
#include "base/fault.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct fault_row rows[] = {[FAULT_NONE] = {"NONE", MRMA_SUCCESS, "", "", "", ""},
#define FAULT_ROW(name, err, argument, sentence, section, advice) \
    [FAULT_##name] = {#name, MRMA_ERR_##err, argument, sentence, section, advice},
                                        FAULT_TABLE(FAULT_ROW)
#undef FAULT_ROW
};
static_assert(sizeof rows / sizeof rows[0] == FAULT_LAST, "one row a fault");

const struct fault_row *fault_row(enum fault fault)
{
    return &rows[fault < FAULT_LAST ? fault : FAULT_NONE];
}

void fault_brief(enum fault fault, char *text, size_t len)
{
    const struct fault_row *row = fault_row(fault);
    const int name = (int)strcspn(row->argument, " :");
    const bool plain = strchr(row->sentence, '%') == NULL;

    snprintf(text, len, "%.*s%s%s", name, row->argument, name > 0 && plain ? ": " : "",
             plain ? row->sentence : "");
}

int fault_raise(const struct log *log, enum fault fault, const char *fmt, ...)
{
    const struct fault_row *row = fault_row(fault);
    const int saved = errno;
    char text[LOG_HELD];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (log != NULL && (log->hold == NULL || !log->hold((int)fault, text)))
        log_msg(log, LOG_LEVEL_ERROR, "%s: %s", mrma_err_name(row->err), text);
    errno = saved;
    return row->err;
}
