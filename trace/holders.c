/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * holders.c - see holders.h.
 *
 * A lock is in two groups: that of its target, or of "all targets" if it is on all; and that of
 * its whole window, since a request for all targets is excluded by a lock on any. A group is in
 * order of release. So the locks of a group that were held after a request are the end of the
 * group, and a tree finds the last one of these that was granted before some time.
 */
#include "holders.h"

#include <stdlib.h>

enum { ANY_TARGET, ALL_TARGETS, ONE_TARGET };

/* The first number is the window's, the second the target's and the type's. */
static void set_group(uint64_t group[2], uint32_t win, unsigned of, uint32_t target, bool exclusive)
{
    group[0] = win;
    group[1] = (uint64_t)of << 33 | (uint64_t)(of == ONE_TARGET ? target : 0) << 1 | exclusive;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare(const struct held_lock *a, const uint64_t group[2], uint64_t release)
{
    const int by_window = compare_numbers(a->group[0], group[0]);
    const int by_group = by_window ? by_window : compare_numbers(a->group[1], group[1]);

    return by_group ? by_group : compare_numbers(a->lock->release, release);
}

static int by_group_and_release(const void *a, const void *b)
{
    const struct held_lock *y = b;

    return compare(a, y->group, y->lock->release);
}

/* first_behind returns the index of the first lock that is behind these in the order, or n if there
 * is none. */
static size_t first_behind(const struct holders *holders, const uint64_t group[2], uint64_t release)
{
    size_t low = 0, high = holders->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare(&holders->held[middle], group, release) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the tree: node 1 is its root, those below node i are 2 i and 2 i + 1 ---- */

static void make_tree(struct holders *holders)
{
    holders->leaves = 1; /* more than there are locks, so that their end is a place of the tree */
    while (holders->leaves <= holders->n)
        holders->leaves *= 2;
    holders->earliest = zalloc(2 * holders->leaves, sizeof *holders->earliest);
    for (size_t i = 0; i < holders->leaves; i++)
        holders->earliest[holders->leaves + i] =
            i < holders->n ? holders->held[i].lock->acquire : UINT64_MAX;
    for (size_t i = holders->leaves; i-- > 1;)
        holders->earliest[i] = u64_min(holders->earliest[2 * i], holders->earliest[2 * i + 1]);
}

/* Moves the part's end to behind the last one that was granted before the time; to the part's begin
 * if none was. Up from that end to a subtree on its left which has one, then down to its last. */
static void cut(const struct holders *holders, struct part *part, uint64_t before)
{
    size_t node = holders->leaves + part->behind;

    if (part->first == part->behind)
        return;
    for (;;) {
        while (node > 1 && node % 2 == 0)
            node /= 2;
        if (node <= 1) {
            part->behind = part->first;
            return;
        }
        if (holders->earliest[--node] < before)
            break;
    }
    while (node < holders->leaves)
        node = 2 * node + (holders->earliest[2 * node + 1] < before);
    const size_t behind = node - holders->leaves + 1;
    part->behind = behind > part->first ? behind : part->first;
}

/* ---- what is looked up ---- */

void holders_begin(struct holders *holders, const struct trace *trace)
{
    *holders =
        (struct holders){.trace = trace, .held = zalloc(2 * trace->nlocks, sizeof *holders->held)};
    for (size_t i = 0; i < trace->nlocks; i++) {
        const struct lock_use *lock = &trace->lock[i];

        if (lock->nocheck || lock->acquire == 0 || lock->release < lock->acquire)
            continue;
        struct held_lock *held = &holders->held[holders->n];
        held[0].lock = held[1].lock = lock;
        set_group(held[0].group, lock->win, lock->target == NONE ? ALL_TARGETS : ONE_TARGET,
                  lock->target, lock->exclusive);
        set_group(held[1].group, lock->win, ANY_TARGET, NONE, lock->exclusive);
        holders->n += 2;
    }
    sort(holders->held, holders->n, sizeof *holders->held, by_group_and_release);
    make_tree(holders);
}

void holders_end(struct holders *holders)
{
    free(holders->held);
    free(holders->earliest);
}

static void add_part(struct excluders *excluders, unsigned of, bool exclusive)
{
    const struct lock_use *lock = excluders->lock;
    uint64_t group[2];

    set_group(group, lock->win, of, lock->target, exclusive);
    excluders->part[excluders->nparts++] =
        (struct part){first_behind(excluders->holders, group, lock->request),
                      first_behind(excluders->holders, group, UINT64_MAX)};
}

void excluders_begin(struct excluders *excluders, const struct holders *holders,
                     const struct lock_use *lock)
{
    *excluders = (struct excluders){.holders = holders, .lock = lock};
    for (int exclusive = !lock->exclusive; exclusive <= 1; exclusive++) {
        if (lock->target == NONE) {
            add_part(excluders, ANY_TARGET, exclusive);
        } else {
            add_part(excluders, ONE_TARGET, exclusive);
            add_part(excluders, ALL_TARGETS, exclusive);
        }
    }
}

const struct lock_use *excluders_next(struct excluders *excluders, uint64_t before)
{
    const struct holders *holders = excluders->holders;

    for (;;) {
        const struct lock_use *last = NULL;
        struct part *of = NULL;

        for (unsigned i = 0; i < excluders->nparts; i++) {
            struct part *part = &excluders->part[i];

            cut(holders, part, before);
            if (part->first == part->behind)
                continue;
            const struct lock_use *lock = holders->held[part->behind - 1].lock;
            if (!last || lock->release > last->release) {
                last = lock;
                of = part;
            }
        }
        if (!last)
            return NULL;
        of->behind--;
        if (last->rank != excluders->lock->rank)
            return last;
    }
}
