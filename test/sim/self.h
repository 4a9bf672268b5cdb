/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self.h - what a process of a test process (a thread of the fabric, a fiber of the
 * simulation) says of itself and of others: its record, and struct rma_env's questions
 * about records and peers. Its memory is memory.h's.
 *
 * Records: uid is the rank + 1, word 0 the node. rma_env.ctx must point to a struct
 * sim_self: make it the first member.
 */
#ifndef MRMA_TEST_SIM_SELF_H
#define MRMA_TEST_SIM_SELF_H

#include "memory.h"

struct sim_self {
    struct sim_memory memory; /* first */
    struct rma_proc_record record;
    unsigned cpus; /* processors that a node is said to have */
};

/* sim_self_init sets up *s for the process of that rank on that node. cpus: how many processors its
 * node is said to have; 0: one. */
void sim_self_init(struct sim_self *s, int rank, int node, unsigned cpus);

/* sim_self_env fills env: record, record_same_node, record_cpus, peer_put, and memory. */
void sim_self_env(struct sim_self *s, struct rma_env *env);

/* Where a process's threads sleep, its locks, and what it tells its node of new windows. */
struct sim_places {
    struct polling *polling;
    struct stripes stripes;
    const struct rma_notice *notices;
    struct joint_board *board; /* NULL: none */
};

/* sim_peer_init sets up *peer as the process of that rank, as self sees it; assisted: its
 * memory can be reached by cross-memory attach. */
void sim_peer_init(struct rma_peer *peer, const struct sim_self *self, int rank, bool assisted,
                   const struct sim_places *its);

/* sim_peer_take is peer_get of env, for a peer that has been found; sim_self_env's peer_put undoes
 * it. */
int sim_peer_take(struct rma_peer *peer, bool node, struct rma_peer **out);

#endif
