/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.h - waiting for something that another process will do.
 *
 * Polls the condition and the engine's progress: spins while there are processors
 * for all, yields where there are not (a yield between processes that run costs a
 * fraction of a futex wake-up), and sleeps on an event when that has taken long.
 * A sleeping wait looks up now and then: whether a peer of the window has died
 * (MRMA_ERR_PROC_FAILED), and whether MPIRMA_HANG_REPORT wants a report.
 * Called without the engine's lock.
 */
#ifndef MRMA_RMA_PROGRESS_WAIT_H
#define MRMA_RMA_PROGRESS_WAIT_H

#include <stdbool.h>

struct rma;
struct rma_target;
struct win;
struct event;

struct rma_wait {
    bool (*done)(void *arg); /* the condition, or what is tried until it is done (try_...); once
                                true it must stay true for the waiter */
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
        RMA_WAIT_BARRIER
    } phase; /* for reports */
};

/* Wait until done. MRMA_ERR_PROC_FAILED: a process of w that this one has to do with is lost, or
 * another one says that some process of w is, or one has ended before it did what is awaited of it;
 * and it is not done. */
int rma_wait_until(struct win *w, const struct rma_wait *wait);

/* MRMA_ERR_PROC_FAILED, with a message that names the target: its connection is lost, or its
 * process has died. */
int rma_lost(const struct win *w, const struct rma_target *t);
int rma_died(const struct win *w, const struct rma_target *t);

/* For calls that do not wait, which programs call in a loop (MPI_Test, MPI_Win_test): on an
 * oversubscribed node give the processor away now and then; has a peer of w (NULL: of a window with
 * something outstanding) died? Then MRMA_ERR_PROC_FAILED, and the requests to it have ended. */
int rma_between_tests(struct rma *r, struct win *w);
/* For calls in a loop that look at memory and do not wait (win_count_call): twice a second, have
 * peers of w died? Whatever concerns them fails then (lost.h). */
void rma_look_around(struct win *w);
/* For the agent and for long waits in another window, twice a second while others wait for a lock
 * of this process: has the one that holds it died? Who waits may not know it. */
void rma_check_waiting(struct rma *r);

/* The first part of a wait, for those whose length is a cache line's way between
 * two processors: done in place as often as this says, without a call between the
 * peer's store and the next step. rma_wait_until must follow if it was not enough. */
enum { RMA_SPINS_INLINE = 512 };
#define RMA_SPIN_UNTIL(rma, condition)                                                        \
    do {                                                                                      \
        const bool spin_ =                                                                    \
            atomic_load_explicit(&(rma)->progress.spin_inline, memory_order_relaxed);         \
        for (int spins_ = spin_ ? RMA_SPINS_INLINE : 0; spins_ > 0 && !(condition); spins_--) \
            ;                                                                                 \
    } while (0)

#endif
