/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted_choice.c - see assisted_choice.h. No state, no locks, no neighbours but the limits.
 */
#include "rma/path/assisted_choice.h"

#include "base/conf.h"

/* Is it a small copy that may share a system call? */
static bool may_queue(const struct assisted_facts *op, const struct conf *conf)
{
    return op->copy && op->contig && !op->request &&
           op->len <= (size_t)conf->tune.assisted_queue_max &&
           op->len <= (size_t)conf->tune.assisted_queue;
}

/* Origin and target would wait for each other on its way through the ring. */
static bool is_large_copy(const struct assisted_facts *op, const struct conf *conf)
{
    return op->copy && !op->in_pieces && op->len > (size_t)conf->tune.assisted_packet_max;
}

/* A request's end must come though nobody synchronizes; and a target that polls need not have a
 * processor where there are not enough of them. */
static bool may_send(const struct assisted_facts *op, const struct conf *conf)
{
    if (!op->passive || op->request || op->oversubscribed || is_large_copy(op, conf))
        return false;
    return op->polled || (op->has_agent && op->pieces >= (size_t)conf->tune.assisted_pieces);
}

enum assisted_way assisted_choose(const struct assisted_facts *op, const struct conf *conf)
{
    if ((op->behind_packets && !op->copy) || may_send(op, conf))
        return ASSISTED_PACKET;
    if (!may_queue(op, conf))
        return ASSISTED_AT_ONCE;
    return op->again ? ASSISTED_QUEUE : ASSISTED_FIRST;
}
