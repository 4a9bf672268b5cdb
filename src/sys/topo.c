/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo.c - sched_getaffinity for the fast set, hwloc for the whole picture.
 *
 * The kernel refuses a mask shorter than its own (EINVAL), so the request grows until it fits.
 * hwloc shows the whole node, objects that this process may not use included; the allowed set comes
 * from the scheduler in both functions, so that these cannot disagree. No state, no locks.
 *
 * Neighbours: engine_impl.c, which tells a process's units to others; src/mpi, which splits
 * communicators.
 */
#define _GNU_SOURCE 1 /* sched_getaffinity */
#include "sys/topo.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>

#include "base/err.h"

#define TOPO_MAX_WORDS 1024 /* 65536 processing units, beyond any kernel's limit */

/* mask has room for TOPO_MAX_WORDS. */
static int read_affinity(unsigned long *mask, struct topo_cpuset *set)
{
    const size_t bits = 8 * sizeof mask[0];
    struct topo_cpuset fresh = {{0}};

    for (size_t words = TOPO_CPUSET_BITS / bits; words <= TOPO_MAX_WORDS; words *= 2) {
        memset(mask, 0, words * sizeof mask[0]);
        if (sched_getaffinity(0, words * sizeof mask[0], (cpu_set_t *)(void *)mask) != 0) {
            if (errno == EINVAL)
                continue;
            return MRMA_ERR_OTHER;
        }
        for (size_t i = 0; i < words * bits; i++)
            if (mask[i / bits] >> (i % bits) & 1)
                fresh.word[i % TOPO_CPUSET_BITS / 64] |= UINT64_C(1) << (i % 64);
        *set = fresh;
        return MRMA_SUCCESS;
    }
    return MRMA_ERR_OTHER;
}

int topo_cpuset_self(struct topo_cpuset *set)
{
    unsigned long *mask = malloc(TOPO_MAX_WORDS * sizeof *mask);
    const int err = mask != NULL ? read_affinity(mask, set) : MRMA_ERR_NO_MEM;

    free(mask);
    return err;
}

unsigned topo_cpuset_count(const struct topo_cpuset *set)
{
    unsigned count = 0;

    for (size_t i = 0; i < TOPO_CPUSET_BITS / 64; i++)
        count += (unsigned)__builtin_popcountll(set->word[i]);
    return count;
}

void topo_cpuset_or(struct topo_cpuset *into, const struct topo_cpuset *from)
{
    for (size_t i = 0; i < TOPO_CPUSET_BITS / 64; i++)
        into->word[i] |= from->word[i];
}

int topo_pin(pthread_t thread, const char *list)
{
    unsigned long mask[TOPO_CPUSET_BITS / (8 * sizeof(unsigned long))];
    int err = EINVAL;

    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (!set)
        return ENOMEM;
    if (hwloc_bitmap_list_sscanf(set, list) == 0) {
        for (unsigned i = 0; i < sizeof mask / sizeof mask[0]; i++)
            mask[i] = hwloc_bitmap_to_ith_ulong(set, i);
        err = pthread_setaffinity_np(thread, sizeof mask, (cpu_set_t *)(void *)mask);
    }
    hwloc_bitmap_free(set);
    return err;
}

static unsigned count_of(hwloc_topology_t hw, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(hw, type);
    return n > 0 ? (unsigned)n : 0;
}

static const char *plural(unsigned n)
{
    return n == 1 ? "" : "s";
}

static void summarize(struct topo *topo)
{
    snprintf(topo->summary, sizeof topo->summary,
             "%u package%s, %u core%s, %u PU%s, %u NUMA node%s; this process may use %u PU%s",
             topo->packages, plural(topo->packages), topo->cores, plural(topo->cores), topo->pus,
             plural(topo->pus), topo->numa, plural(topo->numa), topo->allowed,
             plural(topo->allowed));
}

int topo_load(struct topo *topo, const struct log *log)
{
    struct topo fresh = {.allowed = 0};
    hwloc_topology_t hw;

    if (topo_cpuset_self(&fresh.cpuset) != MRMA_SUCCESS)
        return log_fail(log, MRMA_ERR_OTHER, "sched_getaffinity: %s", strerror(errno));
    fresh.allowed = topo_cpuset_count(&fresh.cpuset);

    if (hwloc_topology_init(&hw) != 0)
        return log_fail(log, MRMA_ERR_OTHER, "hwloc_topology_init: %s", strerror(errno));
    if (hwloc_topology_set_flags(hw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
        hwloc_topology_load(hw) != 0) {
        int saved = errno;
        hwloc_topology_destroy(hw);
        return log_fail(log, MRMA_ERR_OTHER, "hwloc cannot read the topology: %s", strerror(saved));
    }
    fresh.pus = count_of(hw, HWLOC_OBJ_PU);
    fresh.cores = count_of(hw, HWLOC_OBJ_CORE);
    fresh.packages = count_of(hw, HWLOC_OBJ_PACKAGE);
    fresh.numa = count_of(hw, HWLOC_OBJ_NUMANODE);
    hwloc_topology_destroy(hw);
    summarize(&fresh);
    *topo = fresh;
    return MRMA_SUCCESS;
}

static bool type_of(const char *name, hwloc_obj_type_t *type)
{
    return hwloc_type_sscanf(name, type, NULL, 0) == 0 &&
           (hwloc_obj_type_is_normal(*type) || *type == HWLOC_OBJ_NUMANODE);
}

bool topo_is_type(const char *type)
{
    hwloc_obj_type_t parsed;

    return type_of(type, &parsed);
}

/* Objects with the same units (as two kinds of memory of one NUMA domain have) count as one: the
 * first of them. */
static int32_t object_of(hwloc_topology_t hw, hwloc_obj_type_t type, hwloc_const_cpuset_t mine)
{
    const int n = hwloc_get_nbobjs_by_type(hw, type);
    hwloc_obj_t found = NULL;

    for (int i = 0; i < n; i++) {
        hwloc_obj_t obj = hwloc_get_obj_by_type(hw, type, (unsigned)i);
        if (!hwloc_bitmap_intersects(mine, obj->cpuset))
            continue;
        if (found == NULL)
            found = obj;
        else if (!hwloc_bitmap_isequal(found->cpuset, obj->cpuset))
            return -1;
    }
    return found != NULL && hwloc_bitmap_isincluded(mine, found->cpuset)
               ? (int32_t)found->logical_index
               : -1;
}

void topo_objects(const char *const *types, int n, int32_t *object)
{
    hwloc_bitmap_t mine = hwloc_bitmap_alloc();
    hwloc_topology_t hw = NULL;
    hwloc_obj_type_t type;
    /* What this process may not use is included, so that all processes count alike. */
    const bool known = mine != NULL && hwloc_topology_init(&hw) == 0 &&
                       hwloc_topology_set_flags(hw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
                       hwloc_topology_load(hw) == 0 &&
                       hwloc_get_cpubind(hw, mine, HWLOC_CPUBIND_THREAD) == 0;

    for (int i = 0; i < n; i++)
        object[i] = known && type_of(types[i], &type) ? object_of(hw, type, mine) : -1;
    if (hw != NULL)
        hwloc_topology_destroy(hw);
    hwloc_bitmap_free(mine);
}
