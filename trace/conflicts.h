/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conflicts.h - accesses to the same bytes that conflict (MPI 4.1, 12.7) and that nothing orders.
 *
 * Of two accesses of which one writes, the standard leaves open what is in the bytes afterwards, or
 * what was read, unless one is complete before the other begins, or both are atomic operations on
 * elements of one type with functions that the window's accumulate_ops lets meet. Accesses are
 * those of operations at their target, and those to the buffers of operations at their origin,
 * which are loads and stores there. Which come first, order.h tells; two operations by locks of one
 * window that exclude each other are never at the same time.
 */
#ifndef MRMA_TRACE_CONFLICTS_H
#define MRMA_TRACE_CONFLICTS_H

#include "epochs.h"
#include "model.h"

enum touch_kind { TOUCH_LOAD, TOUCH_STORE, TOUCH_GET, TOUCH_PUT, TOUCH_ATOMIC };

/* A side is one of the two accesses of a conflict. */
struct conflict_side {
    uint64_t time;
    uint32_t rank;
    uint32_t win;              /* of the operation; NONE: it is a message */
    uint32_t call;             /* that begins it; NONE: it is not known */
    uint32_t opening, closing; /* calls that begin its epoch, and complete it; NONE: not known */
    bool is_message;
    uint8_t kind, acc_op; /* enum touch_kind; of an atomic one its operation */
};

/* A pair of places in the program whose calls conflict, in one window and one process's memory. */
struct conflict {
    struct conflict_side side[2]; /* that was found first, the earlier one in front */
    uint32_t rank;                /* whose memory it is */
    uint64_t begin, length;       /* the bytes that both access, there */
    uint64_t number;              /* how often it was found */
};

struct conflicts {
    struct conflict *conflict; /* in the order in which they are found */
    size_t n, cap;
    bool recorded;    /* the archive tells which memory is accessed */
    uint64_t skipped; /* accesses of very many pieces, which were not looked at */
};

void conflicts_find(struct conflicts *conflicts, const struct trace *trace,
                    const struct epochs *epochs);
void conflicts_free(struct conflicts *conflicts);

/* "MPI_Put", "a load of MPI_Put's buffer" and so on: what a side does, for the report; the caller
 * frees it. */
char *conflict_access_text(const struct trace *trace, const struct conflict_side *side);

/* conflict_place finds where in the window the bytes begin. It returns false if they are in no
 * memory of this window that is known.
 */
bool conflict_place(const struct trace *trace, const struct conflict *conflict, uint32_t win,
                    uint64_t *displacement);

#endif
