/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.c - see place.h.
 *
 * The processors that may be used are those of the affinity mask at the first
 * call, widened to all processors on line: launchers that bind ranks give each
 * a narrow mask, and pinning must then still find every processor.
 */
#define _GNU_SOURCE 1
#include "bench/common/place.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int usable(cpu_set_t *set)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    CPU_ZERO(set);
    for (int i = 0; i < n && i < CPU_SETSIZE; i++)
        CPU_SET(i, set);
    return n > 0 ? (int)n : 1;
}

int place_pin_to(int i)
{
    cpu_set_t all, one;
    int n = usable(&all);

    CPU_ZERO(&one);
    CPU_SET(i % n, &one);
    return sched_setaffinity(0, sizeof(one), &one);
}

int place_unpin(void)
{
    cpu_set_t all;

    usable(&all);
    return sched_setaffinity(0, sizeof(all), &all);
}

void place_init(struct place *place, int rank, int nprocs, bool pin)
{
    cpu_set_t all;

    place->cpus = usable(&all);
    place->oversubscribed = nprocs > place->cpus;
    place->pinned = false;
    if (!pin) {
        snprintf(place->text, sizeof(place->text), "ranks not pinned (%d processors)", place->cpus);
    } else if (place->oversubscribed) {
        snprintf(place->text, sizeof(place->text), "not pinned (%d ranks on %d processors)", nprocs,
                 place->cpus);
    } else if (place_pin_to(rank)) {
        snprintf(place->text, sizeof(place->text), "ranks not pinned (sched_setaffinity: %s)",
                 strerror(errno));
    } else {
        place->pinned = true;
        snprintf(place->text, sizeof(place->text), "ranks pinned (%d processors)", place->cpus);
    }
}

void place_relax(bool oversubscribed)
{
    if (oversubscribed)
        sched_yield();
#if defined(__x86_64__) || defined(__i386__)
    else
        __builtin_ia32_pause();
#endif
}
