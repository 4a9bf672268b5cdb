/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_op.h - the operations of mixed_modes: drawn, done on the model, done on the window.
 */
#ifndef MRMA_TEST_MIXED_OP_H
#define MRMA_TEST_MIXED_OP_H

#include "mixed_modes.h"

enum { MM_POOL = 1 << 21 }; /* bytes */

enum mm_kind {
    MM_PUT,
    MM_PIECES,
    MM_GET,
    MM_GET_PIECES,
    MM_SUMS,
    MM_FETCH,
    MM_FETCH_OP,
    MM_CAS,
    MM_PUTS,
    MM_GETS,
    MM_ADDS,
    MM_KINDS
};
enum { OP_SUM, OP_XOR, OP_REPLACE, OP_CAS };

struct mm_op {
    enum mm_kind kind;
    enum hb_use use;
    int target, block;
    size_t at, bytes;   /* in the target's memory; all of the pieces */
    int n, len, stride; /* pieces, or how many of a burst and their bytes */
    size_t from;        /* operand, in the pool */
    int op;             /* of accumulates: OP_SUM, ... */
    bool request, wait; /* an R-operation, waited for at once */
};

extern char *mm_pool; /* operands: the same bytes at every rank */

size_t mm_span(const struct mm_op *op); /* bytes from the first of all pieces to the last */
size_t mm_spread(const struct mm_op *op,
                 int i); /* number i of a burst of fetch-and-ops: behind op->at */

/* mem: the target's in the model, changed. want: what the operation fetches, written there if not
 * NULL. */
void mm_model(const struct mm_op *op, char *mem, char *want);

/* One operation of origin on target, which knows this much; false: none of some drawn was allowed,
 * and *who is whom it would have to hear of, or HB_BUSY. passive: it may have a request. */
bool mm_operate(int w, int origin, int target, const struct hb_clock *know, bool gets_only,
                bool passive, int *who);

/* mixed_issue.c: this rank's operation, on the model and on the window. Its buffers are in use
 * until mm_finish. */
void mm_issue_begin(void);
void mm_issue_end(void);
void mm_issue(int w, const struct mm_op *op);
void mm_finish_requests(void);
void mm_finish(
    int w,
    int target); /* operations are complete here, results are looked at. -1: for all targets */

#endif
