/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.h - waiting for something that another process will do.
 *
 * A wait polls its condition and the engine's progress: it spins while there are processors for
 * all, yields where there are not (a yield between processes that run costs a fraction of a futex
 * wake-up), and sleeps on an event when this has taken long. A wait that sleeps wakes up now and
 * then, and looks whether a peer of the window has died (MRMA_ERR_PROC_FAILED), and whether
 * MPIRMA_HANG_REPORT wants a report. All waits, and the calls that do not wait themselves, let the
 * host make progress (advance_host.h).
 */
#ifndef MRMA_RMA_PROGRESS_WAIT_H
#define MRMA_RMA_PROGRESS_WAIT_H

#include <stdbool.h>

#include "rma/progress/progress.h"

struct rma;
struct rma_target;
struct win;
struct event;

struct rma_wait {
    bool (*done)(void *arg); /* the condition, or an attempt that is repeated until it succeeds
                                (try_...); it is evaluated again and again, and must stay true once
                                it is true */
    void *arg;
    bool locked;         /* done is evaluated under the engine's lock (it reads packet state) */
    bool poll_only;      /* nobody wakes this thread when the condition becomes true, so its sleeps
                            are short */
    struct event *event; /* event to sleep on; NULL: this process's own */
    const char *what;    /* for reports: "MPI_Win_post of the target" */
    int rank;            /* whom for, -1: several */
    enum {
        RMA_WAIT_OTHER,
        RMA_WAIT_FENCE,
        RMA_WAIT_FREE,
        RMA_WAIT_BARRIER,
        RMA_WAIT_NOTIFIED
    } phase; /* for reports */
};

/* rma_wait_until waits, in a call of this process on w, until wait->done says that the condition is
 * true, and makes progress meanwhile. It then returns MRMA_SUCCESS. It returns
 * MRMA_ERR_PROC_FAILED, with a message, if the condition is not true and will hardly become so: a
 * process of w with which this one has to do is lost, another process tells that some process of w
 * is lost, or a process has called MPI_Finalize before it did what this one awaits. */
int rma_wait_until(struct win *w, const struct rma_wait *wait);

/* rma_lost logs that the connection to t is lost, naming it, and returns MRMA_ERR_PROC_FAILED. With
 * or without the engine's lock. */
int rma_lost(const struct win *w, const struct rma_target *t);

/* rma_died logs that the process of t has died, naming it, and returns MRMA_ERR_PROC_FAILED. With
 * or without the engine's lock. */
int rma_died(const struct win *w, const struct rma_target *t);

/* rma_between_tests is for calls that do not wait, which programs call in a loop (MPI_Test,
 * MPI_Win_test). On an oversubscribed node it gives the processor away now and then. Twice a second
 * it looks whether a peer of w has died or, if w is NULL, a peer of any window with something
 * outstanding. If one has died it returns MRMA_ERR_PROC_FAILED; if w is NULL the requests in that
 * window have ended then. Now and then it enters the host's progress. Without any lock of the
 * library. */
int rma_between_tests(struct rma *r, struct win *w);

/* rma_look_around is for calls in a loop that look at memory and do not wait (win_count_call): it
 * looks, twice a second at most, whether peers of w have died. Operations on these, and
 * synchronization with them, fail from then on (lost.h). It also enters the host's progress.
 * Without any lock of the library. */
void rma_look_around(struct win *w);

/* rma_check_waiting looks, twice a second at most and only while packets of others wait for a lock
 * of this process, whether the process that holds it has died; those who wait may not know that
 * process. It is for the agent, and for long waits in another window. Without the engine's lock. */
void rma_check_waiting(struct rma *r);

/* RMA_SPIN_UNTIL is the first part of a wait that is expected to be as short as the way of a cache
 * line between two processors: the condition is evaluated in place, at most RMA_SPINS_INLINE times,
 * without a call between the peer's store and the next step. Where packets must be polled or
 * processors are few it is not evaluated at all. The thread counts as one that waits
 * (rma_help_begin), though it takes part in copies only in rma_wait_until. rma_wait_until must
 * follow if the condition is not true then. */
enum { RMA_SPINS_INLINE = 512 };
#define RMA_SPIN_UNTIL(rma, condition)                                                  \
    do {                                                                                \
        if (atomic_load_explicit(&(rma)->progress.spin_inline, memory_order_relaxed)) { \
            struct joint_board *const board_ = rma_help_begin(rma);                     \
            for (int spins_ = RMA_SPINS_INLINE; spins_ > 0 && !(condition); spins_--)   \
                ;                                                                       \
            rma_help_end(rma, board_);                                                  \
        }                                                                               \
    } while (0)

#endif
