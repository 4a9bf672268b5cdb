/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_runs.h - the runs of a datatype while it is flattened.
 *
 * It is a growing list in typemap order, of at most `most` runs; runs that do not fit go into a
 * compact list, which comes before the others. Pieces that touch are joined as they come in;
 * equally spaced ones only by dtype_runs_compress, because pairing them up early would hide a
 * touching neighbour that is still to come. A piece is only ever joined to the one before it.
 *
 * A list that becomes part of another is itself never appended to again.
 */
#ifndef MRMA_DTYPE_DTYPE_RUNS_H
#define MRMA_DTYPE_DTYPE_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "dtype/dtype.h"

/* What the lists of one datatype have in common. */
struct dtype_runs_bound {
    size_t most;                 /* runs of a list that is not compact, at least 3 */
    struct dtype_compact *lists; /* all compact ones: the owner of this struct frees them */
};

struct dtype_runs {
    struct dtype_run *v;
    size_t n, cap;
    struct dtype_compact *list; /* NULL: all runs are in v */
    struct dtype_runs_bound *bound;

    /* Whether it was found out already, for copies at this distance, that they join into few
     * runs. */
    bool asked, join;
    ptrdiff_t asked_stride;
};

/* dtype_runs_repeat appends count copies of unit, the first moved by disp bytes, each stride bytes
 * after the one before. out and unit are distinct. unit may become a compact list. Returns
 * MRMA_SUCCESS or MRMA_ERR_NO_MEM; then out is valid, though incomplete. */
int dtype_runs_repeat(struct dtype_runs *out, struct dtype_runs *unit, ptrdiff_t disp, size_t count,
                      ptrdiff_t stride);

/* dtype_runs_push appends one run, joined to the last where they touch. Results are those of
 * dtype_runs_repeat. */
int dtype_runs_push(struct dtype_runs *out, struct dtype_run run);

/* dtype_runs_compress joins neighbours of equal length and spacing into longer runs. */
void dtype_runs_compress(struct dtype_runs *runs);

/* dtype_runs_finish completes a list: either all its runs are in v, compressed, or, where they are
 * more than the bound, all are in list. Results are those of dtype_runs_repeat. */
int dtype_runs_finish(struct dtype_runs *runs);

/* dtype_runs_free frees what is in v, and forgets list, which is its bound's. */
void dtype_runs_free(struct dtype_runs *runs);

#endif
