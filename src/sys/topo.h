/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo.h - which processing units this process may use, and what the node has.
 *
 * Three ways in. topo_cpuset_self is one system call and serves window creation:
 * the processes of a node exchange their sets, and if the union has fewer units
 * than there are processes, waiting must yield at once. topo_load asks hwloc for
 * the whole machine (milliseconds) and is for mpi-rma-info only. topo_objects asks
 * hwloc, too, on which objects the process runs, for splits of communicators.
 * No state, no locks.
 */
#ifndef MRMA_SYS_TOPO_H
#define MRMA_SYS_TOPO_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

#define TOPO_CPUSET_BITS 1024

/* A set of processing units. Bit i%64 of word i/64 is the unit to which the operating system gives
 * the number i. The size is fixed since a set travels between processes. Units from 1024 on share
 * bits with the unit of their number modulo 1024: so a set is never empty, but the count may be too
 * low. */
struct topo_cpuset {
    uint64_t word[TOPO_CPUSET_BITS / 64];
};

struct topo {
    unsigned allowed; /* PUs this process may use */
    unsigned pus;     /* PUs of the node */
    unsigned cores;
    unsigned packages;
    unsigned numa;             /* NUMA nodes */
    struct topo_cpuset cpuset; /* the allowed PUs */
    char summary[160]; /* "1 package, 2 cores, 4 PUs, 1 NUMA node; this process may use 2 PUs" */
};

/* topo_cpuset_self sets *set to the processing units on which the calling thread may run. Returns
 * MRMA_SUCCESS; or MRMA_ERR_OTHER, without a message, if the system does not tell, and *set is not
 * written. */
int topo_cpuset_self(struct topo_cpuset *set);

/* topo_cpuset_count returns how many processing units the set has. */
unsigned topo_cpuset_count(const struct topo_cpuset *set);

/* topo_cpuset_or adds the units of from to into. */
void topo_cpuset_or(struct topo_cpuset *into, const struct topo_cpuset *from);

/* topo_pin lets thread, of this process, run on the processing units of list alone, which has
 * numbers and ranges of numbers with commas between, as the operating system numbers the units.
 * Units that the machine does not have are left out. Returns 0, or an errno: EINVAL if no unit is
 * left or if the text is no such list. */
int topo_pin(pthread_t thread, const char *list);

/* topo_load fills *topo, which takes milliseconds. Returns MRMA_SUCCESS, or MRMA_ERR_OTHER (logged)
 * if hwloc cannot read the machine, and *topo is not written. */
int topo_load(struct topo *topo, const struct log *log);

/* topo_is_type returns whether type is hwloc's name of something that has processing units:
 * "Package", "NUMANode", "L3Cache", "Core". */
bool topo_is_type(const char *type);

/* topo_objects sets object[i], for each of n such types, to the number of the object of that type,
 * counted over the machine from 0, that has all the processing units on which the calling thread
 * may run. -1 if they belong to several objects, if the machine has none of the type, or if hwloc
 * cannot tell. */
void topo_objects(const char *const *types, int n, int32_t *object);

#endif
