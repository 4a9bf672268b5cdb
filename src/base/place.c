/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.c - see place.h.
 *
 * The processor of another thread is only told by /proc, and so is how many want to run. Reading
 * both costs system calls; hence the limit on how often that is done.
 */
#define _GNU_SOURCE 1 /* cpu_set_t */
#include "base/place.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/procfile.h"

enum {
    SLICE_NS = 100000,
    STAT_CPU = 39
}; /* the shortest that Linux takes; field of /proc/.../stat */

/* As the kernel has it, which the C library's headers do not tell. */
struct sched_request {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

void place_short_slices(void)
{
    struct sched_request r = {.size = sizeof r};
    if (syscall(SYS_sched_getattr, 0, &r, sizeof r, 0) != 0 || r.policy != SCHED_OTHER)
        return;
    r.size = sizeof r;
    r.runtime = SLICE_NS;
    (void)syscall(SYS_sched_setattr, 0, &r, 0);
}

/* The processor of the main thread, -1: not told. */
static int main_cpu(void)
{
    char path[64];
    uint64_t cpu;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    return procfile_stat(path, STAT_CPU, &cpu) ? (int)cpu : -1;
}

/* Threads of the machine that run or want to, the calling one included: "0.31 0.80 1.40 RUNNING/ALL
 * LAST". */
static unsigned running(void)
{
    char text[128];
    procfile_text("/proc/loadavg", text, sizeof text);
    const char *at = text;
    for (int i = 0; at && i < 3; i++)
        at = strchr(at + (i > 0), ' ');
    return at ? (unsigned)strtoul(at + 1, NULL, 10) : UINT_MAX;
}

static void keep_on(struct place *p, int cpu)
{
    cpu_set_t set;
    if (cpu >= CPU_SETSIZE)
        return;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0)
        p->cpu = cpu;
}

static void let_go(struct place *p)
{
    cpu_set_t set;
    if (p->cpu >= 0 && sched_getaffinity(getpid(), sizeof set, &set) == 0 &&
        sched_setaffinity(0, sizeof set, &set) == 0)
        p->cpu = -1;
}

void place_follow_main(struct place *p, uint64_t now, unsigned most)
{
    if (p->looked_ns && now - p->looked_ns < PLACE_LOOK_NS)
        return;
    p->looked_ns = now ? now : 1;
    if (running() > most) {
        let_go(p);
        return;
    }
    const int cpu = main_cpu();
    if (cpu >= 0 && cpu != p->cpu)
        keep_on(p, cpu);
}
