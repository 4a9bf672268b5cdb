/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.c - format a line on the stack, write it once.
 *
 * A line is at most LOG_LINE bytes, newline included; a longer one is cut and ends with "...".
 * Control characters inside a message (a value from the environment, a peer's text) become spaces,
 * so that one message stays one line. Nothing is allocated, no lock is taken and errno is kept,
 * hence any thread may log at any point. A descriptor below 0, or no log at all, drops everything.
 * Neighbour: err.h, which has the codes that log_fail passes on.
 */
#include "base/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

#define LOG_LINE 1024

static const char *const level_names[] = {
    [LOG_LEVEL_ERROR] = "error", [LOG_LEVEL_WARN] = "warning", [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug", [LOG_LEVEL_TRACE] = "trace",
};

void log_init(struct log *log, enum log_level level, int fd, const char *prefix)
{
    log->level = level;
    log->fd = fd;
    log->hold = NULL;
    snprintf(log->prefix, sizeof log->prefix, "%s", prefix);
}

/* One write for the whole line; the loop only serves signals and full pipes. */
static void write_line(int fd, const char *line, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, line, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        line += n;
        len -= (size_t)n;
    }
}

/* fitted returns how many characters snprintf has put into room bytes; wanted is what it
 * returned. */
static size_t fitted(int wanted, size_t room)
{
    if (wanted < 0)
        return 0;
    return (size_t)wanted < room ? (size_t)wanted : room - 1;
}

static void write_va(const struct log *log, enum log_level level, const char *fmt, va_list args)
{
    int saved = errno;
    char line[LOG_LINE];
    size_t room = sizeof line - 1; /* the newline takes the last byte */
    size_t len = fitted(snprintf(line, room, "%s: %s: ", log->prefix, level_names[level]), room);
    int wanted = vsnprintf(line + len, room - len, fmt, args);
    bool cut = wanted > 0 && (size_t)wanted >= room - len;

    len += fitted(wanted, room - len);
    if (cut)
        memcpy(line + len - 3, "...", 3);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = ' ';
    line[len++] = '\n';
    write_line(log->fd, line, len);
    errno = saved;
}

static bool log_enabled(const struct log *log, enum log_level level)
{
    return log != NULL && log->fd >= 0 && level <= log->level;
}

void log_msg_va(const struct log *log, enum log_level level, const char *fmt, va_list args)
{
    if (log_enabled(log, level))
        write_va(log, level, fmt, args);
}

void log_msg(const struct log *log, enum log_level level, const char *fmt, ...)
{
    va_list args;

    if (!log_enabled(log, level))
        return;
    va_start(args, fmt);
    write_va(log, level, fmt, args);
    va_end(args);
}

int log_fail(const struct log *log, int err, const char *fmt, ...)
{
    const int saved = errno;
    char text[LOG_LINE];
    size_t len;
    va_list args;

    if (!log_enabled(log, LOG_LEVEL_ERROR))
        return err;
    len = fitted(snprintf(text, sizeof text, "%s: ", mrma_err_name(err)), sizeof text);
    va_start(args, fmt);
    vsnprintf(text + len, sizeof text - len, fmt, args);
    va_end(args);
    const bool held = log->hold != NULL && log->hold(0, text);
    if (!held || log->level >= LOG_LEVEL_INFO)
        log_msg(log, LOG_LEVEL_ERROR, "%s", text);
    errno = saved;
    return err;
}
