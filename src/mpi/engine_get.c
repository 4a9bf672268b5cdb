/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_get.c - creates the engine at the first window or MPI_Alloc_mem.
 *
 * A mutex guards creation and end; the phase is published with release after the
 * state is complete, so the usual question is one load. A failed creation leaves
 * no trace: the next call tries again and reports again. After engine_end a later
 * session may have an engine again.
 */
#include "mpi/engine_get.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/err.h"
#include "engine.h"
#include "mpi/environment.h"
#include "mpi/errhan.h"
#include "mpi/fork.h"
#include "mpi/host_check.h"
#include "mpi/host_poll.h"
#include "mpi/light.h"
#include "mpi/self.h"
#include "mpi/stats.h"
#include "mpi/traced.h"
#include "mpi/win_table.h"
#include "rma/fast.h"

enum phase { PHASE_NEW, PHASE_DISABLED, PHASE_READY };

struct mpi_state mpi_state;

static _Atomic int phase = PHASE_NEW;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct log early; /* for messages while there is no engine */

static int world_rank(void)
{
    int up = 0, rank = 0;

    PMPI_Initialized(&up);
    if (up)
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* Called with the lock. */
static void early_log_init(void)
{
    char prefix[32];

    if (early.prefix[0] != '\0')
        return;
    snprintf(prefix, sizeof prefix, "libmpi-rma[%d]", world_rank());
    log_init(&early, LOG_LEVEL_ERROR, 2, prefix);
    early.hold = error_hold;
}

const struct log *engine_messages(void)
{
    if (likely(atomic_load_explicit(&phase, memory_order_acquire) == PHASE_READY))
        return engine_log(mpi_state.engine);
    pthread_mutex_lock(&lock);
    early_log_init();
    pthread_mutex_unlock(&lock);
    return &early;
}

/* Called with the lock, in PHASE_NEW. Creates everything or nothing. */
static int engine_make(const struct conf *conf, char *msg, size_t len)
{
    struct mpi_state made = {.rma = NULL};
    int level = MPI_THREAD_SINGLE, err;
    struct log log = early;

    PMPI_Query_thread(&level);
    made.threads = level == MPI_THREAD_MULTIPLE;
    made.polls = conf->progress == CONF_PROGRESS_POLL;
    log.level = conf->log_level;
    const struct engine_process process = {
        .threads = made.threads, .light = light_registered(), .world_rank = world_rank()};
    err = engine_create(conf, &log, &process, &made.engine);
    if (err != MRMA_SUCCESS) {
        snprintf(msg, len, "the engine could not be created");
        return err;
    }
    err = self_make(&made.self);
    if (err != MRMA_SUCCESS) {
        snprintf(msg, len, "the host refused a communicator of this process alone");
        engine_destroy(made.engine);
        return err;
    }
    err = dtype_cache_create(engine_log(made.engine), made.self, &made.types);
    if (err != MRMA_SUCCESS) {
        snprintf(msg, len, "the host refused what the datatype cache needs");
        self_free(&made.self);
        engine_destroy(made.engine);
        return err;
    }
    engine_trace(made.engine, mpi_trace);
    traced_session(conf, &log);
    made.rma = engine_rma(made.engine);
    made.heap = engine_user_heap(made.engine);
    mpi_state = made;
    fork_watch(made.engine);
    return MRMA_SUCCESS;
}

/* Out of PHASE_NEW if possible; the lock is held. */
static int engine_begin(bool wanted, char *msg, size_t len)
{
    struct conf conf;
    int err;

    host_check(); /* where MPI was initialised before this library was loaded */
    err = conf_load(&conf, getenv, msg, len);
    if (wanted) { /* whoever started the program shall know, also if it handles errors */
        early_log_init();
        environment_tell(&early, world_rank() == 0);
    }
    if (err != MRMA_SUCCESS) {
        const size_t name = strcspn(msg, "=");

        if (name < len)
            snprintf(msg + name, len - name, " has a value that is not understood");
        return err;
    }
    if (conf.disable) {
        atomic_store_explicit(&phase, PHASE_DISABLED, memory_order_release);
        return MRMA_SUCCESS;
    }
    if (!wanted)
        return MRMA_SUCCESS;
    err = engine_make(&conf, msg, len);
    if (err == MRMA_SUCCESS) /* pairs with the loads in engine_get and engine_messages */
        atomic_store_explicit(&phase, PHASE_READY, memory_order_release);
    return err;
}

bool engine_disabled(void)
{
    int now = atomic_load_explicit(&phase, memory_order_acquire);
    char msg[2];

    if (likely(now != PHASE_NEW))
        return now == PHASE_DISABLED;
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&phase, memory_order_relaxed) == PHASE_NEW)
        engine_begin(false, msg, sizeof msg); /* nonsense values are for engine_get to report */
    now = atomic_load_explicit(&phase, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return now == PHASE_DISABLED;
}

int engine_get(char *msg, size_t len)
{
    int err = MRMA_SUCCESS;

    if (likely(atomic_load_explicit(&phase, memory_order_acquire) == PHASE_READY))
        return MRMA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&phase, memory_order_relaxed) == PHASE_NEW)
        err = engine_begin(true, msg, len);
    pthread_mutex_unlock(&lock);
    return err;
}

void engine_end(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&phase, memory_order_relaxed) == PHASE_READY) {
        early = *engine_log(mpi_state.engine);
        fork_watch(NULL);
        host_poll_end();
        win_table_end();
        dtype_cache_destroy(mpi_state.types);
        stats_take(mpi_state.engine);
        self_free(&mpi_state.self);
        engine_destroy(mpi_state.engine);
        mpi_state = (struct mpi_state){.rma = NULL};
        atomic_store_explicit(&phase, PHASE_NEW, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}
