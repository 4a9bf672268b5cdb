/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_items.c - see info_items.h.
 */
#define _GNU_SOURCE 1 /* pipe2 */
#include "info_items.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct item *add(struct report *report, const char *section, const char *key,
                        enum item_kind kind)
{
    if (report->nitems == REPORT_ITEMS) {
        fprintf(stderr, "mpi-rma-info: more than %d items\n", REPORT_ITEMS);
        abort();
    }
    struct item *item = &report->items[report->nitems++];
    *item = (struct item){.section = section, .key = key, .kind = kind};
    return item;
}

void item_note(struct item *item, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(item->note, sizeof item->note, fmt, args);
    va_end(args);
}

struct item *item_number(struct report *report, const char *section, const char *key,
                         enum item_kind kind, uint64_t number)
{
    struct item *item = add(report, section, key, kind);
    item->number = number;
    return item;
}

struct item *item_text(struct report *report, const char *section, const char *key,
                       const char *text)
{
    struct item *item = add(report, section, key, ITEM_TEXT);
    snprintf(item->text, sizeof item->text, "%s", text);
    return item;
}

/* ---- the library's messages as notes ---- */

void catch_begin(struct catcher *c)
{
    c->pipe[0] = c->pipe[1] = -1;
    if (pipe2(c->pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        c->pipe[1] = -1; /* a log without descriptor drops the text, the result stays */
    log_init(&c->log, LOG_LEVEL_ERROR, c->pipe[1], "");
}

/* The text of the first line that was logged, without prefix and level. */
void catch_end(struct catcher *c, char *text, size_t len)
{
    char buf[1024];
    ssize_t n = c->pipe[0] < 0 ? -1 : read(c->pipe[0], buf, sizeof buf - 1);

    buf[n < 0 ? 0 : n] = '\0';
    buf[strcspn(buf, "\n")] = '\0';
    char *start = strstr(buf, ": error ");
    start = start == NULL ? buf : start + strlen(": error ");
    char *colon = strstr(start, ": ");
    snprintf(text, len, "%s", n <= 0 ? "no message" : colon == NULL ? start : colon + 2);
    if (c->pipe[0] >= 0) {
        close(c->pipe[0]);
        close(c->pipe[1]);
    }
}

/* ---- limits ---- */

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void item_limit(struct report *report, const char *section, const char *key, int resource,
                enum item_kind kind, uint64_t *least, const char *note)
{
    struct rlimit lim;

    if (getrlimit(resource, &lim) != 0)
        return;
    bool unlimited = lim.rlim_cur == RLIM_INFINITY;
    struct item *item =
        item_number(report, section, key, unlimited ? ITEM_UNLIMITED : kind, lim.rlim_cur);
    item_note(item, "%s", note);
    if (!unlimited && least != NULL)
        *least = lower(*least, lim.rlim_cur);
}
