/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.h - waiting for something that another process will do.
 *
 * Polls the condition and the engine's progress: spins while there are processors
 * for all, yields where there are not (a yield between processes that run costs a
 * fraction of a futex wake-up), and sleeps on an event when that has taken long.
 * A sleeping wait looks up now and then: whether a peer of the window has died
 * (MRMA_ERR_PROC_FAILED), and whether MPIRMA_HANG_REPORT wants a report. All of these, and the
 * calls that do not wait themselves, let the host move on what it has to do (advance_host.h).
 */
#ifndef MRMA_RMA_PROGRESS_WAIT_H
#define MRMA_RMA_PROGRESS_WAIT_H

#include <stdbool.h>

struct rma;
struct rma_target;
struct win;
struct event;

struct rma_wait {
    bool (*done)(void *arg); /* the condition, or what is tried until it succeeds (try_...); it is
                                evaluated again and again, and once true it must stay true */
    void *arg;
    bool locked;         /* evaluate done under the engine's lock (packet state) */
    bool poll_only;      /* whoever makes it true does not wake: short sleeps */
    struct event *event; /* where to sleep; NULL: this process's own */
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

/* rma_wait_until waits until wait->done says that the condition is true, for a call of this process
 * on w, and makes progress meanwhile. Returns MRMA_SUCCESS then. MRMA_ERR_PROC_FAILED, with a
 * message, if it is not true and will hardly become so: a process of w that this one has to do with
 * is lost, or another one says that some process of w is, or one has called MPI_Finalize before it
 * did what is awaited of it. */
int rma_wait_until(struct win *w, const struct rma_wait *wait);

/* rma_lost logs that the connection to t is lost, naming it, and returns MRMA_ERR_PROC_FAILED. With
 * or without the engine's lock. */
int rma_lost(const struct win *w, const struct rma_target *t);

/* rma_died logs that the process of t has died, naming it, and returns MRMA_ERR_PROC_FAILED. With
 * or without the engine's lock. */
int rma_died(const struct win *w, const struct rma_target *t);

/* rma_between_tests is for calls that do not wait, which programs call in a loop (MPI_Test,
 * MPI_Win_test). On an oversubscribed node it gives the processor away now and then; and twice a
 * second it looks whether a peer of w has died, or, if w is NULL, one of any window with something
 * outstanding: then it returns MRMA_ERR_PROC_FAILED, and for w NULL the requests in that window
 * have ended. Now and then it enters the host's progress. Without any lock of the library. */
int rma_between_tests(struct rma *r, struct win *w);

/* rma_look_around is for calls in a loop that look at memory and do not wait (win_count_call): it
 * looks, twice a second at most, whether peers of w have died. What concerns these fails from then
 * on (lost.h). And it enters the host's progress. Without any lock of the library. */
void rma_look_around(struct win *w);

/* rma_check_waiting looks, twice a second at most and only while packets of others wait for a lock
 * of this process, whether the process that holds it has died; those who wait may not know that
 * process. For the agent, and for long waits in another window. Without the engine's lock. */
void rma_check_waiting(struct rma *r);

/* RMA_SPIN_UNTIL is the first part of a wait whose length is a cache line's way between two
 * processors: the condition is evaluated in place, RMA_SPINS_INLINE times at most, without a call
 * between the peer's store and the next step. Not at all where packets must be polled or processors
 * are few. rma_wait_until must follow if it was not enough. */
enum { RMA_SPINS_INLINE = 512 };
#define RMA_SPIN_UNTIL(rma, condition)                                                        \
    do {                                                                                      \
        const bool spin_ =                                                                    \
            atomic_load_explicit(&(rma)->progress.spin_inline, memory_order_relaxed);         \
        for (int spins_ = spin_ ? RMA_SPINS_INLINE : 0; spins_ > 0 && !(condition); spins_--) \
            ;                                                                                 \
    } while (0)

#endif
