/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype.h - flattened datatypes.
 *
 * A datatype is flattened once into runs: n pieces of len bytes, stride apart. More
 * than DTYPE_RUNS_MAX of them are kept as a compact list (dtype_compact.h).
 * Everything in src/rma works on these; MPI datatypes are seen only by
 * dtype_flatten.c and dtype_cache.c. A struct dtype never changes once made and
 * lives as long as the cache holds it or somebody has a reference.
 *
 * Two views: the byte view is exact (no gap is ever touched) and serves put and
 * get; the element view counts whole elements of the one predefined type that
 * the datatype consists of and serves accumulates. They differ only for pair
 * types with padding, whose element is its extent.
 */
#ifndef MRMA_DTYPE_DTYPE_H
#define MRMA_DTYPE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dtype_run {
    ptrdiff_t disp;   /* bytes from the buffer address to the first piece */
    size_t len;       /* bytes of one piece, > 0 */
    ptrdiff_t stride; /* bytes from piece to piece */
    size_t n;         /* pieces, > 0 */
};

enum { DTYPE_RUNS_MAX = 4096 };

struct dtype_compact;

/* A part of a compact list: a run, or, where list is not NULL, n copies of that list, stride apart,
 * the first moved by disp. */
struct dtype_item {
    struct dtype_run run;
    const struct dtype_compact *list;
};

struct dtype {
    size_t size;        /* bytes of data in one instance (sum of the byte view) */
    ptrdiff_t extent;   /* bytes from instance to instance */
    ptrdiff_t true_lb;  /* first byte touched; 0 if size is 0 */
    size_t true_extent; /* bytes from first to last byte touched */
    bool contig;        /* count instances are one piece at displacement 0, in both views */
    uint8_t basic;      /* enum acc_type of every element, ACC_NONE if mixed */
    size_t elems;       /* elements of that type in one instance */
    const struct dtype_run *runs; /* byte view, in typemap order */
    size_t nruns;
    size_t pieces;                 /* of all runs */
    const struct dtype_run *eruns; /* element view; == runs where they agree */
    size_t neruns;
    const struct dtype_compact *list;  /* if not NULL, this is the byte view, and there are no
                                          runs */
    const struct dtype_compact *elist; /* the same for the element view; == list where they agree */
    struct dtype_compact *lists;       /* all lists of the type, freed with it */
    _Atomic uint32_t refs;
};

/* Walks count instances piece by piece, in typemap order, merging neighbours
 * where that is free (contiguous types are a single piece). */
struct dtype_cursor {
    const struct dtype *type;
    const struct dtype_run *runs;
    size_t nruns;
    size_t count;         /* instances left, the present one included */
    ptrdiff_t origin;     /* displacement of the present instance */
    size_t run, rep, off; /* place in the instance: run, piece of the run, byte of the piece */

    /* Used only for a type that is a compact list (runs is NULL then): now is the present run, in a
     * list that lies at base in its instance and whose next item is at code. */
    const struct dtype_compact *root, *list;
    const uint8_t *code;
    struct dtype_item now;
    ptrdiff_t base; /* origin contains it */
    size_t pos;     /* bytes of the instance in front of now */
};

enum dtype_view { DTYPE_BYTES, DTYPE_ELEMENTS };

/* dtype_cursor_init sets *cur on the first byte of count instances of type, which must outlive the
 * cursor. Nothing has to be freed. */
void dtype_cursor_init(struct dtype_cursor *cur, const struct dtype *type, size_t count,
                       enum dtype_view view);

/* dtype_cursor_seek moves a cursor of DTYPE_BYTES that is at its start on over pos bytes, less than
 * what it walks over, in a time that depends only on the number of runs (for a compact list on its
 * logarithm). */
void dtype_cursor_seek(struct dtype_cursor *cur, size_t pos);

/* dtype_cursor_next moves over the next piece, or at most max bytes of it. Returns the length, and
 * sets *disp to the displacement from the buffer address in bytes. 0: the end. With DTYPE_ELEMENTS
 * the caller passes a max that is a multiple of the element's extent and gets multiples back. */
size_t dtype_cursor_next(struct dtype_cursor *cur, size_t max, ptrdiff_t *disp);

/* n pieces of len bytes, stride apart, the first at disp. */
struct dtype_stretch {
    ptrdiff_t disp, stride;
    size_t len, n;
};

/* dtype_cursor_take moves over all equal, evenly spaced pieces that come next, at most max bytes
 * (if there are several pieces, only whole ones). Returns how many bytes these are and sets *ahead;
 * 0: the end.
 */
size_t dtype_cursor_take(struct dtype_cursor *cur, size_t max, struct dtype_stretch *ahead);

/* dtype_copy_pieces copies n pieces of len bytes from s to d; ds and ss are the distances in bytes
 * from piece to piece. */
void dtype_copy_pieces(char *d, ptrdiff_t ds, const char *s, ptrdiff_t ss, size_t len, size_t n);

/* dtype_pack copies the next len bytes of the pieces that cur walks over to packed; cur moves on.
 * base is the address that displacements count from. */
void dtype_pack(struct dtype_cursor *cur, const void *base, void *packed, size_t len);

/* dtype_unpack copies len bytes from packed to the next pieces that cur walks over; cur moves on.
 * base is the address that displacements count from. */
void dtype_unpack(struct dtype_cursor *cur, void *base, const void *packed, size_t len);

/* dtype_copy copies between two walks of the same number of bytes, without a buffer between them;
 * both cursors move to their ends. dst_base and src_base are the addresses that displacements count
 * from. */
void dtype_copy(struct dtype_cursor *dst, void *dst_base, struct dtype_cursor *src,
                const void *src_base);

/* dtype_span sets *lo to the lowest byte that count instances touch, and *hi to the one behind the
 * highest, relative to the buffer address; both are 0 if type has no data. count > 0. Returns false
 * on overflow. */
bool dtype_span(const struct dtype *type, size_t count, ptrdiff_t *lo, ptrdiff_t *hi);

/* dtype_basic returns a contiguous type of one predefined element, made without MPI (tests,
 * handlers). basic is an enum acc_type; ACC_NONE gives one opaque byte. Its runs are constant data:
 * nothing has to be freed. */
struct dtype dtype_basic(uint8_t basic);

/* dtype_create makes a type of form: one block of memory with a copy of it and of its runs. Its
 * refs is 1, and size, pieces, true_lb, true_extent and contig are worked out from the runs. The
 * chain form->lists becomes the new type's. Returns MRMA_SUCCESS and *out, or MRMA_ERR_NO_MEM.
 */
int dtype_create(const struct dtype *form, struct dtype **out);

/* dtype_ref takes one more reference to a type from dtype_create (as every type from the cache is),
 * and returns the type. The caller makes sure that the type lives. NULL is allowed. */
const struct dtype *dtype_ref(const struct dtype *type);

/* dtype_unref gives a reference back; the last one frees the type. NULL is allowed. Any thread. */
void dtype_unref(const struct dtype *type);

#endif
