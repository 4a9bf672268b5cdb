/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll.c - see host_poll.h.
 *
 * opal_progress_register and opal_progress_unregister are exported by Open MPI 4.1 and 5.0 and take
 * a function without arguments that returns how many events it has handled. They are looked up at
 * run time: nothing depends on a host that has them. The registered function never calls MPI and
 * never blocks (rma_host_poll).
 *
 * Neighbours: rma.h, whose poll is called; host_kind.c; win.c and engine_get.c, which register it
 * and take it back.
 */
#include "mpi/host/host_poll.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "base/atomic.h"
#include "mpi/host/host_kind.h"
#include "rma/rma.h"

typedef int (*poll_fn)(void);
typedef int (*register_fn)(poll_fn);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* around begin and end */
static _Atomic(struct rma *) polled;                     /* NULL: not registered */

static int poll_engine(void)
{
    struct rma *rma =
        atomic_load_explicit(&polled, memory_order_acquire); /* pairs with host_poll_begin */

    return rma != NULL && rma_host_poll(rma);
}

/* C has no conversion from an object to a function pointer. */
static register_fn find(const char *name)
{
    register_fn fn = NULL;

    *(void **)&fn = dlsym(RTLD_DEFAULT, name);
    return fn;
}

void host_poll_begin(struct rma *rma)
{
    register_fn enter;

    if (likely(atomic_load_explicit(&polled, memory_order_relaxed) != NULL))
        return;
    pthread_mutex_lock(&lock);
    enter = find("opal_progress_register");
    if (atomic_load_explicit(&polled, memory_order_relaxed) == NULL && host_lets_poll()) {
        atomic_store_explicit(&polled, rma, memory_order_release);
        if (enter(poll_engine) != 0)
            atomic_store_explicit(&polled, NULL, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
}

void host_poll_end(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&polled, memory_order_relaxed) != NULL) {
        (void)find("opal_progress_unregister")(poll_engine);
        atomic_store_explicit(&polled, NULL, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
}
