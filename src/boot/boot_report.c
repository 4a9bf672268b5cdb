/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot_report.c - a thread that reports an exchange that takes long (boot_report.h).
 *
 * The mutex guards over, which ends the thread. Neighbours: boot_mpi.c and src/mpi, which call it
 * around calls that may wait.
 */
#include "boot/boot_report.h"

#include <signal.h>
#include <time.h>

#include "base/clock.h"

enum { NS_PER_S = 1000000000 };

static void *look_at_clock(void *arg)
{
    struct boot_report *r = arg;
    const uint64_t began = clock_monotonic_ns(), period = (uint64_t)(r->seconds * NS_PER_S) + 1;
    uint64_t due = began + period;

    pthread_mutex_lock(&r->mutex);
    while (!r->over) {
        const struct timespec until = {.tv_sec = (time_t)(due / NS_PER_S),
                                       .tv_nsec = (long)(due % NS_PER_S)};
        (void)pthread_cond_timedwait(&r->cond, &r->mutex, &until);
        const uint64_t now = clock_monotonic_ns();
        if (r->over || now < due)
            continue;
        log_msg(r->log, LOG_LEVEL_ERROR,
                "rank %d of a communicator of %d waits for %.1f s in %s for other ranks of it to "
                "do their part",
                r->boot->rank, r->boot->nproc, (double)(now - began) / NS_PER_S, r->call);
        due = now + period;
    }
    pthread_mutex_unlock(&r->mutex);
    return NULL;
}

void boot_report_begin(struct boot_report *r, const struct boot *boot)
{
    pthread_condattr_t monotonic;
    sigset_t all, before;

    if (r->seconds <= 0)
        return;
    r->boot = boot;
    r->over = false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all); /* the application's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r->runs = pthread_create(&r->thread, NULL, look_at_clock, r) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!r->runs)
        log_msg(r->log, LOG_LEVEL_WARN,
                "%s: no thread for MPIRMA_HANG_REPORT: a long wait is not reported", r->call);
}

void boot_report_end(struct boot_report *r)
{
    if (r->seconds <= 0)
        return;
    if (r->runs) {
        pthread_mutex_lock(&r->mutex);
        r->over = true;
        pthread_cond_signal(&r->cond);
        pthread_mutex_unlock(&r->mutex);
        pthread_join(r->thread, NULL);
    }
    pthread_cond_destroy(&r->cond);
    pthread_mutex_destroy(&r->mutex);
}
