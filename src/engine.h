/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine.h - one process's end of the library, all layers put together.
 *
 * An engine is a value with no state outside it: src/mpi has one per process,
 * tests and simulations as many as they like. Created at the first window or
 * MPI_Alloc_mem, destroyed in MPI_Finalize.
 */
#ifndef MRMA_ENGINE_H
#define MRMA_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/counter_table.h"
#include "base/log.h"

struct engine;
struct rma;
struct dtype_cache;
struct heap;
struct trace;

/* What an engine is told of its process. */
struct engine_process {
    bool threads;   /* several threads may call at once (MPI_THREAD_MULTIPLE) */
    bool light;     /* event_light_register has succeeded (sys/event.h) */
    int world_rank; /* for messages */
};

/* conf, log and process are copied. MRMA_ERR_NO_MEM, _OTHER. */
int engine_create(const struct conf *conf, const struct log *log,
                  const struct engine_process *process, struct engine **out);
/* Stop the agent, release everything. Windows still alive are
 * dropped without communication. What MPI_Alloc_mem gave stays usable. */
void engine_destroy(struct engine *e);

struct rma *engine_rma(struct engine *e);
struct heap *engine_user_heap(struct engine *e); /* of MPI_Alloc_mem */
const struct log *engine_log(struct engine *e);
/* Is the calling thread the agent, which no call of MPI waits for? */
bool engine_in_agent(const struct engine *e);
const struct conf *engine_conf(struct engine *e);

/* Record events there from now on (trace/record.h), until the engine ends. Before the first
 * window. */
void engine_trace(struct engine *e, struct trace *tr);

/* What an engine counts, for MPIRMA_STATS: the one list of all counters. */
enum { ENGINE_COUNTERS = 38 };
extern const struct counter engine_counters[ENGINE_COUNTERS];

struct engine_counts {
    uint64_t values[ENGINE_COUNTERS];
    char network[128]; /* provider, interface and address; "" if no network was opened */
};

/* Stop the agent, so that nothing changes any more, and add what the engine has counted to *sum. No
 * window is used after it. */
void engine_count(struct engine *e, struct engine_counts *sum);

/* To be counted. When does a call of MPI_Alloc_mem or MPI_Free_mem begin (0: nobody wants to
 * know)? And when it ends: what was allocated in so many calls, and the time since. Any thread. */
uint64_t engine_alloc_begin(const struct engine *e);
void engine_alloc_end(struct engine *e, uint64_t began, uint64_t calls, uint64_t bytes);

/* Around every fork of the process (shm/heap.h): before it, then in the parent and in the child. */
void engine_fork_prepare(struct engine *e);
void engine_fork_parent(struct engine *e);
void engine_fork_child(struct engine *e);

#endif
