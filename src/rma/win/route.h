/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * route.h - the route of an operation to its target: the tables of functions (path_ops.h) that it
 * goes through, one behind the other.
 *
 * The last table of a route is the way, the path of the target; those in front of it are filters.
 * A filter does all of a call by itself, or hands it on to the table behind it, which route_next
 * finds. Which tables are in a route is decided once (create/route.c). A window has one route for
 * each path, and a target points to that of its path, so a target takes one pointer however many
 * filters there are.
 *
 * Routes never change, and live as long as their window or as the program. A target gets another
 * route once, when its process is lost (path/lost_target.c); doc/memory-ordering.md says what a
 * thread does that is in the old one meanwhile.
 */
#ifndef MRMA_RMA_WIN_ROUTE_H
#define MRMA_RMA_WIN_ROUTE_H

#include <stddef.h>
#include <stdint.h>

#include "rma/win/path_ops.h"

enum { ROUTE_MAX = 5, ROUTE_TEXT = 64 };

struct route {
    const struct path_ops *ops[ROUTE_MAX];
    uint8_t n;      /* tables in ops */
    uint8_t known;  /* where a call enters whose target is known to be accessible: target_ready */
    uint8_t number; /* less than 32, no other route's: create/route.h */
};

/* route_add puts ops behind the last table of r, which has room. */
void route_add(struct route *r, const struct path_ops *ops);

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

/* route_text writes the names of r's tables into buf, of len bytes: "stage > ready > assisted". At
 * most ROUTE_TEXT bytes are needed. */
void route_text(const struct route *r, char *buf, size_t len);

#endif
