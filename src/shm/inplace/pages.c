/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pages.c - pages replaced and restored by moving a mapping over them.
 *
 * Replacing: the file's pages are committed (no room is found out here, before anything has
 * changed, and no access fails later), mapped elsewhere and allocated, and then, while no other
 * thread runs, the contents copied and the mapping moved over the range: mremap, one step for all
 * who look. Restoring is the same with new private memory, in pieces, so that it takes little more
 * memory than there was.
 *
 * A host may know by the functions it has put in the place of mmap and the like that registered
 * pages are gone; the move is not told to them. So it is followed by an madvise that says the same
 * of the range (a mapping of a file loses nothing by it), and a restoration preceded by one.
 */
#define _GNU_SOURCE 1 /* mremap */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "shm/inplace/standstill.h"
#include "shm/inplace/impl.h"

#define RESTORE_STEP ((size_t)64 << 20)
#define POPULATE_WRITE 23 /* madvise(2), Linux 5.14; newer than many headers */

/* ---- moving a mapping over a range ---- */

struct move {
    void *from; /* mapped there; copied to, then moved over `to` */
    void *to;
    size_t len;
    bool done;
};

/* Move the mapping at from over [to, to+len) in one step; false: refused. The bare system call:
 * nothing else may run here, and some who put their own mremap in the place of libc's lose its
 * fifth argument (UCX 1.13). */
static bool move_mapping(void *from, size_t len, void *to)
{
    return syscall(SYS_mremap, from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) != -1;
}

/* Nothing else runs. Word by word, since what a sanitizer puts in the place of memcpy looks at what
 * malloc has not given out. */
__attribute__((no_sanitize("address", "thread"))) static void copy_and_move(void *arg)
{
    struct move *m = arg;
    _Atomic uint64_t *to = m->from;
    const _Atomic uint64_t *from = m->to;
    for (size_t i = 0; i < m->len / sizeof *to; i++)
        atomic_store_explicit(&to[i], atomic_load_explicit(&from[i], memory_order_relaxed),
                              memory_order_relaxed);
    m->done = move_mapping(m->from, m->len, m->to);
}

/* from is gone afterwards, whatever the outcome. */
static int move_over(void *from, void *to, size_t len, char *text, size_t text_len)
{
    struct move m = {.from = from, .to = to, .len = len};
    int err = standstill_run(copy_and_move, &m, text, text_len);
    if (!err && !m.done) {
        snprintf(text, text_len, "the kernel refuses to move the mapping (mremap)");
        err = MRMA_ERR_OTHER;
    }
    if (err)
        munmap(from, len);
    return err;
}

/* Whoever watches mappings shall forget these pages. They are a file's: nothing is lost. */
static void announce(uintptr_t lo, size_t len)
{
    (void)madvise((void *)lo, len, MADV_DONTNEED);
}

/* ---- restoring ---- */

static void give_back(const struct inplace *ip, uintptr_t lo, size_t len)
{
    struct seg part = ip->file;
    part.from = lo;
    part.size = len;
    seg_decommit(&part, 0, len);
}

struct search {
    struct inplace *ip;
    struct pages found;
    int prot;
};

static bool find_ours(void *arg, const struct vma *v)
{
    struct search *s = arg;
    if (!is_ours(s->ip, v))
        return true;
    s->found = (struct pages){v->start, v->end};
    s->prot = prot_of(v);
    return false;
}

/* Private memory with the same contents over [lo, lo+len). */
static int make_private(uintptr_t lo, size_t len, int prot, char *text, size_t text_len)
{
    void *fresh = new_private(len);
    if (fresh == MAP_FAILED) {
        snprintf(text, text_len, "no memory for %zu bytes: %s", len, strerror(errno));
        return MRMA_ERR_NO_MEM;
    }
    if (!(prot & PROT_READ)) /* the program has protected it */
        (void)mprotect((void *)lo, len, PROT_READ);
    announce(lo, len);
    (void)madvise(fresh, len, POPULATE_WRITE);
    int err = move_over(fresh, (void *)lo, len, text, text_len);
    if (prot != (PROT_READ | PROT_WRITE))
        (void)mprotect((void *)lo, len, prot);
    return err;
}

