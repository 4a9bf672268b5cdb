/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procstart.h - when a process began: with its process id, who it is.
 *
 * A process id comes back when its process has ended. The time at which a process began,
 * in ticks of 10 ms or less since the machine did, does not come back with it.
 * No state, no locks.
 */
#ifndef MRMA_SYS_PROCSTART_H
#define MRMA_SYS_PROCSTART_H

#include <stdbool.h>
#include <stdint.h>

/* procstart_of returns when the process pid of this PID namespace began, pid 0 being the caller, in
 * ticks of the kernel since the machine did. 0: not known, because there is no such process, /proc
 * does not tell, or the caller is in a time namespace of its own, in which that time is another
 * than for others. */
uint64_t procstart_of(int pid);

/* procstart_lives returns whether the process pid lives that began at started (its last 32 bits are
 * compared; 0: not known); a zombie does not. *fd, which is -1 at first, is a descriptor of the
 * process from then on that makes later questions cheap; the caller closes it. It stays -1 where
 * the kernel gives none: then /proc is asked each time. What cannot be told lives. */
bool procstart_lives(int pid, uint32_t started, int *fd);

#endif
