/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma_choice.h - which way a put or get takes to a target on the network whose window memory is
 * registered there: one function of what is known of the operation, of what the channel is like
 * (struct ch3_rdma_limits), and of thresholds, which are a table with a row for each kind of
 * channel, and which the user may set (base/conf.h). It looks at nothing else and changes nothing.
 * mpi-rma-info shows the thresholds; why they are so is in doc/network.md.
 */
#ifndef MRMA_RMA_ORIGIN_RDMA_CHOICE_H
#define MRMA_RMA_ORIGIN_RDMA_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ch3/channel.h"

struct conf;

enum rdma_way {
    RDMA_PACKET,  /* the target does it, from a packet */
    RDMA_INJECT,  /* a put of the channel's own that takes its data with it */
    RDMA_WRITE,   /* a put of the channel's own, from the user's memory */
    RDMA_READ,    /* a get of the channel's own */
    RDMA_SEGMENTS /* several of these, one for each stretch that is contiguous on both sides */
};

/* An operation and its target. */
struct rdma_facts {
    size_t len;      /* bytes, not 0 */
    size_t segments; /* stretches that are contiguous on both sides; of many, any number above
                        rdma_thresholds.segments will do */
    bool put;        /* else a get */
    bool passive;    /* in a passive target epoch */
    bool notifies;   /* a put that notifies its target */
    bool open;       /* the epoch is known to have begun at the target */
    uint64_t packed; /* bytes of puts and gets that went there by packet in this epoch */
};

/* Bytes, unless they say otherwise. SIZE_MAX: nothing is so long, or so much. */
struct rdma_thresholds {
    size_t min;         /* the channel does what has so many */
    size_t min_passive; /* the same in a passive target epoch that has begun at the target */
    size_t many;        /* so much has gone by packet in an active target epoch: from then on */
    size_t min_many;    /* the channel does what has so many */
    size_t segments;    /* an operation is cut into so many at most; a number */
    bool words;         /* a put takes its notification with it, where the channel can */
};

/* rdma_thresholds returns the table's row of that kind of channel, with what the user has set. */
struct rdma_thresholds rdma_thresholds(enum ch3_rdma_by by, const struct conf *conf);

/* rdma_least returns the length below which every operation goes by packet. */
size_t rdma_least(const struct rdma_thresholds *th);

/* rdma_choose returns the way of the operation. */
enum rdma_way rdma_choose(const struct rdma_facts *op, const struct ch3_rdma_limits *limits,
                          const struct rdma_thresholds *th);

/* rdma_takes_word returns whether the operation, which goes that way, takes its notification with
 * it: one put of the channel's is all of it. Otherwise a packet follows. */
bool rdma_takes_word(enum rdma_way way, const struct rdma_facts *op,
                     const struct ch3_rdma_limits *limits, const struct rdma_thresholds *th);

#endif
