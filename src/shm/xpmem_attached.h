/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xpmem_attached.h - the regions of other processes that are attached here: each once for each
 * group, and a bounded number.
 *
 * A region is known by its owner and the owner's segment (shm/xpmem.h), a number that stands for
 * certain pages and is never used again: so memory that the owner has freed and mapped anew is
 * another region, and nobody finds the old pages under its name. To attach costs system calls and a
 * page fault for each page, so a region stays attached when its user puts it back with keep. It is
 * detached when its group ends, when it is reported to be gone, or, when there are too many
 * regions, if it has not been used for longest. There is a bound since the kernel bounds how many
 * mappings a process has.
 *
 * A group is a set of uses that end together: those of a window's target.
 *
 * Locks: one mutex inside, also while a region is attached or detached, so that two threads do not
 * attach it twice. Neighbours: the engine, which gives the two functions.
 */
#ifndef MRMA_SHM_XPMEM_ATTACHED_H
#define MRMA_SHM_XPMEM_ATTACHED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "shm/xpmem.h"

struct attached_region {
    uint64_t owner;      /* unique number of its process */
    uint64_t segment;    /* the owner's segment of exactly these pages */
    uint64_t vaddr, len; /* in the owner's address space */
    const void *group;
};

/* Functions that attach a region (0 or an errno) and detach it. */
struct attached_ops {
    int (*attach)(void *ctx, uint64_t segment, uint64_t vaddr, uint64_t len,
                  struct shm_xpmem_map *map);
    void (*detach)(void *ctx, const struct shm_xpmem_map *map);
    void *ctx;
};

struct attached_cache {
    pthread_mutex_t mutex;
    struct attached_ops ops;
    size_t most;
    size_t count;           /* number of regions, used and idle */
    uint64_t made;          /* how often one was attached */
    struct map known;       /* struct attachment, by a hash of owner and segment */
    struct list used, idle; /* idle: the one put back longest ago is first */
};

struct attachment; /* a region that somebody uses */

/* attached_init makes an empty cache of at most most regions. */
void attached_init(struct attached_cache *c, const struct attached_ops *ops, size_t most);

/* attached_fini detaches all regions, used or not. */
void attached_fini(struct attached_cache *c);

/* attached_get finds the region or attaches it. Returns 0, *at, where its first byte is here, and
 * *out, which attached_put takes. Otherwise it returns an errno and sets no output: that of attach;
 * ENOSPC if the cache is full of regions that are in use; ENOMEM. */
int attached_get(struct attached_cache *c, const struct attached_region *r, void **at,
                 struct attachment **out);

/* attached_put ends a use. If keep is true the region stays attached after the last use; otherwise
 * it is detached. */
void attached_put(struct attached_cache *c, struct attachment *a, bool keep);

/* attached_drop detaches the idle regions of a group for which gone returns true, or all of them if
 * gone is NULL; regions in use are detached when they are put back. gone is called with the mutex
 * held. */
void attached_drop(struct attached_cache *c, const void *group,
                   bool (*gone)(void *arg, const struct attached_region *r), void *arg);

/* attached_count returns how many regions are attached now, and in *made, unless that is NULL, how
 * often one was. */
size_t attached_count(struct attached_cache *c, uint64_t *made);

#endif
