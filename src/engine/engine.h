/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine.h - one process's end of the library, all layers put together.
 *
 * An engine is a value with no state outside it: src/mpi has one per process, tests and simulations
 * as many as they like. It is created at the first window or MPI_Alloc_mem and destroyed in
 * MPI_Finalize.
 */
#ifndef MRMA_ENGINE_ENGINE_H
#define MRMA_ENGINE_ENGINE_H

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
struct malloc_calls;
struct trace;

/* What an engine is told of its process. */
struct engine_process {
    bool threads;    /* several threads may call at once (MPI_THREAD_MULTIPLE) */
    bool membarrier; /* event_membarrier_register has succeeded (sys/futex_event.h) */
    int world_rank;  /* for messages */
    const struct malloc_calls *malloc_calls;  /* which blocks of malloc are shared
                                                (shm/malloc_calls.h); NULL: none are */
    void (*host_progress)(void);              /* rma_env.host_progress; NULL: there is no host */
    void (*say_call)(char *text, size_t len); /* rma_env.say_call; NULL: there is no program
                                                 above */
};

/* engine_create makes an engine with its segment, heaps and channel of shared memory; agent and
 * network come when a window needs them. conf, log and process are copied. Returns MRMA_SUCCESS and
 * *out, or MRMA_ERR_NO_MEM or MRMA_ERR_OTHER (logged). */
int engine_create(const struct conf *conf, const struct log *log,
                  const struct engine_process *process, struct engine **out);

/* engine_destroy stops the agent, which it waits for, lets what was sent over the network leave (a
 * second at most) and others come for what was sent through rings that they do not know yet (ten
 * seconds at most), and frees everything. Windows still alive are dropped without communication.
 * What MPI_Alloc_mem gave stays usable. No other thread uses the engine. */
void engine_destroy(struct engine *e);

/* engine_rma returns the RMA layer, which is part of the engine. */
struct rma *engine_rma(struct engine *e);

/* engine_user_heap returns the heap of MPI_Alloc_mem, which is part of the engine. */
struct heap *engine_user_heap(struct engine *e);

/* engine_log returns where messages go; part of the engine. */
const struct log *engine_log(struct engine *e);

/* engine_in_agent returns whether the calling thread is the agent, which no call of MPI waits for.
 */
bool engine_in_agent(const struct engine *e);

/* engine_conf returns the configuration, which is part of the engine. */
const struct conf *engine_conf(struct engine *e);

/* engine_trace makes the engine record events in tr (trace/record.h) from now on until it ends;
 * NULL: nowhere. Called before the first window. */
void engine_trace(struct engine *e, struct trace *tr);

/* What an engine counts, for MPIRMA_STATS: the one list of all counters. */
enum {
    ENGINE_COUNTER_WINDOWS, /* the first */
    ENGINE_COUNTERS = 51
};
extern const struct counter engine_counters[ENGINE_COUNTERS];

struct engine_counts {
    uint64_t values[ENGINE_COUNTERS];
    char routes[256];  /* of its targets: rma/create/route.h */
    char network[128]; /* provider, interface and address; "" if no network was opened */
};

/* engine_count stops the agent, so that nothing changes any more, and adds what the engine has
 * counted to *sum. No window is used after this call. */
void engine_count(struct engine *e, struct engine_counts *sum);

/* engine_alloc_begin is called when a call of MPI_Alloc_mem or MPI_Free_mem begins, and returns the
 * time, which engine_alloc_end takes. 0: nobody wants these counts. Any thread. */
uint64_t engine_alloc_begin(const struct engine *e);

/* engine_alloc_end counts what such a call has done: so many calls that allocated so many bytes,
 * and the time since began. Any thread. */
void engine_alloc_end(struct engine *e, uint64_t began, uint64_t calls, uint64_t bytes);

/* engine_fork_prepare is called before every fork of the process: from now on MPI_Alloc_mem waits
 * in other threads. */
void engine_fork_prepare(struct engine *e);

/* engine_fork_parent is called in the parent after the fork, or when no fork follows after all. */
void engine_fork_parent(struct engine *e);

/* engine_fork_child is called in the child. From then on the child has copies of MPI_Alloc_mem's
 * memory, and does not answer for the parent on the network. */
void engine_fork_child(struct engine *e);

#endif
