/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * impl.h - the insides of inplace.h, for its files only:
 *
 *   inplace.c     who uses which pages
 *   pages.c       pages replaced and restored
 *   fork.c        copies for children
 *   standstill.c  a function run while all other threads stand still
 *   vma.c         what lies in a range of addresses
 *
 * A run is pages that have the same users. Runs are disjoint, in the order of addresses; a user's
 * range is cut out of them by splitting at its ends. A run without users is one that could not be
 * restored.
 */
#ifndef MRMA_SHM_INPLACE_IMPL_H
#define MRMA_SHM_INPLACE_IMPL_H

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/list.h"
#include "shm/fork_copies.h"
#include "shm/inplace/inplace.h"
#include "shm/inplace/vma.h"

struct run {
    struct list_node node; /* in ip->runs */
    uintptr_t lo, hi;
    unsigned users;
};

/* Not from malloc: the child of a fork reads it while it still shares malloc's pages with the
 * parent. */
struct inplace {
    pthread_mutex_t mutex;
    const char *dir;
    const struct log *log;
    uintptr_t page;
    struct seg file; /* fd -1: not needed yet */
    struct list runs;
    struct fork_copies copies; /* while a fork is made */
};

/* The pages of a range. */
struct pages {
    uintptr_t lo, hi;
};

static inline struct run *run_of(struct list_node *node)
{
    return LIST_ENTRY(node, struct run, node);
}

static inline size_t run_len(const struct run *run)
{
    return run->hi - run->lo;
}

/* New private memory, or MAP_FAILED. */
static inline void *new_private(size_t len)
{
    return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Is it the file, where it was put? The program may have unmapped or replaced it. */
static inline bool is_ours(const struct inplace *ip, const struct vma *v)
{
    return v->inode == ip->file.inode && v->device == ip->file.device && v->offset == v->start &&
           v->perms[3] == 's';
}

static inline int prot_of(const struct vma *v)
{
    return (v->perms[0] == 'r' ? PROT_READ : 0) | (v->perms[1] == 'w' ? PROT_WRITE : 0);
}

/* Replace pages none of which is shared; their run, without users, is put before `before`. Or
 * nothing has changed, and the reason is in text. */
int inplace_replace(struct inplace *ip, struct pages p, struct list_node *before, char *text,
                    size_t len);
/* Restore what is left of the run, which goes; false (noted): it stays. */
bool inplace_restore(struct inplace *ip, struct run *run);

#endif
