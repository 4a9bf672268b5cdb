/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group.h - translates the group of MPI_Win_start or MPI_Win_post to window ranks.
 *
 * Translating costs the host time that grows with the group, and applications give the same group
 * again and again. So each window remembers, separately for its access and its exposure epochs, the
 * last two groups by handle. A handle can stand for another group only after an MPI_Group_free.
 * These are counted, and groups that were remembered before the last MPI_Group_free are translated
 * again.
 */
#ifndef MRMA_MPI_PROCESS_GROUP_H
#define MRMA_MPI_PROCESS_GROUP_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

struct group_ranks {
    MPI_Group group;
    uint64_t freed; /* how many groups had been freed when this was translated; 0: unused */
    int n;
    int *ranks; /* window ranks; owned */
};

/* A window has one access epoch and one exposure epoch at a time, so a cache has
 * one user at a time. busy keeps an application that breaks this rule from
 * breaking the cache: the second user gets a translation of its own. A zeroed value is an empty
 * cache. */
struct group_cache {
    _Atomic bool busy;
    unsigned last;
    struct group_ranks entry[2];
};

/* group_get translates group to ranks of the window; window is the group of all processes of the
 * window. Returns MRMA_SUCCESS and *out, to be given back with group_put; MRMA_ERR_GROUP if group
 * is MPI_GROUP_NULL or not a subset of window, or MRMA_ERR_NO_MEM. Any thread. */
int group_get(struct group_cache *cache, MPI_Group window, MPI_Group group,
              struct group_ranks **out);

/* group_put gives back what group_get has returned; it may be remembered in the cache. */
void group_put(struct group_cache *cache, struct group_ranks *ranks);

/* group_cache_fini frees what the cache remembers; the cache is empty then. Nobody may be using
 * it. */
void group_cache_fini(struct group_cache *cache);

/* group_release frees a group that the library has made for itself; it does not age what caches
 * remember, as MPI_Group_free does. */
void group_release(MPI_Group *group);

#endif
