/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_memory.h - the memory of a process that it lets others attach: a memfd with a table of
 * segments, and with the pages themselves, which move there from wherever they were, while all
 * other threads of the process stand still (standstill.h). Children of fork get copies of the
 * pages.
 *
 * Locks: own_memory_mutex, which forks take too, is held around all but own_memory_open and what
 * returns a value that does not change.
 * Neighbours: double.c, which has what other processes' memory is attached.
 */
#ifndef MRMA_TEST_XPMEM_OWN_MEMORY_H
#define MRMA_TEST_XPMEM_OWN_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SEGMENTS = 8192, /* of a process at a time */
    PIECES = 64      /* of a segment: runs of pages that lie one behind the other in the memfd */
};

struct piece {
    uintptr_t at; /* in the maker */
    size_t len;
    uint64_t offset; /* in the memfd, or in another file */
    int fd;          /* of that, in the maker */
};

/* In the memfd, for those who attach. */
struct segment {
    _Atomic uint32_t number; /* 0: there is none */
    uint32_t npieces;
    uintptr_t at;
    size_t len;
    struct piece piece[PIECES];
};

/* At the beginning of the memfd. */
struct table {
    _Atomic uint32_t forked; /* children that have their copies */
    struct segment segment[SEGMENTS];
};

extern pthread_mutex_t own_memory_mutex;

/* own_memory_open makes the memfd when it is called first. Returns whether there is one. */
bool own_memory_open(void);

/* own_memory_table returns the table of this process; there is a memfd. */
struct table *own_memory_table(void);

/* own_memory_file returns the memfd's number. */
int own_memory_file(void);

/* own_memory_page returns the bytes of a page; there is a memfd. */
size_t own_memory_page(void);

/* own_memory_pieces moves the pages of [lo, hi) into the memfd, as far as they are not in a file
 * that the process shares, and makes s describe them; its number stays. Returns 0, EFAULT for
 * memory that is not mapped or lies in too many pieces, or ENOTSUP for memory that cannot be
 * moved. */
int own_memory_pieces(struct segment *s, uintptr_t lo, uintptr_t hi);

/* xpmem_is_attached tells whether this process has attached itself what is mapped there, which is
 * none of its own memory. It is a function of double.c. */
bool xpmem_is_attached(uintptr_t at);

#endif
