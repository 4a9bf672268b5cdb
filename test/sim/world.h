/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.h - simulated processes (sim.h) as those of a random program (program.h).
 */
#ifndef MRMA_TEST_SIM_WORLD_H
#define MRMA_TEST_SIM_WORLD_H

#include "program.h"
#include "sim.h"

/* world_mixed returns the next number below n of a seed's sequence, whose state it is. */
uint64_t world_mixed(uint64_t *state, uint64_t n);

/* world_machine returns the machine that a seed gives: processes, nodes, paths, agents or polling,
 * a good or a bad network. deaths: one on which processes may die. */
struct sim_opts world_machine(uint64_t seed, uint64_t *state, bool deaths);

/* world_make makes *w the processes of s. */
void world_make(struct prog_world *w, struct sim *s);

#endif
