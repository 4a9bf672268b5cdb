/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork_copies.h - copies of shared pages, which a child of fork gets in their place.
 *
 * The parent makes the copies, right before the fork; the child has them with all its other memory,
 * and moves them over the pages. So nobody waits for another process. The parent then drops its
 * copies. Only pages that the file has are copied; the others are zero in both.
 *
 * Until a child has moved its copies it shares the pages with the parent, which goes on. Stores of
 * other threads between the copy and the fork are missing in the child. No locks here: the owner of
 * the pages holds its own lock from the first call to the last.
 */
#ifndef MRMA_SHM_FORK_COPIES_H
#define MRMA_SHM_FORK_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fork_copy; /* one range */

/* All zero: nothing to do. */
struct fork_copies {
    struct fork_copy *list;
    size_t n, room;
};

/* fork_copies_begin sets up *c with room for so many ranges. Returns false without memory; the
 * other functions do nothing then. */
bool fork_copies_begin(struct fork_copies *c, size_t room);

/* fork_copies_add notes that the child shall have a copy of [at, at+len), where the file fd is
 * mapped from its beginning on. Ranges for which there is no room are ignored. */
void fork_copies_add(struct fork_copies *c, void *at, size_t len, int fd);

/* fork_copies_fill makes the copies. Called right before the fork. Returns false if some range
 * could not be copied; the child then sees in that range what the parent stores later, until the
 * child stores there itself; its stores change nothing of the parent's. */
bool fork_copies_fill(struct fork_copies *c);

/* fork_copies_drop frees the copies. Called in the parent, after the fork or instead of one. */
void fork_copies_drop(struct fork_copies *c);

/* fork_copies_move moves the copies to their addresses. Called in the child. *c has no copies
 * afterwards. */
void fork_copies_move(struct fork_copies *c);

#endif
