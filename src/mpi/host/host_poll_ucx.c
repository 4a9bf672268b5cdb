/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_poll_ucx.c - see host_poll_ucx.h.
 *
 * ucp_worker_progress has had one form since UCX 1.0: a worker, whose structure nobody but UCX
 * knows, and the number of events as a result. Others in the process who use UCX come here, too,
 * and get what UCX does. A library that was loaded for itself with UCX below it has UCX's function,
 * and then nothing is polled there.
 *
 * The caller may hold locks of MPICH. So the poll neither calls MPI nor waits for a lock: it tries
 * the engine's, as rma_host_poll_network does. A provider of libfabric that is made on UCX would
 * come here from within the poll: busy keeps it out, as it does other threads.
 *
 * A thread that ends the polling may go on to destroy the engine:
 *
 *   thread that ends                       thread in a call of MPICH
 *   A: polls = false                       C: busy = true
 *   B: busy is false? go on                D: polls? poll the engine
 *                                          E: busy = false (release)
 *
 * A to D are in the one order of sequentially consistent operations. If D comes before A, then C
 * comes before B, and B waits until it reads E, behind the poll. If D comes behind A, it does
 * not touch the engine.
 *
 * Neighbours: host_poll.c, whose lock is around begin and end; host_kind.c; rma.h.
 */
#include "mpi/host/host_poll_ucx.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "mpi/host/export.h"
#include "rma/rma.h"

#define NAME "ucp_worker_progress"
#define LIBRARY "libucp.so.0"

typedef unsigned progress_fn(void *worker);

static _Atomic(progress_fn *) ucx; /* UCX's function; NULL: not looked up yet */
static _Atomic bool polls;
static _Atomic bool busy;  /* a thread is in poll_network */
static struct rma *polled; /* written before polls becomes true, while it is false */

/* The next one of the process, else that of a library that was loaded for itself. */
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

static void poll_network(void)
{
    if (atomic_exchange_explicit(&busy, true, memory_order_seq_cst)) /* C */
        return;                                                      /* another thread polls */
    if (atomic_load_explicit(&polls, memory_order_seq_cst))          /* D */
        (void)rma_host_poll_network(polled);
    atomic_store_explicit(&busy, false, memory_order_release); /* E */
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
        poll_network();
    return fn(worker);
}

void host_poll_ucx_begin(struct rma *rma)
{
    if (atomic_load_explicit(&polls, memory_order_relaxed))
        return;
    polled = rma;
    atomic_store_explicit(&polls, true, memory_order_seq_cst); /* pairs with D, which sees polled */
}

void host_poll_ucx_end(void)
{
    atomic_store_explicit(&polls, false, memory_order_seq_cst); /* A */
    while (atomic_load_explicit(&busy, memory_order_seq_cst))   /* B */
        sched_yield();
}
