/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll_ucx.c - see host_poll_ucx.h.
 *
 * ucp_worker_progress has had one form since UCX 1.0: its argument is a worker, whose structure
 * only UCX knows, and its result the number of events. Other users of UCX in the process come here,
 * too, and get what UCX's function does. If the host was loaded by dlopen without RTLD_GLOBAL, and
 * libmpi-rma was not preloaded, the host calls UCX directly, and nothing is polled.
 *
 * host_poll_gate.h says which thread may poll, and how the end waits for it; the word that says
 * whether to poll is polls. A provider of libfabric that is made on UCX would come here from within
 * the poll: the gate keeps it out.
 *
 * Neighbours: host_poll.c, whose lock is around begin and end; host_kind.c; rma.h.
 */
#include "mpi/host/host_poll_ucx.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "mpi/host/export.h"
#include "mpi/host/host_poll_gate.h"
#include "rma/rma.h"

#define NAME "ucp_worker_progress"
#define LIBRARY "libucp.so.0"

typedef unsigned progress_fn(void *worker);

static _Atomic(progress_fn *) ucx; /* UCX's function; NULL: not looked up yet */
static _Atomic bool polls;
static struct host_poll_gate gate;
static struct rma *polled; /* written before polls becomes true, while it is false */

/* find_ucx returns the next definition in the process's global scope; else that of a libucp that
 * came with dlopen, which then stays loaded. */
static progress_fn *find_ucx(void)
{
    progress_fn *fn = NULL;
    void *library;

    *(void **)&fn = dlsym(RTLD_NEXT, NAME);
    if (fn == NULL && (library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD)) != NULL)
        *(void **)&fn = dlsym(library, NAME);
    atomic_store_explicit(&ucx, fn, memory_order_relaxed);
    return fn;
}

static void poll_engine(void)
{
    if (!host_poll_gate_enter(&gate)) /* another thread polls */
        return;
    if (atomic_load_explicit(&polls, memory_order_seq_cst)) /* D */
        (void)rma_host_poll(polled);
    host_poll_gate_leave(&gate);
}

/* Open MPI lets the library in by itself. */
#ifdef HOST_OPENMPI
#define SHOWN MRMA_HIDDEN
#else
#define SHOWN MRMA_PUBLIC
#endif

SHOWN unsigned ucp_worker_progress(void *worker);
SHOWN unsigned ucp_worker_progress(void *worker)
{
    progress_fn *fn = atomic_load_explicit(&ucx, memory_order_relaxed);

    if (unlikely(fn == NULL) && (fn = find_ucx()) == NULL) {
        fprintf(stderr, "libmpi-rma: " NAME " was called, and there is no UCX in the process\n");
        abort();
    }
    if (atomic_load_explicit(&polls, memory_order_relaxed))
        poll_engine();
    return fn(worker);
}

void host_poll_ucx_begin(struct rma *rma, bool threads)
{
    if (atomic_load_explicit(&polls, memory_order_relaxed))
        return;
    polled = rma;
    host_poll_gate_own(&gate, threads);
    atomic_store_explicit(&polls, true, memory_order_seq_cst); /* pairs with D, which sees polled */
}

void host_poll_ucx_end(void)
{
    atomic_store_explicit(&polls, false, memory_order_seq_cst); /* A */
    host_poll_gate_wait(&gate);
}
