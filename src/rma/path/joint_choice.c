/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * joint_choice.c - see joint_choice.h. It has no state, no locks, and no neighbours except the
 * limits.
 */
#include "rma/path/joint_choice.h"

#include "base/conf.h"

enum { CHUNK_LEAST = 64 << 10, CHUNK_MOST = 256 << 10, CHUNKS = 16, PAGE = 4096 };

/* FENCE_TIMES: a process that is seen in the opening fence leaves it at once, and then both would
 * meet again for a copy that one of them has nearly made. Measured with a halo exchange: puts of 64
 * to 256 KiB took up to a seventh longer, those of 512 KiB no longer. */
enum { FENCE_TIMES = 8 };

/* least returns from how many bytes on the copy is worth it. Where the origin copies by load and
 * store and the target by the kernel, the target's part takes longer than the origin's, and the
 * origin waits for it: so it has to be a small part. */
static size_t least(const struct joint_facts *op, const struct conf *conf)
{
    const size_t copy = (size_t)conf->tune.joint_copy,
                 private = (size_t)conf->tune.joint_copy_private;
    const size_t usual = op->fence ? FENCE_TIMES * copy : copy;
    return op->mapped && !op->shared && private > usual ? private : usual;
}

bool joint_choose(const struct joint_facts *op, const struct conf *conf)
{
    return conf->tune.joint_copy && op->copy && op->contig && !op->awaited && !op->self &&
           !op->oversubscribed && op->helped && (op->shared || op->kernel) &&
           op->len >= least(op, conf) && op->len <= JOINT_MOST;
}

size_t joint_chunk_bytes(size_t len)
{
    const size_t part = len / CHUNKS / PAGE * PAGE;
    if (len < 2 * (size_t)CHUNK_LEAST)
        return (len / 2 + PAGE - 1) / PAGE * PAGE;
    return part < CHUNK_LEAST ? CHUNK_LEAST : part < CHUNK_MOST ? part : CHUNK_MOST;
}
