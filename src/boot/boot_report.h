/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot_report.h - reports an exchange of window creation that takes long (MPIRMA_HANG_REPORT).
 *
 * The host's collective may not return while a rank of the communicator is missing, and the calling
 * thread cannot look at the clock meanwhile. So, only where reports are asked for, a second thread
 * looks at the clock; it calls no MPI. The report cannot say which rank is missing: only the host
 * knows that.
 */
#ifndef MRMA_BOOT_BOOT_REPORT_H
#define MRMA_BOOT_BOOT_REPORT_H

#include <pthread.h>
#include <stdbool.h>

#include "base/log.h"
#include "boot/boot.h"

struct boot_report {
    const struct log *log;
    const char *call; /* "MPI_Win_create" */
    double seconds;   /* a report comes each time when so many have passed; 0: never */
    /* boot_report.c's */
    const struct boot *boot;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool runs, over;
};

/* boot_report_begin is called right before an exchange that may wait for other ranks: from now on,
 * until boot_report_end, a thread reports each time that r->seconds have passed. Nothing happens if
 * that is 0 or less. If no thread can be had a warning says so. boot is kept until the end. */
void boot_report_begin(struct boot_report *r, const struct boot *boot);

/* boot_report_end is called right after the exchange, once for each boot_report_begin: the thread
 * ends, and this function waits for that. */
void boot_report_end(struct boot_report *r);

#endif
