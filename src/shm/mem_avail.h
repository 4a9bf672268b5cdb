/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem_avail.h - how much memory the system can still give to this process.
 *
 * The smaller of what the kernel estimates for the machine (MemAvailable) and
 * what the memory control groups around this process leave (version 2 or 1,
 * every level up to the root; page cache that the group can drop counts as
 * free). Swap is not counted. It is an estimate: others allocate too.
 * No state, no locks. It reads files, so ask only for large requests.
 */
#ifndef MRMA_SHM_MEM_AVAIL_H
#define MRMA_SHM_MEM_AVAIL_H

#include <stdint.h>

struct mem_avail {
    uint64_t bytes;       /* UINT64_MAX: nothing is known, no limit is assumed */
    char limited_by[160]; /* "MemAvailable" or the control group's directory */
};

/* mem_avail_read fills *out. root is the directory before /proc and /sys: "" is the running system,
 * tests have their own. */
void mem_avail_read(const char *root, struct mem_avail *out);

#endif
