/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traces_check.h - is the archive well formed that mpi-rma-trace makes of what simulated processes
 * have recorded, and are the clocks of their machines brought together? What is not right ends the
 * program with a message.
 */
#ifndef MRMA_TEST_SIM_TRACES_CHECK_H
#define MRMA_TEST_SIM_TRACES_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What must be in the archive. */
struct traces_expected {
    int nproc;
    bool whole; /* nobody has died: all has its end, and it was recorded */
    uint64_t calls, ops, locks;
};

/* traces_check_archive makes the archive of dir/spool and reads it, by mpi-rma-trace's own reader
 * and, if it is installed, by otf2-print. */
void traces_check_archive(const char *dir, const struct traces_expected *expected);

/* A message from one machine to another, by the clocks of the two; truly is the first one's clock
 * at the arrival, as mpi-rma-trace should find it for machine first. */
struct traces_message {
    uint64_t from, to; /* machines */
    uint64_t sent, arrived;
    uint64_t truly; /* when it arrived, by the clock of rank 0's machine */
};

/* traces_check_messages checks that by the corrected clocks no message arrives before it was sent,
 * and each as exactly as error nanoseconds at the time when it did. */
void traces_check_messages(const char *dir, const struct traces_message *message, size_t n,
                           uint64_t error);

#endif
