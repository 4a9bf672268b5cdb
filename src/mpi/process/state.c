/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state.c - the phases of the process-wide state.
 *
 * The phase is published with release after the state is complete, so the usual question is one
 * load. One thread at a time makes or ends the state, and a thread that needs the state meanwhile
 * waits on a condition. The mutex is not held meanwhile: making the state calls the host, which may
 * let a thread wait, and a thread that only asks whether the library is switched off must not wait
 * for that. A failed attempt leaves nothing behind: the next call tries again and reports again.
 * After the end a later session may have an engine again. calls/engine_get.c makes and ends an
 * engine: it needs every room, while every room may ask for the state.
 *
 * Neighbours: calls/engine_get.c; tell_environment.c, which tells of wrong variables; error_held.c,
 * which holds the first messages, too; mpi_state.c, the state itself.
 */
#include "mpi/process/state.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/conf.h"
#include "base/err.h"
#include "engine/engine.h"
#include "mpi/host/host_check.h"
#include "mpi/host/process_model.h"
#include "mpi/process/tell_environment.h"
#include "mpi/process/error_held.h"

enum phase { PHASE_NEW, PHASE_DISABLED, PHASE_READY };

static _Atomic int phase = PHASE_NEW;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* around what follows */
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;   /* busy is false */
static bool busy;        /* a thread makes or ends the state, without the lock */
static struct log early; /* for messages while there is no engine */

int world_rank(void)
{
    int rank = 0;

    if (world_in_use())
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

struct dtype_cache *state_types(void)
{
    /* pairs with the store in leave_new */
    return atomic_load_explicit(&phase, memory_order_acquire) == PHASE_READY ? mpi_state.types
                                                                             : NULL;
}

/* Called with the lock. */
static void take_turn(void)
{
    while (busy)
        pthread_cond_wait(&turn, &lock);
}

/* Called with the lock, which it gives back while make runs. */
static int make_state(state_maker *make, const struct conf *conf, char *msg, size_t len)
{
    struct mpi_state made = {.rma = NULL};
    int err;

    busy = true;
    pthread_mutex_unlock(&lock);
    err = make(conf, &early, &made, msg, len);
    pthread_mutex_lock(&lock);
    busy = false;
    pthread_cond_broadcast(&turn);
    if (err == MRMA_SUCCESS) {
        mpi_state = made;
        /* pairs with the loads in state_make, state_types and engine_messages */
        atomic_store_explicit(&phase, PHASE_READY, memory_order_release);
    }
    return err;
}

/* leave_new leaves PHASE_NEW if possible. The lock is held, and nobody is making the state. If make
 * is NULL it only looks at the variables. */
static int leave_new(state_maker *make, char *msg, size_t len)
{
    struct conf conf;
    int err;

    host_check(); /* where MPI was initialised before this library was loaded */
    err = conf_load(&conf, getenv, msg, len);
    if (make != NULL) { /* the user must learn of this even if the program handles errors */
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
    return make == NULL ? MRMA_SUCCESS : make_state(make, &conf, msg, len);
}

bool engine_disabled(void)
{
    int now = atomic_load_explicit(&phase, memory_order_acquire);
    char msg[2];

    if (likely(now != PHASE_NEW))
        return now == PHASE_DISABLED;
    pthread_mutex_lock(&lock);
    if (!busy && atomic_load_explicit(&phase, memory_order_relaxed) == PHASE_NEW)
        leave_new(NULL, msg, sizeof msg); /* state_make reports values that make no sense */
    now = atomic_load_explicit(&phase, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return now == PHASE_DISABLED;
}

int state_make(state_maker *make, char *msg, size_t len)
{
    int err = MRMA_SUCCESS;

    if (likely(atomic_load_explicit(&phase, memory_order_acquire) == PHASE_READY))
        return MRMA_SUCCESS;
    pthread_mutex_lock(&lock);
    take_turn();
    if (atomic_load_explicit(&phase, memory_order_relaxed) == PHASE_NEW)
        err = leave_new(make, msg, len);
    pthread_mutex_unlock(&lock);
    return err;
}

void state_unmake(void (*end)(void))
{
    pthread_mutex_lock(&lock);
    take_turn();
    if (atomic_load_explicit(&phase, memory_order_relaxed) == PHASE_READY) {
        early = *engine_log(mpi_state.engine);
        busy = true;
        pthread_mutex_unlock(&lock);
        end();
        pthread_mutex_lock(&lock);
        busy = false;
        pthread_cond_broadcast(&turn);
        mpi_state = (struct mpi_state){.rma = NULL};
        atomic_store_explicit(&phase, PHASE_NEW, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}
