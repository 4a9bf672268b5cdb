/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * malloc_calls.h - what libmpi-rma asks the library that shares the blocks of malloc.
 *
 * That is libmpi-rma-malloc.so (tools/preload-malloc.c), which mpi-rma-run --share-malloc preloads.
 * It is no part of libmpi-rma, so that a program that is linked with libmpi-rma keeps its malloc.
 * libmpi-rma looks for its one object, MALLOC_CALLS_SYMBOL, when it needs it.
 */
#ifndef MRMA_SHM_MALLOC_CALLS_H
#define MRMA_SHM_MALLOC_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/heap.h"

#define MALLOC_CALLS_SYMBOL "mpirma_malloc_calls"
enum { MALLOC_CALLS_VERSION = 1 }; /* of struct malloc_calls */

struct malloc_calls {
    uint32_t version;

    /* why_not returns NULL if large blocks are shared from now on, else a text that says why they
     * are not: a constant, or text that stays. */
    const char *(*why_not)(void);

    /* find and pin do what heap_find and heap_pin do (heap.h); unpin what heap_unpin does, and
     * returns false for memory that it does not know. */
    bool (*find)(const void *ptr, size_t len, struct heap_loc *loc);
    bool (*pin)(const void *ptr, size_t len);
    bool (*unpin)(const void *ptr);
};

#endif
