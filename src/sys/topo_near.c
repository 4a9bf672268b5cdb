/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo_near.c - see topo_near.h. All processes of a node compute the same answer for each of them,
 * since they see the same sets, devices and machine.
 */
#include "sys/topo_near.h"

#include <errno.h>
#include <string.h>

#include <hwloc.h>

/* The machine, and the places of the devices in it. */
struct places {
    hwloc_topology_t hw;                      /* NULL: not known */
    hwloc_const_cpuset_t near[TOPO_NEAR_MAX]; /* the units beside the device */
};

/* Devices, and the bridges between them and the processors, are left out unless asked for. */
static bool ask_for_devices(hwloc_topology_t hw)
{
    static const hwloc_obj_type_t types[] = {HWLOC_OBJ_BRIDGE, HWLOC_OBJ_PCI_DEVICE};
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        if (hwloc_topology_set_type_filter(hw, types[i], HWLOC_TYPE_FILTER_KEEP_ALL) != 0)
            return false;
    return true;
}

static bool load(hwloc_topology_t *out)
{
    hwloc_topology_t hw;
    if (hwloc_topology_init(&hw) != 0)
        return false;
    if (hwloc_topology_set_flags(hw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
        !ask_for_devices(hw) || hwloc_topology_load(hw) != 0) {
        hwloc_topology_destroy(hw);
        return false;
    }
    *out = hw;
    return true;
}

/* units_near returns the units beside the device; it returns all units if there is no such device,
 * or if only memory without units is beside it. */
static hwloc_const_cpuset_t units_near(hwloc_topology_t hw, const struct topo_pci *d)
{
    const hwloc_const_cpuset_t all = hwloc_get_root_obj(hw)->cpuset;
    hwloc_obj_t obj =
        d->known ? hwloc_get_pcidev_by_busid(hw, d->domain, d->bus, d->device, d->function) : NULL;
    hwloc_obj_t place = obj ? hwloc_get_non_io_ancestor_obj(hw, obj) : NULL;
    return place && !hwloc_bitmap_iszero(place->cpuset) ? place->cpuset : all;
}

static void to_bitmap(hwloc_bitmap_t to, const struct topo_cpuset *from)
{
    hwloc_bitmap_zero(to);
    for (unsigned i = 0; i < TOPO_CPUSET_BITS; i++)
        if (from->word[i / 64] >> (i % 64) & 1)
            hwloc_bitmap_set(to, i);
}

/* nearness returns the depth of the smallest part of the machine that has both sets: a greater
 * depth is nearer. Units that the machine does not have do not count. */
static int nearness(hwloc_topology_t hw, hwloc_const_cpuset_t mine, hwloc_const_cpuset_t device,
                    hwloc_bitmap_t both)
{
    hwloc_bitmap_and(both, mine, hwloc_get_root_obj(hw)->cpuset);
    hwloc_bitmap_or(both, both, device);
    const hwloc_obj_t part = hwloc_get_obj_covering_cpuset(hw, both);
    return part ? part->depth : 0;
}

static uint64_t all_of(unsigned n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* nearest_to returns which of n devices are nearest to a process that runs on cpus; mine and both
 * are scratch memory. */
static uint64_t nearest_to(const struct places *p, unsigned n, const struct topo_cpuset *cpus,
                           hwloc_bitmap_t mine, hwloc_bitmap_t both)
{
    uint64_t nearest = 0;
    int most = -1;
    to_bitmap(mine, cpus);
    for (unsigned i = 0; i < n; i++) {
        const int near = nearness(p->hw, mine, p->near[i], both);
        if (near > most)
            nearest = 0;
        if (near >= most) {
            nearest |= UINT64_C(1) << i;
            most = near;
        }
    }
    return nearest;
}

static unsigned least_taken(const unsigned *taken, unsigned n, uint64_t among)
{
    unsigned found = n;
    for (unsigned i = 0; i < n; i++)
        if (among >> i & 1 && (found == n || taken[i] < taken[found]))
            found = i;
    return found;
}

struct topo_share topo_share_devices(const struct topo_pci *devices, unsigned n,
                                     const struct topo_cpuset *cpus, unsigned nprocs,
                                     const struct log *log)
{
    struct topo_share share = {.nearest = all_of(n)};
    struct places places = {.hw = NULL};
    unsigned taken[TOPO_NEAR_MAX] = {0};
    hwloc_bitmap_t mine = hwloc_bitmap_alloc(), both = hwloc_bitmap_alloc();
    const bool known = cpus && mine && both && load(&places.hw);
    if (cpus && !known)
        log_msg(log, LOG_LEVEL_INFO, "hwloc cannot read the topology (%s): no device is near",
                strerror(errno));
    for (unsigned i = 0; known && i < n; i++)
        places.near[i] = units_near(places.hw, &devices[i]);
    for (unsigned i = 0; i < nprocs; i++) {
        if (known)
            share.nearest = nearest_to(&places, n, &cpus[i], mine, both);
        share.device = least_taken(taken, n, share.nearest);
        taken[share.device]++;
    }
    if (known)
        hwloc_topology_destroy(places.hw);
    hwloc_bitmap_free(mine);
    hwloc_bitmap_free(both);
    return share;
}
