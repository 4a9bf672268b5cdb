/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_get.c - makes the engine at the first window or MPI_Alloc_mem, and ends it.
 *
 * One thread at a time does either (process/state.c). No lock is held meanwhile, since calls of the
 * host may wait for call-backs of the user that are running and, on Open MPI, in a program that
 * comes here without self_make_ahead (own_comm.h), for other threads.
 *
 * Neighbours: engine.h, what is made; init.c and session.c, which end it.
 */
#include "mpi/calls/engine_get.h"

#include <stdio.h>

#include "base/conf.h"
#include "base/err.h"
#include "engine/engine.h"
#include "mpi/host/host_poll.h"
#include "mpi/host/host_progress.h"
#include "mpi/process/call_site.h"
#include "mpi/calls/share_malloc.h"
#include "mpi/host/own_comm.h"
#include "mpi/process/fork.h"
#include "mpi/process/membarrier.h"
#include "mpi/process/state.h"
#include "mpi/process/print_stats.h"
#include "mpi/process/win_table.h"
#include "mpi/requests/request_pool.h"
#include "mpi/traced/traced.h"
#include "rma/layer/fast.h"

/* use_host makes everything that needs calls of the host, or nothing. */
static int use_host(struct mpi_state *made, char *msg, size_t len)
{
    int err = host_progress_begin();

    if (err != MRMA_SUCCESS) {
        snprintf(msg, len, "the host refused a generalized request");
        return err;
    }
    err = self_make(&made->self);
    if (err != MRMA_SUCCESS) {
        snprintf(msg, len, "the host refused communicators of this process alone");
        host_progress_end();
        return err;
    }
    err = dtype_cache_create(engine_log(made->engine), made->self.types, &made->types);
    if (err != MRMA_SUCCESS) {
        snprintf(msg, len, "the host refused what the datatype cache needs");
        self_free(&made->self);
        host_progress_end();
    }
    return err;
}

/* engine_make is a state_maker: it creates everything or nothing. */
static int engine_make(const struct conf *conf, const struct log *messages, struct mpi_state *made,
                       char *msg, size_t len)
{
    int level = MPI_THREAD_SINGLE, err;
    struct log log = *messages;

    PMPI_Query_thread(&level);
    made->threads = level == MPI_THREAD_MULTIPLE;
    made->any_thread = level >= MPI_THREAD_SERIALIZED;
    made->polls = conf->progress == CONF_PROGRESS_POLL;
    log.level = conf->log_level;
    const struct engine_process process = {.threads = made->threads,
                                           .membarrier = membarrier_registered(),
                                           .world_rank = world_rank(),
                                           .malloc_calls =
                                               share_malloc_calls(conf, &log, world_rank() == 0),
                                           .host_progress = host_progress,
                                           .say_call = call_site_say_call};
    err = engine_create(conf, &log, &process, &made->engine);
    if (err != MRMA_SUCCESS) {
        snprintf(msg, len, "the engine could not be created");
        return err;
    }
    err = use_host(made, msg, len);
    if (err != MRMA_SUCCESS) {
        engine_destroy(made->engine);
        return err;
    }
    engine_trace(made->engine, mpi_trace);
    traced_session(conf, &log);
    made->rma = engine_rma(made->engine);
    made->heap = engine_user_heap(made->engine);
    fork_watch(made->engine);
    return MRMA_SUCCESS;
}

int engine_get(char *msg, size_t len)
{
    return state_make(engine_make, msg, len);
}

static void engine_unmake(void)
{
    fork_watch(NULL);
    host_poll_end();
    win_table_end();
    dtype_cache_destroy(mpi_state.types);
    stats_take(mpi_state.engine);
    request_pool_end();
    self_free(&mpi_state.self);
    host_progress_end();
    engine_destroy(mpi_state.engine);
}

void engine_end(void)
{
    state_unmake(engine_unmake);
    self_end();
}
