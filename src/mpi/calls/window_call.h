/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_call.h - the frame of a call about a window: a trace records it, and a window that is not
 * this library's is the host's.
 *
 * The int and the large-count form of a call (MPI 4.1, 2.5.8) are two uses of one macro, which says
 * the call once and takes the type of its counts; what they do is one function with counts of 64
 * bits.
 */
#ifndef MRMA_MPI_CALLS_WINDOW_CALL_H
#define MRMA_MPI_CALLS_WINDOW_CALL_H

#include "mpi/calls/argcheck.h"
#include "mpi/host/export.h"
#include "mpi/host/host.h"
#include "mpi/traced/traced.h"

/* WINDOW_CALL defines a function. head stands before its parameters, params, of which win is the
 * window. traced records the call (traced.h). If win is a window of the host, the call goes to the
 * host's function called name, with args. Otherwise the function returns ours, an expression in
 * which rec is the window's record. */
#define WINDOW_CALL(head, name, traced, params, args, ours)       \
    head params                                                   \
    {                                                             \
        traced;                                                   \
        struct win_rec *rec = win_lookup(win);                    \
                                                                  \
        return likely(rec != NULL) ? (ours) : mpi_host.name args; \
    }

/* WINDOW_ENTRY defines the entry point called name. */
#define WINDOW_ENTRY(name, traced, params, args, ours)                         \
    WINDOW_CALL(MRMA_PUBLIC int PMPI_##name, name, traced, params, args, ours) \
    MRMA_EXPORT_MPI(name)

/* WINDOW_GENERAL defines a function in which the entry point called name ends where it has no short
 * cut; the function is called name with _general behind it. It takes the arguments of the entry
 * point, so that the call needs no move. */
#define WINDOW_GENERAL(name, traced, params, args, ours)                                         \
    WINDOW_CALL(static __attribute__((noinline)) int name##_general, name, traced, params, args, \
                ours)                                                                            \
    _Static_assert(true, "takes the semicolon")

/* sync_result is what a synchronization call returns that had the result err: as sync_fail. */
static inline int sync_result(const struct win_rec *rec, const char *func, enum rma_call call,
                              int err, int target)
{
    return likely(err == MRMA_SUCCESS) ? MPI_SUCCESS : sync_fail(rec, func, call, err, target);
}

#endif
