/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted_choice.h - which way an operation takes to a kernel-assisted target that may be
 * accessed: one function of the facts of the operation and of the target, and of limits that the
 * user may set (base/conf.h). It looks at nothing else and changes nothing. assisted.c says why
 * there are these ways, and doc/design.md draws all ways of a small put.
 */
#ifndef MRMA_RMA_PATH_ASSISTED_CHOICE_H
#define MRMA_RMA_PATH_ASSISTED_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

struct conf;

/* A datatype is in short pieces if its pieces have fewer bytes than this on average. For each piece
 * the kernel needs as long as for copying a KiB or more: with pieces of twice that length it spends
 * most of the time copying, with shorter ones preparing. */
enum { ASSISTED_PIECE_MAX = 2048 };

enum assisted_way {
    ASSISTED_AT_ONCE, /* a system call of its own */
    ASSISTED_QUEUE,   /* kept, to share a system call with others */
    ASSISTED_PACKET,  /* the target does it, from a packet */
    ASSISTED_WAYS
};

/* An operation and its target. */
struct assisted_facts {
    size_t len;          /* bytes */
    size_t pieces;       /* number of short pieces of the target's side; 0: it is in long ones */
    bool copy;           /* a put or a get, not an accumulate or compare-and-swap */
    bool contig;         /* a copy: one piece on both sides */
    bool in_pieces;      /* a copy: in short pieces on one side */
    bool request;        /* an R-operation */
    bool passive;        /* in a passive target epoch */
    bool behind_packets; /* accumulates to the target are under way by packet */
    bool oversubscribed; /* more processes than processors */
    bool polled;         /* somebody polls at the target */
    bool has_agent;      /* the target's agent can be woken */
};

/* assisted_choose returns the way of the operation. */
enum assisted_way assisted_choose(const struct assisted_facts *op, const struct conf *conf);

#endif
