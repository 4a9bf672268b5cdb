/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membarrier.c - registers for membarrier(2) when the library is loaded (membarrier.h).
 *
 * A constructor does it, since the first window is too late: most hosts have threads by then, and
 * with several threads the kernel waits until each processor has passed through it, which takes
 * tens of milliseconds. A program without windows pays two system calls for this. A child of fork
 * inherits the registration, as it inherits the variable; a new program image has neither.
 *
 * A process whose threads were there before the library is not registered. When the engine is made
 * it calls membarrier once; where that is refused the process counts as not registered. So it tells
 * its peers that it has registered and that its own membarrier works, and both are certain before
 * the first of them sets membarrier in its event.
 *
 * No locks. Neighbours: futex_event.h, which needs no fence then; engine_get.c, which asks.
 */
#include "mpi/process/membarrier.h"

#include "sys/futex_event.h"

static bool registered; /* written once, before the program's first call */

__attribute__((constructor)) static void membarrier_register(void)
{
    registered = event_membarrier_register();
}

bool membarrier_registered(void)
{
    return registered;
}
