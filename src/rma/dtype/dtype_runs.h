/*
 * dtype_runs.h - a growing list of runs, and the two ways it is built up.
 *
 * Lists keep typemap order: a piece is only ever joined to the one before it.
 * Used while a datatype is flattened; functions return MRMA_SUCCESS or
 * MRMA_ERR_NO_MEM (the list is then still valid, though incomplete).
 */
#ifndef MRMA_RMA_DTYPE_DTYPE_RUNS_H
#define MRMA_RMA_DTYPE_DTYPE_RUNS_H

#include <stddef.h>

#include "rma/dtype/dtype.h"

struct run_list {
    struct dtype_run *v;
    size_t n, cap;
};

/* Append count copies of unit, the first moved by disp, each stride bytes after
 * the one before. A regular pattern stays one run. out and unit are distinct. */
int runs_repeat(struct run_list *out, const struct run_list *unit, ptrdiff_t disp, size_t count,
                ptrdiff_t stride);

/* Append one run as it is, joined to the last where they touch. */
int runs_push(struct run_list *list, struct dtype_run run);

/* Join neighbours of equal length and spacing into longer runs. */
void runs_compress(struct run_list *list);

/* The list is empty then, and may be used again. */
void runs_free(struct run_list *list);

#endif
