/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork_copies.h - copies of shared pages, which a child of fork gets in their place.
 *
 * The parent makes the copies, right before the fork; the child has them with all its other memory,
 * and moves them over the pages. So nobody waits for another process. The parent drops its own.
 * Only pages that the file has are copied; the others are zero in both.
 *
 * Until a child has moved its copies it shares the pages with the parent, which goes on. What other
 * threads store between the copy and the fork is missing in the child. No locks: those who have the
 * pages hold theirs from the first call to the last.
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

/* Room for so many ranges. False: no memory. */
bool fork_copies_begin(struct fork_copies *c, size_t room);
/* The child's [at, at+len), where the file is mapped; what is beyond the room is ignored. */
void fork_copies_add(struct fork_copies *c, void *at, size_t len, int fd);
/* Copy the contents now. False: some range could not be had; in its place the child sees what the
 * parent stores later, until it stores itself, but changes nothing there. */
bool fork_copies_fill(struct fork_copies *c);
/* In the parent, or instead of a fork. */
void fork_copies_drop(struct fork_copies *c);
/* In the child. */
void fork_copies_move(struct fork_copies *c);

#endif
