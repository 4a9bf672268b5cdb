/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self.c - see self.h.
 */
#include "self.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"

void sim_self_init(struct sim_self *s, int rank, int node, unsigned cpus)
{
    sim_memory_init(&s->memory);
    s->record.uid = (uint64_t)rank + 1;
    s->record.word[0] = (uint64_t)node;
    s->cpus = cpus ? cpus : 1;
}

static bool same_node(void *ctx, const struct rma_proc_record *rec)
{
    const struct sim_self *s = ctx;
    return rec->word[0] == s->record.word[0];
}

static unsigned record_cpus(void *ctx, const struct rma_procs *procs)
{
    const struct sim_self *s = ctx;
    (void)procs;
    return s->cpus;
}

static void peer_put(void *ctx, struct rma_peer *peer)
{
    (void)ctx;
    if (!peer->refs--)
        abort();
}

void sim_self_env(struct sim_self *s, struct rma_env *env)
{
    env->record = &s->record;
    env->record_same_node = same_node;
    env->record_cpus = record_cpus;
    env->peer_put = peer_put;
    sim_memory_env(env);
}

void sim_peer_init(struct rma_peer *peer, const struct sim_self *self, int rank, bool assisted,
                   const struct sim_places *its)
{
    const bool me = self->record.uid == (uint64_t)rank + 1;
    *peer = (struct rma_peer){.uid = (uint64_t)rank + 1,
                              .pid = (int32_t)getpid(),
                              .self = me,
                              .node = me,
                              .assisted = assisted,
                              .polling = its->polling,
                              .board = its->board,
                              .notices = its->notices,
                              .stripes = its->stripes};
}

int sim_peer_take(struct rma_peer *peer, bool node, struct rma_peer **out)
{
    peer->node |= node;
    peer->refs++;
    *out = peer;
    return MRMA_SUCCESS;
}
