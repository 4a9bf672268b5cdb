/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watchdog.h - ends a run that hangs, saying what it was doing.
 *
 * Some hosts hang in some one-sided calls. The alarm signal prints the label
 * and ends the process, and the launcher ends the job.
 */
#ifndef BENCH_COMMON_WATCHDOG_H
#define BENCH_COMMON_WATCHDOG_H

/* Give the work that follows this many seconds; 0 turns the alarm off. */
void watchdog_arm(unsigned seconds, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
