/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_contents.h - how a datatype was made, in one form for every host.
 *
 * MPI_Type_get_envelope and _get_contents (MPI 4.1, 5.1.13), or their
 * large-count forms where the host has them: those return some arguments as
 * large counts instead of integers or addresses. Here the arguments stand as in
 * the original (small-count) interface whichever constructor was called.
 */
#ifndef MRMA_DTYPE_DTYPE_CONTENTS_H
#define MRMA_DTYPE_DTYPE_CONTENTS_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Numbers as the host has given them, as int or 64 bits wide; they may be very many. */
struct dtype_numbers {
    const void *at;
    size_t n;
    bool wide;
};

struct dtype_contents {
    int combiner;
    size_t ntypes;
    struct dtype_numbers args;  /* the integers: counts, block lengths, sizes, ... */
    struct dtype_numbers addrs; /* the addresses: byte displacements, strides, lb and extent */
    MPI_Datatype *types;        /* the library frees those that are derived */
    void *memory[4];
};

/* dtype_number returns number i. */
static inline int64_t dtype_number(const struct dtype_numbers *numbers, size_t i)
{
    int64_t wide;
    int narrow;

    if (numbers->wide) {
        memcpy(&wide, (const char *)numbers->at + i * sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, (const char *)numbers->at + i * sizeof narrow, sizeof narrow);
    return narrow;
}

/* dtype_arg returns integer i of the arguments. */
static inline int64_t dtype_arg(const struct dtype_contents *contents, size_t i)
{
    return dtype_number(&contents->args, i);
}

/* dtype_addr returns address i of the arguments, in bytes. */
static inline int64_t dtype_addr(const struct dtype_contents *contents, size_t i)
{
    return dtype_number(&contents->addrs, i);
}

/* dtype_contents_read asks the host how type was made, for *out, which dtype_contents_free frees.
 * For a named type only the combiner is set. Returns MRMA_SUCCESS, MRMA_ERR_NO_MEM, or
 * MRMA_ERR_TYPE if the host refuses; with an error nothing has to be freed. */
int dtype_contents_read(MPI_Datatype type, struct dtype_contents *out);

/* dtype_numbers_drop gives back to the system the pages that the numbers from to i - 1 fill; these
 * numbers are not read again. */
void dtype_numbers_drop(const struct dtype_numbers *numbers, size_t from, size_t i);

/* dtype_contents_free frees what *contents has, including the derived datatypes that the host has
 * handed out. */
void dtype_contents_free(struct dtype_contents *contents);

#endif
