/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced_calls.h - between this library and libmpi-rma-calls (calls.awk), which is loaded in front
 * of it where every MPI function shall be in a trace.
 *
 * That library wraps the host's functions that this one leaves alone. It exports one object,
 * TRACED_CALLS_SYMBOL; while a trace is taken, traced_calls.c puts its functions there.
 */
#ifndef MRMA_MPI_TRACED_TRACED_CALLS_H
#define MRMA_MPI_TRACED_TRACED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACED_CALLS_SYMBOL "mpirma_traced_calls"

struct traced_calls {
    unsigned n;
    const char *const *name; /* of the functions, by their number */
    /* Where the instructions of libmpi-rma lie, in bytes, set before enter: its calls are not
     * recorded. */
    uintptr_t text;
    size_t text_size;
    /* A function begins, which returns to caller, and returns, if enter has returned true. NULL: no
     * trace is taken. */
    _Atomic(bool (*)(unsigned number, const void *caller)) enter;
    _Atomic(void (*)(unsigned number)) leave;
};

struct trace;

/* traced_calls_begin gives the names of the other library's functions to the trace, and to that
 * library the functions that record, if it is there. */
void traced_calls_begin(struct trace *tr);

/* traced_calls_end makes the other library record no more. */
void traced_calls_end(void);

#endif
