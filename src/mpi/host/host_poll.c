/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll.c - see host_poll.h.
 *
 * The functions are looked up at run time: nothing depends on a host that has them. What is
 * registered never calls MPI and never blocks (rma_host_poll).
 *
 * Open MPI 4.1 to 6.0 export opal_progress_register and opal_progress_unregister, which take a
 * function without arguments that returns how many events it has handled.
 *
 * MPICH's PMPIX_Async_start takes a function that the host calls in its progress until it returns
 * ASYNC_DONE; nothing takes it back, and MPI_Finalize begins with waiting for that. So the end of
 * the engine, or of MPI, only asks it to be done the next time, and an engine that begins before
 * that keeps it:
 *
 *   ASYNC_OFF -- begin: start --> ASYNC_ON -- end --> ASYNC_ENDING -- the host calls --> ASYNC_OFF
 *                                     ^--------- begin -------'
 *
 * MPICH may have a progress thread of its own (MPIR_CVAR_ASYNC_PROGRESS), which calls the function
 * too, at any time. A thread that has not registered it polls only where several threads may be in
 * calls of the host, and is counted meanwhile, so that the engine does not end under it.
 *
 *   thread of the host                       host_poll_end
 *   A: visitors += 1 (seq_cst)               C: polled = NULL (seq_cst)
 *   B: polled (seq_cst): NULL? leave         D: visitors (seq_cst): wait until there is none
 *
 * The four are in one total order: B sees C, or D sees A.
 *
 * Neighbours: rma.h, whose poll is called; host_kind.c; win.c and engine_get.c, which register it
 * and take it back.
 */
#include "mpi/host/host_poll.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#include "base/atomic.h"
#include "mpi/host/host_kind.h"
#include "rma/rma.h"

typedef int (*poll_fn)(void);
typedef int (*register_fn)(poll_fn);

/* As mpi.h of MPICH has them from 4.3 on. */
typedef int (*async_fn)(void *thing);
typedef int (*async_start_fn)(async_fn, void *state, int stream);
enum { ASYNC_NOPROGRESS = 0, ASYNC_DONE = 1, STREAM_NULL = 0x3c000000 };

enum { ASYNC_OFF, ASYNC_ON, ASYNC_ENDING };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* around begin and end, and for paused */
static bool paused;
static _Atomic(struct rma *) polled; /* NULL: not registered */
static _Atomic int async = ASYNC_OFF;
static _Atomic int visitors;
static _Atomic bool visits; /* threads but poller may poll */
static pthread_t poller;    /* who has registered; written before async is ASYNC_ON */

static int poll_engine(void)
{
    struct rma *rma =
        atomic_load_explicit(&polled, memory_order_acquire); /* pairs with host_poll_begin */

    return rma != NULL && rma_host_poll(rma);
}

static void visit(void)
{
    struct rma *rma;

    if (!atomic_load_explicit(&visits, memory_order_relaxed))
        return;
    atomic_fetch_add_explicit(&visitors, 1, memory_order_seq_cst); /* A */
    rma = atomic_load_explicit(&polled, memory_order_seq_cst);     /* B */
    if (rma != NULL)
        (void)rma_host_poll(rma);
    atomic_fetch_sub_explicit(&visitors, 1, memory_order_release);
}

static int poll_async(void *thing)
{
    int now = atomic_load_explicit(&async, memory_order_acquire); /* pairs with begin_async */

    (void)thing;
    if (now == ASYNC_ENDING &&
        atomic_compare_exchange_strong_explicit(&async, &now, ASYNC_OFF, memory_order_acq_rel,
                                                memory_order_relaxed))
        return ASYNC_DONE;
    if (pthread_equal(poller, pthread_self()))
        (void)poll_engine();
    else
        visit();
    return ASYNC_NOPROGRESS;
}

/* C has no conversion from an object to a function pointer. */
static register_fn find(const char *name)
{
    register_fn fn = NULL;

    *(void **)&fn = dlsym(RTLD_DEFAULT, name);
    return fn;
}

static async_start_fn find_async(void)
{
    async_start_fn fn = NULL;

    *(void **)&fn = dlsym(RTLD_DEFAULT, host_way_in_name(HOST_ASYNC_START));
    return fn;
}

/* Returns whether the host calls poll_async from now on. */
static bool begin_async(bool threads)
{
    int ending = ASYNC_ENDING;

    atomic_store_explicit(&visits, threads, memory_order_relaxed);
    if (atomic_compare_exchange_strong_explicit(&async, &ending, ASYNC_ON, memory_order_acq_rel,
                                                memory_order_relaxed))
        return true;
    poller = pthread_self();
    atomic_store_explicit(&async, ASYNC_ON, memory_order_release); /* pairs with poll_async */
    if (find_async()(poll_async, NULL, STREAM_NULL) == MPI_SUCCESS)
        return true;
    atomic_store_explicit(&async, ASYNC_OFF, memory_order_relaxed);
    return false;
}

static bool begin(bool threads)
{
    const enum host_way_in way = host_way_in();

    switch (way) {
    case HOST_PROGRESS_LIST:
        return find(host_way_in_name(way))(poll_engine) == 0;
    case HOST_ASYNC_START:
        return begin_async(threads);
    case HOST_NO_WAY_IN:
        break;
    }
    return false;
}

void host_poll_begin(struct rma *rma, bool threads)
{
    if (likely(atomic_load_explicit(&polled, memory_order_relaxed) != NULL))
        return;
    pthread_mutex_lock(&lock);
    if (!paused && atomic_load_explicit(&polled, memory_order_relaxed) == NULL) {
        atomic_store_explicit(&polled, rma, memory_order_release);
        if (!begin(threads))
            atomic_store_explicit(&polled, NULL, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
}

static void end_locked(void)
{
    if (atomic_load_explicit(&polled, memory_order_relaxed) == NULL)
        return;
    if (host_way_in() == HOST_PROGRESS_LIST)
        (void)find("opal_progress_unregister")(poll_engine);
    else
        atomic_store_explicit(&async, ASYNC_ENDING, memory_order_release);
    atomic_store_explicit(&polled, NULL, memory_order_seq_cst);        /* C */
    while (atomic_load_explicit(&visitors, memory_order_seq_cst) != 0) /* D */
        sched_yield();
}

void host_poll_end(void)
{
    pthread_mutex_lock(&lock);
    end_locked();
    pthread_mutex_unlock(&lock);
}

void host_poll_pause(void)
{
    pthread_mutex_lock(&lock);
    paused = true;
    end_locked();
    pthread_mutex_unlock(&lock);
}

void host_poll_resume(void)
{
    pthread_mutex_lock(&lock);
    paused = false;
    pthread_mutex_unlock(&lock);
}
