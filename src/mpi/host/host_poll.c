/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll.c - see host_poll.h.
 *
 * opal_progress_register and opal_progress_unregister are exported by Open MPI 4.1 and 5.0 and take
 * a function without arguments that returns how many events it has handled. They are looked up at
 * run time: nothing depends on a host that has them. The registered function never calls MPI and
 * never blocks (rma_host_poll).
 *
 * Neighbours: rma.h, whose poll is called; host_kind.c; host_poll_mpich.c, host_poll_ucx.c; win.c,
 * init.c, session.c and engine_get.c, which tell of windows and ends.
 */
#include "mpi/host/host_poll.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/log.h"
#include "mpi/host/host_kind.h"
#include "mpi/host/host_poll_mpich.h"
#include "mpi/host/host_poll_ucx.h"
#include "rma/rma.h"

typedef int (*poll_fn)(void);
typedef int (*register_fn)(poll_fn);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* around all that follows */
static uint64_t windows;                                 /* not freed */
static bool closed;                                      /* the host may be about to end */
static bool refusal_told;                                /* once for an engine, not each window */
static _Atomic(struct rma *) polled; /* by Open MPI; NULL: not registered. Written with the lock */

static int poll_engine(void)
{
    struct rma *rma =
        atomic_load_explicit(&polled, memory_order_acquire); /* pairs with openmpi_begin */

    return rma != NULL && rma_host_poll(rma);
}

/* C has no conversion from an object to a function pointer. */
static register_fn find(const char *name)
{
    register_fn fn = NULL;

    *(void **)&fn = dlsym(RTLD_DEFAULT, name);
    return fn;
}

static int openmpi_begin(struct rma *rma)
{
    if (atomic_load_explicit(&polled, memory_order_relaxed) != NULL)
        return 0;
    atomic_store_explicit(&polled, rma, memory_order_release);
    const int err = find("opal_progress_register")(poll_engine);
    if (err)
        atomic_store_explicit(&polled, NULL, memory_order_relaxed);
    return err;
}

static void openmpi_end(void)
{
    if (atomic_load_explicit(&polled, memory_order_relaxed) == NULL)
        return;
    (void)find("opal_progress_unregister")(poll_engine);
    atomic_store_explicit(&polled, NULL, memory_order_relaxed);
}

/* begin returns 0 or the host's error. */
static int begin(struct rma *rma, bool threads)
{
    switch (host_joins()) {
    case HOST_JOIN_BY_OPAL:
        return openmpi_begin(rma);
    case HOST_JOIN_BY_ASYNC:
        return closed ? 0 : host_poll_mpich_begin(rma, threads);
    case HOST_JOIN_BY_UCX:
    case HOST_JOIN_NOT: /* UCX may have come with a host that was loaded by dlopen; if nobody calls
                           it, nothing is polled */
        host_poll_ucx_begin(rma, threads);
    }
    return 0;
}

void host_poll_window_made(struct rma *rma, bool threads, const struct log *log)
{
    pthread_mutex_lock(&lock);
    windows++;
    if (rma_uses_packets(rma)) {
        const int err = begin(rma, threads);
        if (err && !refusal_told)
            log_msg(log, LOG_LEVEL_WARN,
                    "the host does not poll for this library (its error %d): a process that waits "
                    "in a call of the host is served by its agent thread, which is woken for that",
                    err);
        refusal_told |= err != 0;
    }
    pthread_mutex_unlock(&lock);
}

void host_poll_window_freed(void)
{
    pthread_mutex_lock(&lock);
    if (--windows == 0) {
        host_poll_mpich_end();
        host_poll_ucx_end();
    }
    pthread_mutex_unlock(&lock);
}

void host_poll_end(void)
{
    pthread_mutex_lock(&lock);
    windows = 0; /* windows that were not freed are gone, too */
    refusal_told = false;
    openmpi_end();
    host_poll_mpich_end();
    host_poll_ucx_end();
    pthread_mutex_unlock(&lock);
}

void host_poll_close(void)
{
    pthread_mutex_lock(&lock);
    closed = true;
    host_poll_mpich_end();
    pthread_mutex_unlock(&lock);
}

void host_poll_open(void)
{
    pthread_mutex_lock(&lock);
    closed = false;
    pthread_mutex_unlock(&lock);
}
