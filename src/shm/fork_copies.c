/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork_copies.c - copies of shared pages for a child of fork.
 *
 * Data are read from the file and not from the addresses, which the program may have protected;
 * holes of the file stay holes. A range without a copy is mapped privately in the child.
 *
 * No locks: see fork_copies.h. Neighbour: heap_fork.c.
 */
#define _GNU_SOURCE 1 /* SEEK_DATA, mremap */
#include "shm/fork_copies.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fork_copy {
    void *place; /* where the child gets the copy */
    size_t len;
    int fd;
    void *at; /* the copy; MAP_FAILED: none */
};

static void *new_private(size_t len)
{
    return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
}

bool fork_copies_begin(struct fork_copies *c, size_t room)
{
    *c = (struct fork_copies){.room = room};
    c->list = calloc(room, sizeof *c->list);
    return c->list != NULL;
}

void fork_copies_add(struct fork_copies *c, void *at, size_t len, int fd)
{
    if (c->list && c->n < c->room)
        c->list[c->n++] = (struct fork_copy){.place = at, .len = len, .fd = fd, .at = MAP_FAILED};
}

/* read_extent reads the file's [from, to) of this range. */
static bool read_extent(const struct fork_copy *c, off_t from, off_t to)
{
    while (from < to) {
        char *at = (char *)c->at + from;
        const ssize_t n = pread(c->fd, at, (size_t)(to - from), from);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        from += n > 0 ? n : 0;
    }
    return true;
}

/* read_pages reads from the file and not from the addresses, which the program may have
 * protected. */
static bool read_pages(const struct fork_copy *c)
{
    const off_t end = (off_t)c->len;
    off_t from = 0;
    while (from < end) {
        const off_t data = lseek(c->fd, from, SEEK_DATA);
        if (data < 0)
            return errno == ENXIO; /* nothing but holes */
        if (data >= end)
            return true;
        const off_t hole = lseek(c->fd, data, SEEK_HOLE);
        if (hole < 0)
            return false;
        from = hole < end ? hole : end;
        if (!read_extent(c, data, from))
            return false;
    }
    return true;
}

static bool fill(struct fork_copy *c)
{
    c->at = new_private(c->len);
    if (c->at == MAP_FAILED)
        return false;
    if (read_pages(c))
        return true;
    munmap(c->at, c->len);
    c->at = MAP_FAILED;
    return false;
}

bool fork_copies_fill(struct fork_copies *c)
{
    bool all = true;
    for (size_t i = 0; i < c->n; i++)
        all &= fill(&c->list[i]);
    return all;
}

static void end(struct fork_copies *c)
{
    free(c->list);
    *c = (struct fork_copies){.list = NULL};
}

void fork_copies_drop(struct fork_copies *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].at != MAP_FAILED)
            munmap(c->list[i].at, c->list[i].len);
    end(c);
}

/* move uses the system call itself: some libraries replace libc's mremap by their own, which loses
 * the fifth argument (UCX 1.13). */
static bool move(const struct fork_copy *c)
{
    const int how = MREMAP_MAYMOVE | MREMAP_FIXED;

    return c->at != MAP_FAILED && syscall(SYS_mremap, c->at, c->len, c->len, how, c->place) != -1;
}

void fork_copies_move(struct fork_copies *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct fork_copy *one = &c->list[i];
        if (!move(one))
            (void)mmap(one->place, one->len, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, one->fd, 0);
    }
    end(c);
}
