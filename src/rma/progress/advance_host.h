/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advance_host.h - progress of the host's messages by threads that are in calls of this library.
 *
 * A process that is blocked in a call, or repeats one that does not wait, must let its pending
 * sends, receives, collectives and whatever else the host has begun move on (MPI 4.1, 2.9): who is
 * waited for may be waiting for just that. No thread of the host does it on its own, so the
 * application's threads enter the host's progress (env.h) from the library's waits:
 *
 *   short waits    one entry in a pause, by a count of rounds and then by the clock
 *   yielding       the same, with a shorter pause
 *   sleeping       one entry after each part of the sleep; the parts grow up to a limit
 *   calls in loops one entry now and then, when peers are looked after (rma_look_around)
 *
 * Nobody can know that the host has nothing to do, and hosts have nothing that wakes a sleeper, so
 * a sleep never lasts longer than the limit.
 *
 * How often, of all threads together: after an entry in which the host seems to have moved
 * something the next one comes when a quarter of the time has passed that it took, and not later
 * than the shorter pause; a sleeper sleeps as at its beginning then. So what waits has a fifth of
 * its thread's time, however long the host is busy, and of an entry in which nothing moves there
 * is one in a pause at most.
 *
 * Who may enter: the application's threads, in a call of this library. Each has called MPI, so the
 * thread level allows it to enter. The agent is the one thread of the library that waits, and is
 * refused; so is a thread that is in the host's progress already, which has come here from a
 * call-back or a poll of this library.
 */
#ifndef MRMA_RMA_PROGRESS_ADVANCE_HOST_H
#define MRMA_RMA_PROGRESS_ADVANCE_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct rma;

/* rma_advance_host enters the host's progress, unless some thread did so a pause ago at most or is
 * there now, or the caller is the agent; now is the time. Without the engine's lock or any other
 * one of the library. Waits for nobody, but for locks of the host. */
void rma_advance_host(struct rma *r, uint64_t now);

/* rma_advance_host_often is rma_advance_host with the shorter pause of a wait that is long already.
 */
void rma_advance_host_often(struct rma *r, uint64_t now);

/* rma_count_wait counts a wait that has ended after so many rounds, and calls rma_advance_host
 * where the waits since the last such call have had many. */
void rma_count_wait(struct rma *r, unsigned rounds);

/* Rounds of a wait between two looks at the clock for rma_advance_host. */
enum { RMA_ROUNDS_PER_HOST = 1024 };

/* rma_is_in_host returns whether the calling thread is in rma_advance_host: what is called
 * then is a poll of this library from within the host's progress, and the thread makes progress
 * here anyway. */
bool rma_is_in_host(const struct rma *r);

/* rma_sleep_beside_host sleeps on ev (sys/futex_event.h), whose ticket the caller has, for ns
 * nanoseconds at most, and meanwhile enters the host's progress. With n descriptors fds it blocks
 * on these and on the doorbell of the process's own event, which is ev then. Returns whether a
 * descriptor was readable. */
bool rma_sleep_beside_host(struct rma *r, struct event *ev, uint32_t ticket, const int *fds,
                           unsigned n, uint64_t ns);

#endif
