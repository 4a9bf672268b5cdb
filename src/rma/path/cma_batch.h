/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma_batch.h - batches of a target's pieces, for cma.c and cma_acc.c.
 *
 * Every entry of the remote vector costs as much as copying a KiB or more (the kernel pins its
 * pages by itself), so what is read is read in spans: pieces with small gaps and the gaps between
 * them, into an image of the target. What is written is written piece by piece: a gap may be
 * changed by others at any time. Errors: those of procmem.h.
 */
#ifndef MRMA_RMA_PATH_CMA_BATCH_H
#define MRMA_RMA_PATH_CMA_BATCH_H

#include "dtype/dtype.h"
#include "rma/env.h"
#include "sys/procmem.h"

enum {
    CMA_VECTOR = 256,       /* pieces a call; IOV_MAX is 1024 */
    CMA_GAP_MAX = 1024,     /* less than a page, so a gap has no page that no piece has */
    CMA_IMAGE_SMALL = 16384 /* on the stack */
};

/* n entries of iov; the others are not looked at, and not cleared either, for clearing them would
 * take as long as the rest of a small operation. */
struct cma_vec {
    unsigned n;
    size_t bytes;
    struct iovec iov[CMA_VECTOR];
};

static inline void cma_vec_clear(struct cma_vec *v)
{
    v->n = 0;
    v->bytes = 0;
}

static inline void cma_vec_add(struct cma_vec *v, void *base, size_t len)
{
    v->iov[v->n++] = (struct iovec){.iov_base = base, .iov_len = len};
    v->bytes += len;
}

/* A batch of pieces of the target and the image that they are read into. */
struct cma_batch {
    struct iovec remote[CMA_VECTOR]; /* the pieces */
    struct iovec local[CMA_VECTOR];  /* where each is in the image */
    struct cma_vec spans; /* pieces and gaps, as they are read; bytes is the image's size */
    unsigned n;
    size_t bytes; /* of the pieces */
    char *image;
    size_t room, unit;
    const struct dtype_run
        *members;      /* of a unit that has padding: a piece each; NULL: it has none */
    unsigned nmembers; /* else 1 */
    char small[CMA_IMAGE_SMALL];
};

/* For an operation on total bytes in units that are not cut. Without memory for a large
 * image the small one does. Give back with cma_batch_end. */
void cma_batch_begin(struct cma_batch *b, size_t unit, size_t total);
void cma_batch_end(struct cma_batch *b);
/* The units are elements of this type: padding is not touched, but for gaps that are read. */
void cma_batch_elements(struct cma_batch *b, const struct dtype *basic);
/* The next pieces of a walk over the target, whose origin is at vaddr there: as many whole
 * units as have room. False: there are no more. */
bool cma_batch_fill(struct cma_batch *b, struct dtype_cursor *walk, uint64_t vaddr);
int cma_batch_read(const struct rma_peer *peer, const struct log *log, struct cma_batch *b);
/* Only when nothing else needs the vectors any more: this may change them. */
int cma_batch_write(const struct rma_peer *peer, const struct log *log, struct cma_batch *b);

#endif
