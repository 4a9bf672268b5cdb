/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_pool.h - the handles of requests of R-operations (MPI 4.1, 12.3.5).
 *
 * Such a handle is a persistent receive of the host from MPI_PROC_NULL that is never started. The
 * host's functions leave an inactive request alone, wherever it stands among others (MPI 4.1,
 * 3.7.5), and its conversions to and from Fortran know it. What it stands for the library alone
 * knows, which finds it by its handle. When the application has waited for it the handle serves
 * another operation; the host makes as many as are in use at once, and has them back when the
 * engine ends.
 *
 * One of them stands for every operation that was complete when its call returned, where nobody
 * wants to tell these apart.
 */
#ifndef MRMA_MPI_REQUESTS_REQUEST_POOL_H
#define MRMA_MPI_REQUESTS_REQUEST_POOL_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "mpi/host/export.h"
#include "mpi/process/win_table.h"
#include "rma/rma.h"

/* What an operation with a request was, for the message of an error that only comes to light when
 * the request completes. */
struct request_op {
    const char *kind; /* "a put", as messages name it */
    int target;
    int64_t disp;   /* as the program gave it */
    uint64_t bytes; /* at the target */
};

struct mpi_request {
    struct rma_req req;                  /* what src/rma completes */
    struct request_op op;                /* its operation, unless it was complete at once */
    _Atomic bool ended;                  /* it is complete, and its call may be told */
    bool shared;                         /* stands for any operation that was complete at once */
    MPI_Request handle;                  /* the host's */
    const char *func;                    /* that made it, for messages */
    _Atomic(const struct win_rec *) rec; /* NULL: it is unused, or its window is gone */
    struct mpi_request *next;            /* on the list of unused ones */
    struct mpi_request *made;            /* on the list of all */
};

/* Open addressing. Nothing is taken out, so a look-up needs no lock: a key is the last thing that
 * is written into its slot, and a table is complete before it is found. */
struct request_table {
    struct request_table *older; /* may still be read */
    unsigned shift;              /* 64 less the number of bits of an index */
    struct request_slot {
        _Atomic uintptr_t key; /* 0: free */
        struct mpi_request *request;
    } slots[];
};

extern MRMA_HIDDEN _Atomic(struct request_table *) request_table; /* NULL: there were none */

/* How much there is for which a call of the Wait or Test family has to make progress. */
extern MRMA_HIDDEN _Atomic unsigned request_npending;

/* request_pending returns whether there is any of it: an R-operation is not complete, as far as
 * this process knows, one has left something unsent, or a request for notifications is active. Any
 * thread. */
static inline bool request_pending(void)
{
    return unlikely(atomic_load_explicit(&request_npending, memory_order_relaxed) != 0);
}

/* request_pool_take returns an unused request, which has ended without an error; NULL: there is no
 * memory, or the host refuses one. Any thread. */
struct mpi_request *request_pool_take(void);

/* request_pool_give makes r unused. Any thread. */
void request_pool_give(struct mpi_request *r);

/* request_pool_shared returns the one that stands for what was complete at once. After
 * request_pool_take has returned one. */
struct mpi_request *request_pool_shared(void);

/* The request of request_pool_shared, where it is used; else NULL. */
extern MRMA_HIDDEN _Atomic(struct mpi_request *) request_common;

/* request_pool_use_shared sets request_common to that request, if there is one and use is true,
 * else to NULL. Any thread. */
void request_pool_use_shared(bool use);

/* request_pool_orphan takes the window of rec, which goes away, out of all requests. */
void request_pool_orphan(const struct win_rec *rec);

/* request_pool_end gives all handles back to the host. No other thread uses requests. */
void request_pool_end(void);

/* request_slot_of returns the index at which the look-up of key begins. */
static inline size_t request_slot_of(const struct request_table *table, uintptr_t key)
{
    return (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> table->shift);
}

/* request_find_in is request_find where there is a table. */
static inline struct mpi_request *request_find_in(const struct request_table *table,
                                                  MPI_Request handle)
{
    const uintptr_t key = (uintptr_t)handle;
    const size_t mask = ((size_t)1 << (64 - table->shift)) - 1;

    for (size_t i = request_slot_of(table, key);; i = (i + 1) & mask) {
        /* Pairs with put of request_pool.c. */
        const uintptr_t found = atomic_load_explicit(&table->slots[i].key, memory_order_acquire);
        if (found == key)
            return table->slots[i].request;
        if (found == 0)
            return NULL;
    }
}

/* requests_made returns whether there has been a request of an R-operation. Any thread. */
static inline bool requests_made(void)
{
    return unlikely(atomic_load_explicit(&request_table, memory_order_relaxed) != NULL);
}

/* request_find returns the request of an R-operation that has this handle; NULL: it is another one,
 * or MPI_REQUEST_NULL. Any thread, without a lock. */
static inline struct mpi_request *request_find(MPI_Request handle)
{
    /* Pairs with grow of request_pool.c. */
    const struct request_table *table = atomic_load_explicit(&request_table, memory_order_acquire);

    return likely(table == NULL) ? NULL : request_find_in(table, handle);
}

/* request_ended returns whether the operation of r is complete: what it has written is seen then.
 * (acquire; pairs with request_advance) */
static inline bool request_ended(struct mpi_request *r)
{
    return atomic_load_explicit(&r->ended, memory_order_acquire);
}

/* request_refuse is for a call that is erroneous for R-operations, with the request r: MPI 4.1,
 * 12.3.5. Returns what the call, func, returns. r stays as it is. */
int request_refuse(const char *func, const struct mpi_request *r) __attribute__((cold));

#endif
