/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * route.c - see route.h.
 */
#include "rma/win/route.h"

#include <assert.h>
#include <stdio.h>

void route_add(struct route *r, const struct path_ops *ops)
{
    assert(r->n < ROUTE_MAX);
    r->ops[r->n++] = ops;
}

void route_text(const struct route *r, char *buf, size_t len)
{
    size_t at = 0;
    buf[0] = '\0';
    for (unsigned i = 0; i < r->n && at < len; i++)
        at += (size_t)snprintf(buf + at, len - at, "%s%s", i ? " > " : "", r->ops[i]->name);
}
