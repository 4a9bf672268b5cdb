/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h - one-line messages to a descriptor.
 *
 * Two kinds of trouble are told apart. log_msg writes at once: it is for what no call returns. What
 * log_fail says is the cause of an error that is on its way to the caller of MPI, who may have
 * expected it; the entry points therefore hold such texts back until they know
 * (mpi/process/errhan.h).
 *
 * A struct log is a value owned by the engine (or a tool); there is no global
 * one. A message is formatted on the stack and written with a single write(2),
 * so lines of several processes do not mix and the agent thread may log too.
 */
#ifndef MRMA_BASE_LOG_H
#define MRMA_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARN,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_TRACE
};

struct log {
    enum log_level level; /* messages above this level are dropped */
    int fd;               /* where lines go, normally 2; not owned */
    char prefix[64];      /* e.g. "libmpi-rma[3]"; printed before each line */
    /* Asked with each text of log_fail below level info: true if it has kept the text, false to
     * have it written. NULL: all are written. */
    bool (*hold)(const char *text);
};

/* Set up *log. prefix is copied and cut to fit. */
void log_init(struct log *log, enum log_level level, int fd, const char *prefix);

/* Write one line if level is enabled; a newline is appended. */
void log_msg(const struct log *log, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void log_msg_va(const struct log *log, enum log_level level, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

/* The line, behind the name of err, is held or written at LOG_LEVEL_ERROR; returns err, so that the
 * first to detect an error can say `return log_fail(log, MRMA_ERR_X, "...")`. For errors that the
 * call returns; in a thread without one, for trouble. */
int log_fail(const struct log *log, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
