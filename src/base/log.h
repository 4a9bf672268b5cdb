/*
 * log.h - one-line messages to a descriptor.
 *
 * A struct log is a value owned by the engine (or a tool); there is no global
 * one. A message is formatted on the stack and written with a single write(2),
 * so lines of several processes do not mix and the agent thread may log too.
 */
#ifndef MRMA_BASE_LOG_H
#define MRMA_BASE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVEL_TRACE };

struct log {
    enum log_level level; /* messages above this level are dropped */
    int fd;               /* where lines go, normally 2; not owned */
    char prefix[64];      /* e.g. "libmpi-rma[3]"; printed before each line */
};

/* Set up *log. prefix is copied and cut to fit. */
void log_init(struct log *log, enum log_level level, int fd, const char *prefix);

/* Write one line if level is enabled; a newline is appended. */
void log_msg(const struct log *log, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Write the line at LOG_LEVEL_ERROR and return err, so that the first to
 * detect an error can say `return log_fail(log, MRMA_ERR_X, "...")`. */
int log_fail(const struct log *log, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
