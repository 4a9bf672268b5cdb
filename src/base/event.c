/*
 * event.c - the system calls of event.h.
 *
 * Futexes here are shared between processes (no FUTEX_PRIVATE_FLAG). Errors of
 * the wait (EAGAIN, EINTR, ETIMEDOUT) all mean: look at the condition again.
 */
#include "base/event.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void event_wake(struct event *ev)
{
    atomic_fetch_add_explicit(&ev->seq, 1, memory_order_release);
    syscall(SYS_futex, &ev->seq, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void event_sleep(struct event *ev, uint32_t ticket, uint64_t timeout_ns)
{
    struct timespec ts = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, &ev->seq, FUTEX_WAIT, ticket, timeout_ns ? &ts : NULL, NULL, 0);
}
