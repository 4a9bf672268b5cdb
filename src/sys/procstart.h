/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * procstart.h - when a process began, which together with its process id identifies it.
 *
 * A process id is used again when its process has ended. The time at which the process began, in
 * ticks of 10 ms or less since the machine's start, is not used again with that id. No state, no
 * locks.
 */
#ifndef MRMA_SYS_PROCSTART_H
#define MRMA_SYS_PROCSTART_H

#include <stdbool.h>
#include <stdint.h>

/* procstart_of returns when the process pid of this PID namespace began, pid 0 being the caller, in
 * ticks of the kernel since the machine's start. 0: not known, because there is no such process,
 * /proc does not tell, or the caller is in a time namespace of its own, in which that time differs
 * from that of other processes. */
uint64_t procstart_of(int pid);

/* procstart_lives returns whether the process with id pid that began at started lives (the last 32
 * bits of the time are compared; 0: not known). A zombie does not live. *fd is -1 at first; from
 * then on it is a descriptor of the process that makes later questions cheap, and the caller closes
 * it. It stays -1 where the kernel gives no descriptor: then /proc is asked each time. If nothing
 * can be found out the answer is true. */
bool procstart_lives(int pid, uint32_t started, int *fd);

/* For so many nanoseconds a look whether a process lives stays valid. Within that time the kernel
 * does not give out all other process numbers; and who copies to or from a process all the time
 * makes so many system calls in it that one more, for the look, is a small part of them. */
enum { PROCSTART_LOOK_NS = 1000000 };

#endif
