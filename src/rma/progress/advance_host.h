/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advance_host.h - progress of the host's messages by threads that are in calls of this library.
 *
 * A process that is blocked in a call, or repeats one that does not wait, must let its pending
 * sends, receives, collectives and other operations of the host move on (MPI 4.1, 2.9): the process
 * for which it waits may be waiting for just these. No thread of the host does this on its own, so
 * the application's threads enter the host's progress (env.h) from the library's waits:
 *
 *   short waits    one entry in a pause, by a count of rounds and then by the clock
 *   yielding       the same, with a shorter pause
 *   sleeping       one entry after each part of the sleep; the parts grow up to a limit
 *   calls in loops one entry now and then, when peers are looked after (rma_look_around)
 *
 * Nobody can know that the host has nothing to do, and hosts have nothing that wakes a sleeper, so
 * a sleep never lasts longer than the limit.
 *
 * How often entries come, of all threads together: after an entry in which the host seems to have
 * moved something, the next one comes when a quarter of that entry's time has passed, and not later
 * than the shorter pause; a sleeper then begins again with short parts. So a wait has a fifth of
 * its thread's time, however long the host is busy; and there is at most one entry in each pause if
 * nothing moves.
 *
 * Threads of the application may enter, in a call of this library: each has called MPI, so the
 * thread level allows it. The agent is refused, the only other thread that waits. A thread that is
 * in the host's progress already, and has come here from a call-back or a poll of this library, is
 * refused, too.
 */
#ifndef MRMA_RMA_PROGRESS_ADVANCE_HOST_H
#define MRMA_RMA_PROGRESS_ADVANCE_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct rma;

/* rma_advance_host enters the host's progress, unless some thread has done so within the last pause
 * or is there now, or the caller is the agent; now is the time. The caller holds neither the
 * engine's lock nor any other lock of the library. It waits for nobody, except for locks of the
 * host. */
void rma_advance_host(struct rma *r, uint64_t now);

/* rma_advance_host_often is rma_advance_host with the shorter pause, for a wait that has lasted
 * long already.
 */
void rma_advance_host_often(struct rma *r, uint64_t now);

/* rma_count_wait counts a wait that has ended after so many rounds, and calls rma_advance_host if
 * the waits since the last such call had many rounds together. */
void rma_count_wait(struct rma *r, unsigned rounds);

/* Rounds of a wait between two looks at the clock for rma_advance_host. */
enum { RMA_ROUNDS_PER_HOST = 1024 };

/* rma_is_in_host returns whether the calling thread is in rma_advance_host: then the caller is a
 * poll of this library from within the host's progress, and the thread makes progress here
 * anyway. */
bool rma_is_in_host(const struct rma *r);

/* rma_sleep_beside_host sleeps on ev (sys/futex_event.h), with the caller's ticket, for at most ns
 * nanoseconds, and meanwhile enters the host's progress. If n is not 0 it blocks on the n
 * descriptors fds and on the doorbell of the process's own event, which ev must be then. Returns
 * whether a descriptor was readable. */
bool rma_sleep_beside_host(struct rma *r, struct event *ev, uint32_t ticket, const int *fds,
                           unsigned n, uint64_t ns);

#endif
