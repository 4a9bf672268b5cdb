/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * holders.h - finds who held a lock while another process waited for one that it excludes.
 *
 * Locks that were asked for with MPI_MODE_NOCHECK exclude nobody, since they lock nothing. Locks
 * whose grant or release is not recorded exclude nobody either. A look-up takes the logarithm of
 * the number of all locks for each holder that it finds, however long other locks of the window
 * have been held.
 */
#ifndef MRMA_TRACE_HOLDERS_H
#define MRMA_TRACE_HOLDERS_H

#include "model.h"

/* All locks of a trace, in groups of one window, target and type, by the time of their release. */
struct holders {
    const struct trace *trace;
    struct held_lock {
        uint64_t group[2];
        const struct lock_use *lock;
    } * held;
    uint64_t *earliest; /* binary tree over held: the first grant of each part */
    size_t n, leaves;
};

/* Excluders are the locks that excluded one lock. */
struct excluders {
    const struct holders *holders;
    const struct lock_use *lock;
    struct part {
        size_t first, behind; /* of holders->held, what has not been returned */
    } part[4];
    unsigned nparts;
};

void holders_begin(struct holders *holders, const struct trace *trace);
void holders_end(struct holders *holders);

/* excluders_begin begins to look for the locks of other ranks that excluded a lock of the trace
 * between its request and its grant. */
void excluders_begin(struct excluders *excluders, const struct holders *holders,
                     const struct lock_use *lock);

/* excluders_next returns the one of them that was given back last, of those that have not been
 * returned and were granted before a time, which must not grow from call to call; NULL: there is
 * none. Its release may be behind the grant of the lock that it excludes, as recorded. */
const struct lock_use *excluders_next(struct excluders *excluders, uint64_t before);

#endif
