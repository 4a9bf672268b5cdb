/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted_batch.h - batches of a target's pieces, for assisted_copy.c and assisted_acc.c.
 *
 * Every entry of the remote vector costs as much as copying a KiB or more (the kernel pins its
 * pages by itself), so reads are made in spans, which are pieces with small gaps together with the
 * gaps, into an image of the target. Writes are made piece by piece, since others may change a gap
 * at any time. Errors: those of cma.h.
 */
#ifndef MRMA_RMA_PATH_ASSISTED_BATCH_H
#define MRMA_RMA_PATH_ASSISTED_BATCH_H

#include "dtype/dtype.h"
#include "rma/env.h"
#include "sys/cma.h"

enum {
    ASSISTED_VECTOR = 256,       /* pieces a call; IOV_MAX is 1024 */
    ASSISTED_IMAGE_SMALL = 16384 /* bytes of an image that takes no memory of its own */
};

/* Length of the longest gap that is read with the pieces around it. To copy a gap of that length
 * costs as much as an entry for the piece behind it; and a gap shorter than a page contains no page
 * of its own, which might not be mapped. */
enum { ASSISTED_GAP_MAX = 1024 };

/* n entries of iov; the others are not looked at, and not cleared either, for clearing them would
 * take as long as the rest of a small operation. */
struct assisted_vec {
    unsigned n;
    size_t bytes;
    struct iovec iov[ASSISTED_VECTOR];
};

/* assisted_vec_clear makes v empty. */
static inline void assisted_vec_clear(struct assisted_vec *v)
{
    v->n = 0;
    v->bytes = 0;
}

/* assisted_vec_add adds a piece to v, which has fewer than ASSISTED_VECTOR. */
static inline void assisted_vec_add(struct assisted_vec *v, void *base, size_t len)
{
    v->iov[v->n++] = (struct iovec){.iov_base = base, .iov_len = len};
    v->bytes += len;
}

/* A batch of pieces of the target and the image that they are read into. It belongs to the calling
 * thread, for one operation; it is not on the stack, of which a thread may have little. */
struct assisted_batch {
    struct iovec remote[ASSISTED_VECTOR]; /* the pieces */
    struct iovec local[ASSISTED_VECTOR];  /* where each is in the image */
    struct assisted_vec spans; /* pieces and gaps in the form in which they are read; bytes is the
                                  image's size */
    unsigned n;
    size_t bytes; /* of the pieces */
    char *image;
    size_t room, unit;
    const struct dtype_run
        *members;      /* members of a unit that has padding, a piece for each; NULL: it has none */
    unsigned nmembers; /* else 1 */
    char small[ASSISTED_IMAGE_SMALL];
};

/* assisted_batch_begin makes a batch for an operation on total bytes in units that are not cut,
 * which assisted_batch_end frees. Without memory for a large image the small one is used. NULL:
 * there is no memory. */
struct assisted_batch *assisted_batch_begin(size_t unit, size_t total);

/* assisted_batch_end frees b, its image, and with it what was read. */
void assisted_batch_end(struct assisted_batch *b);

/* assisted_batch_elements makes the units of b elements of this type: padding is not touched,
 * except for gaps that are read. It is called before the first assisted_batch_fill. */
void assisted_batch_elements(struct assisted_batch *b, const struct dtype *basic);

/* assisted_batch_fill makes b the next pieces of a walk over the target, whose origin is at vaddr
 * there: as many whole units as have room. False: there are no more. */
bool assisted_batch_fill(struct assisted_batch *b, struct dtype_cursor *walk, uint64_t vaddr);

/* assisted_batch_read reads the pieces of b from peer's memory into the image. */
int assisted_batch_read(const struct rma_peer *peer, const struct log *log,
                        struct assisted_batch *b);

/* assisted_batch_write writes the pieces of b from the image to peer's memory. It is called only
 * when nothing else needs the vectors of b any more, since it may change them. */
int assisted_batch_write(const struct rma_peer *peer, const struct log *log,
                         struct assisted_batch *b);

#endif
