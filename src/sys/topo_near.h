/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo_near.h - which of several devices on the PCI bus is the nearest to a process, and how the
 * processes of a node share those that are equally near.
 *
 * hwloc tells how near a device is: the smaller the part of the machine that has both the device
 * and all the processing units on which the process may run, the nearer it is. A process that may
 * run everywhere is equally near to all.
 *
 * No state, no locks. Neighbours: topo.h, sets of processing units; netmod/ofi/select_provider.c,
 * which takes a network card.
 */
#ifndef MRMA_SYS_TOPO_NEAR_H
#define MRMA_SYS_TOPO_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/topo.h"

enum { TOPO_NEAR_MAX = 64 /* devices */ };

/* Where a device is on the bus. */
struct topo_pci {
    bool known; /* else the device counts as equally near to all */
    unsigned domain, bus, device, function;
};

struct topo_share {
    unsigned device;  /* the one to take */
    uint64_t nearest; /* bit i: devices[i] is among the nearest to the process */
};

/* topo_share_devices returns which of n devices the last of nprocs processes takes; all processes
 * of a node use the same order of processes. cpus[i] says where process i may run; NULL: that is
 * not known, and all devices are equally near. Each process takes one of the devices nearest to it:
 * the one that the fewest processes before it have taken, and of several such ones the first. n is
 * from 1 to TOPO_NEAR_MAX, nprocs from 1 on. hwloc reads the machine for it, which takes
 * milliseconds; if it cannot (logged), all devices are equally near. */
struct topo_share topo_share_devices(const struct topo_pci *devices, unsigned n,
                                     const struct topo_cpuset *cpus, unsigned nprocs,
                                     const struct log *log);

#endif
