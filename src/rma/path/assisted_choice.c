/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * assisted_choice.c - see assisted_choice.h. It has no state, no locks, and no neighbours except
 * the limits.
 */
#include "rma/path/assisted_choice.h"

#include "base/conf.h"

/* may_queue returns whether it is a small copy that may share a system call. */
static bool may_queue(const struct assisted_facts *op, const struct conf *conf)
{
    return op->copy && op->contig && !op->request &&
           op->len <= (size_t)conf->tune.assisted_queue_max &&
           op->len <= (size_t)conf->tune.assisted_queue;
}

/* is_large_copy returns whether it is a copy so large that origin and target would wait for each
 * other on its way through the ring. */
static bool is_large_copy(const struct assisted_facts *op, const struct conf *conf)
{
    return op->copy && !op->in_pieces && op->len > (size_t)conf->tune.assisted_packet_max;
}

/* may_send returns whether the operation may go by packet. A request must complete even if nobody
 * synchronizes; and where there are too few processors a target that polls may have none. */
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
    return may_queue(op, conf) ? ASSISTED_QUEUE : ASSISTED_AT_ONCE;
}
