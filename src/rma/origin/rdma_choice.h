/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma_choice.h - which way a put or get takes to a target on the network whose window memory is
 * registered there: one function of the operation's facts, of the channel's limits (struct
 * ch3_rdma_limits), and of thresholds. The thresholds are a table with a row for each kind of
 * channel, and the user may set them (base/conf.h). The function looks at nothing else and changes
 * nothing. mpi-rma-info shows the thresholds; doc/network.md gives the reasons for them.
 */
#ifndef MRMA_RMA_ORIGIN_RDMA_CHOICE_H
#define MRMA_RMA_ORIGIN_RDMA_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ch3/channel.h"

struct conf;

enum origin_rdma_way {
    ORIGIN_RDMA_PACKET,  /* the target does it from a packet */
    ORIGIN_RDMA_INJECT,  /* the channel puts; the call hands over the data */
    ORIGIN_RDMA_WRITE,   /* the channel puts, from the user's memory */
    ORIGIN_RDMA_READ,    /* the channel gets */
    ORIGIN_RDMA_SEGMENTS /* several of these, one a stretch contiguous on both sides */
};

/* The facts of an operation and its target. */
struct origin_rdma_facts {
    size_t len;      /* bytes, not 0 */
    size_t segments; /* stretches that are contiguous on both sides; if there are more than
                        origin_rdma_thresholds.segments, any number above that will do */
    bool put;        /* else a get */
    bool passive;    /* in a passive target epoch */
    bool notifies;   /* a put that notifies its target */
    bool open;       /* the epoch is known to have begun at the target */
    uint64_t packed; /* bytes of puts and gets that went there by packet in this epoch */
};

/* Numbers of bytes, unless they say otherwise. SIZE_MAX: never. */
struct origin_rdma_thresholds {
    size_t min;         /* the channel does operations of so many */
    size_t min_passive; /* the same in a passive target epoch that has begun at the target */
    size_t many;        /* when so many have gone by packet in an active target epoch, */
    size_t min_many;    /* the channel does operations of so many */
    size_t segments;    /* a number: an operation is cut into so many parts at most */
    bool words;         /* a put carries its notification, where the channel can */
};

/* origin_rdma_thresholds returns the table's row of that kind of channel, with what the user has
 * set. */
struct origin_rdma_thresholds origin_rdma_thresholds(enum ch3_rdma_by by, const struct conf *conf);

/* origin_rdma_least returns the length below which every operation goes by packet. */
size_t origin_rdma_least(const struct origin_rdma_thresholds *th);

/* origin_rdma_choose returns the way of the operation. */
enum origin_rdma_way origin_rdma_choose(const struct origin_rdma_facts *op,
                                        const struct ch3_rdma_limits *limits,
                                        const struct origin_rdma_thresholds *th);

/* origin_rdma_takes_word returns whether the operation, which goes that way, carries its
 * notification. It does if one put of the channel is the whole operation; otherwise a packet
 * follows. */
bool origin_rdma_takes_word(enum origin_rdma_way way, const struct origin_rdma_facts *op,
                            const struct ch3_rdma_limits *limits,
                            const struct origin_rdma_thresholds *th);

#endif
