/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inplace.h - ordinary memory whose pages are replaced by shared ones, where it is.
 *
 * Memory that the caller did not get from the shared heap (malloc, anonymous mmap) becomes memory
 * of a segment: its pages are copied into an unnamed file, which is then mapped over the range.
 * Contents and addresses stay; node peers can map the pages. When the last user drops them, they
 * are copied back and replaced by private ones.
 *
 * There is one file for all, in which a page's offset is its address. So what users take may
 * overlap and touch, as neighbours from malloc do, and is contiguous in the file wherever it is in
 * memory. Users are counted page by page.
 *
 * Only whole pages can be shared: the first and the last one may have other data too, which peers
 * could then reach. While pages are replaced no other thread of the process runs
 * (standstill.h), so nothing that any thread stores is lost; what other processes or devices
 * write to these pages at that time would be.
 *
 * Where this cannot be had, or was left out by --disable-share-create, the build has absent.c in
 * the place of all other files of this folder: it refuses what it is asked for. Who uses this
 * header makes no difference.
 *
 * A child that fork makes gets private copies (the fork functions below). Locks: one mutex
 * inside. Not thread safe: creation and end.
 */
#ifndef MRMA_SHM_INPLACE_INPLACE_H
#define MRMA_SHM_INPLACE_INPLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "shm/heap.h"

struct inplace;

/* Why this build shares no memory so, in words; NULL: it does. */
const char *inplace_missing(void);

/* dir as for seg_create; it and log must outlive it. Nothing is opened before it is needed.
 * MRMA_ERR_NO_MEM. */
int inplace_create(const char *dir, const struct log *log, struct inplace **out);
/* Restores everything, used or not. */
void inplace_destroy(struct inplace *ip);

/* Use the pages of [base, base+len), len > 0: replace those that are not shared yet. Either all are
 * shared afterwards, or nothing has changed and the reason is in text. held: the caller holds what
 * is shared of them, which becomes part of this use. MRMA_ERR_NO_MEM, _OTHER. */
int inplace_take(struct inplace *ip, const void *base, size_t len, bool held, char *text,
                 size_t text_len);

/* Use those of its pages that are shared already; that none is taken later that are not. *some: are
 * there any? MRMA_ERR_NO_MEM, and nothing is held. */
int inplace_hold(struct inplace *ip, const void *base, size_t len, bool *some);

/* After take or hold with the same arguments. What nobody uses any more becomes private. Where that
 * cannot be had, it stays shared, with a note; it is tried again when the pages are taken again,
 * and at the end. What the program has unmapped or replaced in the meantime is left alone. */
void inplace_drop(struct inplace *ip, const void *base, size_t len);

/* Are all of [base, base+len) in shared pages? Then true and *loc. */
bool inplace_find(struct inplace *ip, const void *base, size_t len, struct heap_loc *loc);

/* Before fork, in the parent after it, and in the child: it has copies, as they were when fork was
 * called, at the same addresses, and no shared pages. Without memory for copies the child sees
 * later changes of the parent, but changes nothing there. Between the first and the others no page
 * is replaced. */
void inplace_fork_prepare(struct inplace *ip);
void inplace_fork_parent(struct inplace *ip);
void inplace_fork_child(struct inplace *ip);

#endif
