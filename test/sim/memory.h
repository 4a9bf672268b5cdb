/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.h - the memory functions of struct rma_env on plain memory, for processes
 * that are threads or fibers of one test process: "mapping" returns the owner's
 * pointer. Everything given out is listed, so that a test can see what was left.
 *
 * rma_env.ctx must point to a struct sim_memory: it is the first member of a struct sim_self.
 */
#ifndef MRMA_TEST_SIM_MEMORY_H
#define MRMA_TEST_SIM_MEMORY_H

#include <pthread.h>
#include <stddef.h>

#include "base/list.h"
#include "rma/env.h"

struct sim_memory {
    pthread_mutex_t lock;
    struct list allocations;
    int nmaps;    /* maps not yet unmapped */
    size_t bytes; /* in allocations */
};

/* sim_memory_init makes *m the memory of a process that has none yet. */
void sim_memory_init(struct sim_memory *m);

/* sim_memory_fini frees what is left: nothing, of a process that came to its orderly end. */
void sim_memory_fini(struct sim_memory *m);

/* sim_memory_empty returns whether everything has been given back. */
int sim_memory_empty(const struct sim_memory *m);

/* sim_memory_env fills env with the functions for memory, mem_alloc to segment_commit. */
void sim_memory_env(struct rma_env *env);

/* sim_memory_alloc allocates as MPI_Alloc_mem does. Aborts without memory. */
void *sim_memory_alloc(struct sim_memory *m, size_t size);

/* sim_memory_free frees memory of sim_memory_alloc, as MPI_Free_mem does. */
void sim_memory_free(struct sim_memory *m, void *ptr);

/* sim_zeroed returns zeroed memory, aligned to align, for free(). Aborts where there is none. */
void *sim_zeroed(size_t align, size_t size);

#endif
