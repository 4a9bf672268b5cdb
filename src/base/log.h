/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h - one-line messages to a descriptor.
 *
 * Two kinds of trouble are told apart. log_msg writes at once: it is for trouble that no call
 * returns. log_fail gives the cause of an error that is on its way to the caller of MPI. The caller
 * may have expected that error, so the entry points hold such texts back until they know
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
    /* hold is called with each text of log_fail and of fault.h. It returns true if it has kept the
     * text, and false if the text is to be written; from level info on every text is written in any
     * case. fault is an enum fault, or FAULT_NONE (0) for texts of log_fail. NULL: all texts are
     * written. */
    bool (*hold)(int fault, const char *text);
};

/* Size of a text that is held, with its terminating zero. */
enum { LOG_HELD = 512 };

/* log_init sets up *log without a hold: messages up to level go to the descriptor fd, which stays
 * the caller's. prefix is copied and cut to fit. */
void log_init(struct log *log, enum log_level level, int fd, const char *prefix);

/* log_msg writes one line, to which it adds the newline, if level is enabled. log may be NULL:
 * nothing is written. errno is kept. */
void log_msg(const struct log *log, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* log_msg_va is log_msg with its arguments in a va_list. */
void log_msg_va(const struct log *log, enum log_level level, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

/* log_fail puts the name of err in front of the line, and either holds the line back (log->hold) or
 * writes it at LOG_LEVEL_ERROR. It returns err, so that the function that detects an error can say
 * `return log_fail(log, MRMA_ERR_X, "...")`. It is for errors that a call of MPI returns, and for
 * any trouble in a thread that is in no call of MPI. log may be NULL. errno is kept. */
int log_fail(const struct log *log, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
