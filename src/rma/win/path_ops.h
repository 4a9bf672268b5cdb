/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path_ops.h - the route of an operation to its target: the tables of functions that it goes
 * through, one behind the other.
 *
 * The last table of a route is the way, the path of the target; those in front of it are filters. A
 * filter does all of a call by itself, or hands it on to the table behind it, which route_next
 * finds. A window has one route for each path (create/route.c), and a target points to that of its
 * path, so a target takes one pointer however many filters there are.
 *
 * Routes never change, and live as long as their window or as the program. A target gets another
 * route once, when its process is lost (path/lost_target.c); doc/memory-ordering.md says what
 * happens to a thread that is in the old route meanwhile.
 *
 * There are four ways: the target's memory is mapped here (path/mapped.c); the kernel copies from
 * and to it (path/assisted.c); the target does what packets ask for (path/packets.c); or the
 * network carries out what is large, and packets ask for the rest (path/packets.c, too). Which of
 * them serves a target is decided once, when the target is made (create/node_targets.c, remote.c).
 * The filters are, in the order in which they stand in a route: the one for targets with stages
 * (path/stage.c), the one for targets that are not known to be accessible (path/ready.c), that of
 * MPIRMA_STRICT (strict/strict_path.c), that of MPIRMA_TRACE (traced/traced_path.c), and the one
 * that lets a target of this node take part in large copies (path/joint.c). Operations
 * (path/operations.c) and the calls that complete them (sync/flush.c, sync/by_memory.c,
 * sync/by_packets.c) enter the route and do not ask what is in it. The commonest operations on
 * mapped memory do not enter a route at all (fast.h).
 *
 * Rules for all entries
 * - They are called by application threads, without the engine's lock, which they take themselves
 *   where they need it. Those that may wait say so; the others do not.
 * - The target exists (it has a peer), and every entry is there: none is NULL.
 * - Operations: the target is accessible in the present epoch (in the filters path_stage and
 *   path_ready: the epoch includes it), sizes and types agree, the target side lies in the window
 *   (in path_ready: unless that is dynamic), and there is at least one byte to transfer, unless it
 *   is a put with a notification (rma_op.notify), which may transfer none. offset is the
 *   operation's displacement in the target's memory, in bytes; in a dynamic window, whose memory
 *   begins at 0, it is the address at the target. len is the number of bytes. struct rma_op and its
 *   buffers belong to the caller; the buffers may be in use until the operation is complete here
 *   (rma.h).
 * - They return enum mrma_err. After an error the operation may have been done in part.
 */
#ifndef MRMA_RMA_WIN_PATH_OPS_H
#define MRMA_RMA_WIN_PATH_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ch3/pkt.h"
#include "rma/rma.h"
#include "rma/win/win_stats.h"

struct rma_target;

struct path_ops {
    const char *name; /* in a printed route */

    /* operate does an operation of that kind on t. Accumulates, on elements of one predefined type,
     * and compare-and-swap are atomic with respect to all other accumulates on the same memory,
     * whatever the path of these, and may wait until another process has ended its accumulate. May
     * wait for room where it sends a packet. MRMA_ERR_PROC_FAILED: the target is gone;
     * MRMA_ERR_NO_MEM: no room for a packet; and the errors of assisted_copy.h. */
    int (*operate)(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                   const struct rma_op *op, int64_t offset, size_t len);

    /* flush completes, in a passive target epoch, everything that was issued to t: at the target,
     * or, if local is true, so far that its buffers here may be used again. May wait. Returns
     * MRMA_ERR_PROC_FAILED, or an error that only the target has found in an operation since the
     * last such call. */
    int (*flush)(struct win *w, struct rma_target *t, bool local);

    /* unlock completes everything at t, whose lock (rma_target.lock) is about to be given back.
     * Where the lock was taken by packets, unlock gives it back, too. A lock in shared memory is
     * released by the caller, and that release orders this process's stores before it; where there
     * is no lock (WIN_LOCK_NOCHECK) unlock orders the stores. May wait; errors as flush. */
    int (*unlock)(struct win *w, struct rma_target *t);
};

enum { ROUTE_MAX = 6, ROUTE_TEXT = 64 };

struct route {
    const struct path_ops *ops[ROUTE_MAX];
    uint8_t n;      /* tables in ops */
    uint8_t known;  /* index of the table at which a call enters whose target is known to be
                       accessible (target_ready) */
    uint8_t number; /* less than 32; no two routes have the same: create/route.h */
};

/* route_behind returns the table behind self in r, or the way if self is not in r or is the way. */
static inline const struct path_ops *route_behind(const struct route *r,
                                                  const struct path_ops *self)
{
    const unsigned last = r->n - 1u;
    unsigned i = 0;
    while (i < last && r->ops[i] != self)
        i++;
    return r->ops[i < last ? i + 1 : last];
}

/* route_way returns the last table of r. */
static inline const struct path_ops *route_way(const struct route *r)
{
    return r->ops[r->n - 1u];
}

#endif
