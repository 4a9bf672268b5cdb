/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group.c - the cache of group.h, and MPI_Group_free, which makes its entries out of date.
 *
 * The count of freed groups starts at 1 and is the only process-wide state here. It is raised
 * before the host frees the group: a translation that is going on at that moment concerns a group
 * that its caller still uses, so not the freed one.
 *
 * No locks: a cache is taken with one exchange (busy). Neighbours: the calls of general active
 * target synchronization.
 */
#include "mpi/process/group.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/fault.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/process/state.h"

static _Atomic uint64_t groups_freed = 1;

/* MPI 4.1, 7.3.3. */
MRMA_PUBLIC int PMPI_Group_free(MPI_Group *group)
{
    atomic_fetch_add_explicit(&groups_freed, 1, memory_order_relaxed);
    return mpi_host.Group_free(group);
}
MRMA_EXPORT_MPI(Group_free);

void group_release(MPI_Group *group)
{
    mpi_host.Group_free(group);
}

static int translate(MPI_Group window, MPI_Group group, struct group_ranks *out)
{
    int n, *own, *ranks;

    if (PMPI_Group_size(group, &n) != MPI_SUCCESS)
        return MRMA_ERR_GROUP;
    own = malloc((size_t)(n + 1) * sizeof *own);
    ranks = malloc((size_t)(n + 1) * sizeof *ranks);
    if (own == NULL || ranks == NULL) {
        free(own), free(ranks);
        return MRMA_ERR_NO_MEM;
    }
    for (int i = 0; i < n; i++)
        own[i] = i;
    bool inside = n == 0 || PMPI_Group_translate_ranks(group, n, own, window, ranks) == MPI_SUCCESS;
    int first = 0;
    while (inside && first < n && ranks[first] != MPI_UNDEFINED)
        first++;
    free(own);
    if (!inside || first < n) {
        free(ranks);
        return FAULT(engine_messages(), GROUP_FOREIGN, n, first);
    }
    free(out->ranks);
    out->ranks = ranks;
    out->n = n;
    return MRMA_SUCCESS;
}

static int translate_into(struct group_ranks *entry, MPI_Group window, MPI_Group group,
                          uint64_t freed)
{
    int err = translate(window, group, entry);

    entry->freed = err == MRMA_SUCCESS ? freed : 0;
    entry->group = group;
    return err;
}

/* translate_aside is called when the cache is in use: it makes a translation outside of the cache,
 * which group_put frees. */
static int translate_aside(MPI_Group window, MPI_Group group, struct group_ranks **out)
{
    struct group_ranks *aside = calloc(1, sizeof *aside);
    int err;

    if (aside == NULL)
        return MRMA_ERR_NO_MEM;
    err = translate_into(aside, window, group, 0);
    if (err != MRMA_SUCCESS)
        free(aside);
    else
        *out = aside;
    return err;
}

int group_get(struct group_cache *cache, MPI_Group window, MPI_Group group,
              struct group_ranks **out)
{
    uint64_t freed = atomic_load_explicit(&groups_freed, memory_order_relaxed);
    struct group_ranks *entry;
    int err;

    if (unlikely(group == MPI_GROUP_NULL))
        return FAULT(engine_messages(), GROUP_NULL, "MPI_GROUP_NULL");
    /* Pairs with the release in group_put. With one thread no exchange is needed, which would wait
     * until the puts and signals before it have reached their cache lines. */
    if (mpi_state.threads &&
        unlikely(atomic_exchange_explicit(&cache->busy, true, memory_order_acquire)))
        return translate_aside(window, group, out);
    for (int i = 0; i < 2; i++) {
        entry = &cache->entry[cache->last ^ (unsigned)i];
        if (entry->group == group && entry->freed == freed) {
            cache->last ^= (unsigned)i;
            *out = entry;
            return MRMA_SUCCESS;
        }
    }
    cache->last ^= 1; /* the entry that was used longer ago makes room */
    entry = &cache->entry[cache->last];
    err = translate_into(entry, window, group, freed);
    if (err == MRMA_SUCCESS)
        *out = entry;
    else
        atomic_store_explicit(&cache->busy, false, memory_order_release);
    return err;
}

void group_put(struct group_cache *cache, struct group_ranks *ranks)
{
    if (likely(ranks == &cache->entry[0] || ranks == &cache->entry[1])) {
        atomic_store_explicit(&cache->busy, false, memory_order_release);
        return;
    }
    free(ranks->ranks);
    free(ranks);
}

void group_cache_fini(struct group_cache *cache)
{
    for (int i = 0; i < 2; i++) {
        free(cache->entry[i].ranks);
        cache->entry[i] = (struct group_ranks){.freed = 0};
    }
    cache->last = 0;
}