/* The first piece at or above from, and *from behind it. */
static int restore_piece(struct inplace *ip, const struct run *run, uintptr_t *from, char *text,
                         size_t text_len)
{
    struct search s = {.ip = ip};
    const enum vma_seen seen = vma_each(*from, run->hi, false, find_ours, &s);
    if (seen == VMA_UNREADABLE) {
        snprintf(text, text_len, "/proc/self/maps cannot be read");
        return MRMA_ERR_OTHER;
    }
    if (seen == VMA_ALL) {
        *from = run->hi;
        return MRMA_SUCCESS;
    }
    const size_t left = s.found.hi - s.found.lo, len = left < RESTORE_STEP ? left : RESTORE_STEP;
    int err = make_private(s.found.lo, len, s.prot, text, text_len);
    if (!err)
        give_back(ip, s.found.lo, len);
    *from = s.found.lo + len;
    return err;
}

bool inplace_restore(struct inplace *ip, struct run *run)
{
    char text[160] = "";
    int err = MRMA_SUCCESS;
    for (uintptr_t from = run->lo; !err && from < run->hi;)
        err = restore_piece(ip, run, &from, text, sizeof text);
    if (err) {
        log_msg(ip->log, LOG_LEVEL_WARN, "%zu bytes at %p stay shared memory: %s", run_len(run),
                (void *)run->lo, text);
        return false;
    }
    list_remove(&run->node);
    free(run);
    return true;
}

/* ---- replacing ---- */

static int open_file(struct inplace *ip, char *text, size_t len)
{
    if (ip->file.fd >= 0)
        return MRMA_SUCCESS;
    int err = seg_create_sparse(ip->dir, NULL, &ip->file);
    if (err) {
        ip->file.fd = -1;
        snprintf(text, len,
                 "a sparse file for shared pages cannot be made (descriptors, ulimit -f, or "
                 "MPIRMA_SEGMENT_DIR)");
    }
    return err;
}

/* The file's pages, mapped elsewhere. */
static int make_pages(struct inplace *ip, struct pages p, struct seg *part, char *text, size_t len)
{
    int err = seg_map_part(&ip->file, p.lo, p.hi - p.lo, NULL, part);
    if (err) {
        snprintf(text, len, "no address space to copy %zu bytes", (size_t)(p.hi - p.lo));
        return err;
    }
    err = seg_commit(part, 0, part->size, NULL);
    if (err) {
        munmap(part->base, part->size);
        give_back(ip, p.lo, part->size);
        snprintf(text, len, "no room for %zu bytes of shared memory", part->size);
        return err;
    }
    (void)madvise(part->base, part->size,
                  POPULATE_WRITE); /* or every page is waited for while all stand still */
    return MRMA_SUCCESS;
}

int inplace_replace(struct inplace *ip, struct pages p, struct list_node *before, char *text,
                    size_t len)
{
    struct seg part;
    if (!vma_replaceable(p.lo, p.hi, text, len))
        return MRMA_ERR_OTHER;
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        snprintf(text, len, "no memory");
    int err = run ? open_file(ip, text, len) : MRMA_ERR_NO_MEM;
    if (!err)
        err = make_pages(ip, p, &part, text, len);
    if (err) {
        free(run);
        return err;
    }
    err = move_over(part.base, (void *)p.lo, part.size, text, len);
    if (err) {
        give_back(ip, p.lo, part.size);
        free(run);
        return err;
    }
    announce(p.lo, part.size);
    (void)madvise((void *)p.lo, part.size, POPULATE_WRITE);
    *run = (struct run){.lo = p.lo, .hi = p.hi};
    list_insert_after(before->prev, &run->node);
    return MRMA_SUCCESS;
}
