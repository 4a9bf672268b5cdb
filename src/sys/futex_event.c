/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * futex_event.c - the system calls of futex_event.h.
 *
 * Futexes here are shared between processes (no FUTEX_PRIVATE_FLAG). Errors of the wait (EAGAIN,
 * EINTR, ETIMEDOUT) all mean: look at the condition again. No locks; futex_event.h has the argument
 * about order. Neighbour: doorbell.c.
 */
#define _GNU_SOURCE 1 /* ppoll */
#include "sys/futex_event.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The directory of a process's threads has a link for each thread, besides its own two. */
static bool is_single_threaded(void)
{
    struct stat st;

    return stat("/proc/self/task", &st) == 0 && st.st_nlink == 3;
}

bool event_membarrier_register(void)
{
    return is_single_threaded() &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool event_membarrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

uint32_t event_enter(struct event *ev)
{
    atomic_fetch_add_explicit(&ev->sleepers, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&ev->membarrier, memory_order_relaxed))
        event_membarrier();
    atomic_thread_fence(memory_order_seq_cst); /* pairs with event_notify */
    return atomic_load_explicit(&ev->seq, memory_order_acquire);
}

void event_wake(struct event *ev, int doorbell_fd)
{
    atomic_fetch_add_explicit(&ev->seq, 1, memory_order_release);
    /* for callers that have not looked whether there are sleepers */
    atomic_thread_fence(memory_order_seq_cst);
    syscall(SYS_futex, &ev->seq, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    if (likely(!atomic_load_explicit(&ev->polled, memory_order_acquire)))
        return;
    if (!atomic_exchange_explicit(&ev->rung, 1, memory_order_acq_rel) &&
        !doorbell_ring(ev->bell, doorbell_fd))
        atomic_store_explicit(&ev->rung, 0, memory_order_relaxed); /* the next one rings again */
}

void event_sleep(struct event *ev, uint32_t ticket, uint64_t timeout_ns)
{
    struct timespec ts = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, &ev->seq, FUTEX_WAIT, ticket, timeout_ns ? &ts : NULL, NULL, 0);
}

uint32_t event_enter_polled(struct event *ev)
{
    atomic_store_explicit(&ev->polled, 1,
                          memory_order_seq_cst); /* before sleepers: see futex_event.h */
    return event_enter(ev);
}

bool event_poll(const struct doorbell *bell, const int *fds, unsigned n, uint64_t timeout_ns)
{
    enum { MOST = 8 };
    struct timespec ts = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    struct pollfd set[1 + MOST] = {{.fd = bell->fd, .events = POLLIN}};
    for (unsigned i = 0; i < n && i < MOST; i++)
        set[1 + i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    const int ready = ppoll(set, 1 + (n < MOST ? n : MOST), timeout_ns ? &ts : NULL, NULL);
    const bool rung = ready > 0 && set[0].revents;
    if (rung)
        doorbell_empty(bell);
    return ready > rung;
}

void event_leave_polled(struct event *ev)
{
    atomic_exchange_explicit(&ev->rung, 0, memory_order_acq_rel); /* H of futex_event.h */
    atomic_store_explicit(&ev->polled, 0, memory_order_relaxed);
    event_leave(ev);
}
