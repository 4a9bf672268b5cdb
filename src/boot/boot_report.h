/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot_report.h - says that an exchange of window creation takes long (MPIRMA_HANG_REPORT).
 *
 * The host's collective may not come back while a rank of the communicator is missing, and cannot
 * be left to look at the clock. So, only where reports are asked for, a thread looks at it
 * meanwhile; it calls no MPI. It can't be told who is missing: only the host knows.
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
    double seconds;   /* report after so many, and again after so many more; 0: never */
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
