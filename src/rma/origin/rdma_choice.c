/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma_choice.c - see rdma_choice.h. It has no state, no locks, and no neighbours except struct
 * ch3_rdma_limits.
 */
#include "rma/origin/rdma_choice.h"

#include "base/conf.h"

/* Over a socket a put that the channel does by itself is a message, too, and needs one more answer,
 * while many small operations share one packet, and a notification follows in the same stream.
 * Hardware that needs the target's processor saves only the copies. A card that writes by itself
 * also saves the target's processor, so that in passive target epochs no operation is too short for
 * it. In active target epochs the target must be told of the end anyway, and one packet can carry
 * that and all small operations; this stops being better when the operations fill many packets. */
static const struct origin_rdma_thresholds table[CH3_RDMA_KINDS] = {
    [CH3_RDMA_STREAM] = {.min = 24 * 1024,
                         .min_passive = 24 * 1024,
                         .many = SIZE_MAX,
                         .min_many = SIZE_MAX,
                         .segments = 1},
    [CH3_RDMA_PROVIDER] = {.min = 8 * 1024,
                           .min_passive = 8 * 1024,
                           .many = SIZE_MAX,
                           .min_many = SIZE_MAX,
                           .segments = 1,
                           .words = true},
    [CH3_RDMA_CARD] = {.min = 8 * 1024,
                       .min_passive = 1,
                       .many = 128 * 1024,
                       .min_many = 1024,
                       .segments = 16,
                       .words = true},
};

static void set(size_t *threshold, int value)
{
    if (value != CONF_AUTO)
        *threshold = (size_t)value;
}

struct origin_rdma_thresholds origin_rdma_thresholds(enum ch3_rdma_by by, const struct conf *conf)
{
    struct origin_rdma_thresholds th = table[by];
    set(&th.min, conf->tune.rdma_min);
    set(&th.min_passive, conf->tune.rdma_min_passive);
    set(&th.many, conf->tune.rdma_many);
    set(&th.segments, conf->tune.rdma_segments);
    if (conf->tune.rdma_notify != CONF_RDMA_AUTO)
        th.words = conf->tune.rdma_notify == CONF_RDMA_ON;
    return th;
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t origin_rdma_least(const struct origin_rdma_thresholds *th)
{
    return lesser(th->min, lesser(th->min_passive, th->min_many));
}

/* least_of returns the length from which on the channel does the operation. */
static size_t least_of(const struct origin_rdma_facts *op, const struct origin_rdma_thresholds *th)
{
    if (op->passive)
        return op->open ? th->min_passive : th->min;
    return op->open && op->packed >= th->many ? lesser(th->min, th->min_many) : th->min;
}

enum origin_rdma_way origin_rdma_choose(const struct origin_rdma_facts *op,
                                        const struct ch3_rdma_limits *limits,
                                        const struct origin_rdma_thresholds *th)
{
    if (op->len < least_of(op, th))
        return ORIGIN_RDMA_PACKET;
    if (op->segments > 1)
        return op->segments <= lesser(th->segments, limits->depth) ? ORIGIN_RDMA_SEGMENTS
                                                                   : ORIGIN_RDMA_PACKET;
    if (!op->put)
        return ORIGIN_RDMA_READ;
    return op->len <= limits->inject ? ORIGIN_RDMA_INJECT : ORIGIN_RDMA_WRITE;
}

bool origin_rdma_takes_word(enum origin_rdma_way way, const struct origin_rdma_facts *op,
                            const struct ch3_rdma_limits *limits,
                            const struct origin_rdma_thresholds *th)
{
    return op->notifies && th->words && (way == ORIGIN_RDMA_INJECT || way == ORIGIN_RDMA_WRITE) &&
           op->len <= limits->max;
}
