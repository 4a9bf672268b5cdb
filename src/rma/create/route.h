/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * route.h - which tables are in the route of a target (win/path_ops.h), a function of five facts
 * that looks at nothing else; and the text of a route.
 */
#ifndef MRMA_RMA_CREATE_ROUTE_H
#define MRMA_RMA_CREATE_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rma/win/path_ops.h"

struct route_facts {
    enum rma_path path;
    bool net;            /* of PATH_PACKETS: packets to it take the network */
    bool dynamic;        /* the window is */
    bool strict, traced; /* MPIRMA_STRICT checks the window, MPIRMA_TRACE is set */
};

/* route_build sets *r to the route for these facts. */
void route_build(struct route *r, const struct route_facts *facts);

/* route_text writes the names of r's tables into buf, of len bytes: "stage > ready > cma". At
 * most ROUTE_TEXT bytes are needed. */
void route_text(const struct route *r, char *buf, size_t len);

/* route_list writes the routes whose numbers (route.number) are bits of numbers into buf, of len
 * bytes, one behind the other with "; " between them. What does not fit is cut. */
void route_list(uint32_t numbers, char *buf, size_t len);

#endif
