/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_pool.c - see request_pool.h.
 *
 * Locks: one around the lists and what changes the table, not held while calling the host. Where
 * the thread level lets one thread at a time into MPI, the list of unused ones needs none.
 *
 * Neighbours: request.c, the life of a request; calls/engine_get.c, which ends.
 */
#include "mpi/requests/request_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/fault.h"
#include "mpi/host/host.h"
#include "mpi/process/errhan.h"
#include "mpi/process/state.h"

enum { BITS_FIRST = 6, KEY_BITS = 64 };

_Atomic(struct request_table *) request_table;
_Atomic unsigned request_npending;
_Atomic(struct mpi_request *) request_common;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpi_request *unused, *all;
static size_t count; /* in the table */
static _Atomic(struct mpi_request *) shared;

static struct request_table *current(void)
{
    return atomic_load_explicit(&request_table, memory_order_relaxed);
}

static size_t slots_of(const struct request_table *table)
{
    return table == NULL ? 0 : (size_t)1 << (KEY_BITS - table->shift);
}

/* (release: who finds the key finds the request, with its handle; pairs with request_find_in) */
static void put(struct request_table *table, struct mpi_request *r)
{
    const uintptr_t key = (uintptr_t)r->handle;
    const size_t mask = slots_of(table) - 1;
    size_t i = request_slot_of(table, key);

    while (atomic_load_explicit(&table->slots[i].key, memory_order_relaxed) != 0)
        i = (i + 1) & mask;
    table->slots[i].request = r;
    atomic_store_explicit(&table->slots[i].key, key, memory_order_release);
}

/* Half of the slots at most are used, so that a look-up ends. Under the lock. False: no memory. */
static bool grow(void)
{
    struct request_table *old = current(), *table;
    const unsigned bits = old == NULL ? BITS_FIRST : KEY_BITS - old->shift + 1;

    if (2 * (count + 1) <= slots_of(old))
        return true;
    table = calloc(1, sizeof *table + ((size_t)1 << bits) * sizeof table->slots[0]);
    if (table == NULL)
        return false;
    table->older = old;
    table->shift = KEY_BITS - bits;
    for (struct mpi_request *r = all; r != NULL; r = r->made)
        put(table, r);
    atomic_store_explicit(&request_table, table,
                          memory_order_release); /* pairs with request_find */
    return true;
}

static bool enter(struct mpi_request *r)
{
    pthread_mutex_lock(&lock);
    const bool grown = grow();
    if (grown) {
        put(current(), r);
        r->made = all;
        all = r;
        count++;
    }
    pthread_mutex_unlock(&lock);
    return grown;
}

static struct mpi_request *make(void)
{
    struct mpi_request *r = calloc(1, sizeof *r);

    if (r == NULL)
        return NULL;
    atomic_init(&r->ended, true);
    if (PMPI_Recv_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, mpi_state.self.carriers, &r->handle) !=
        MPI_SUCCESS) {
        free(r);
        return NULL;
    }
    if (!enter(r)) {
        mpi_host.Request_free(&r->handle);
        free(r);
        return NULL;
    }
    return r;
}

static void lock_unused(void)
{
    if (mpi_state.threads)
        pthread_mutex_lock(&lock);
}

static void unlock_unused(void)
{
    if (mpi_state.threads)
        pthread_mutex_unlock(&lock);
}

static struct mpi_request *take_unused(void)
{
    lock_unused();
    struct mpi_request *r = unused;
    if (likely(r != NULL))
        unused = r->next;
    unlock_unused();
    return r;
}

/* (release: pairs with request_pool_shared.) Of two threads one comes too late, whose request is
 * as good as any other. False: there is none. */
static bool make_shared(void)
{
    struct mpi_request *none = NULL, *r = make();

    if (r == NULL)
        return false;
    r->shared = true;
    if (!atomic_compare_exchange_strong_explicit(&shared, &none, r, memory_order_release,
                                                 memory_order_relaxed)) {
        r->shared = false;
        request_pool_give(r);
    }
    return true;
}

struct mpi_request *request_pool_shared(void)
{
    return atomic_load_explicit(&shared, memory_order_acquire);
}

/* (release: pairs with request_complete) */
void request_pool_use_shared(bool use)
{
    atomic_store_explicit(&request_common, use ? request_pool_shared() : NULL,
                          memory_order_release);
}

struct mpi_request *request_pool_take(void)
{
    struct mpi_request *r = take_unused();

    if (likely(r != NULL))
        return r;
    return request_pool_shared() != NULL || make_shared() ? make() : NULL;
}

void request_pool_give(struct mpi_request *r)
{
    atomic_store_explicit(&r->rec, NULL, memory_order_relaxed);
    lock_unused();
    r->next = unused;
    unused = r;
    unlock_unused();
}

void request_pool_orphan(const struct win_rec *rec)
{
    pthread_mutex_lock(&lock);
    for (struct mpi_request *r = all; r != NULL; r = r->made)
        if (atomic_load_explicit(&r->rec, memory_order_relaxed) == rec)
            atomic_store_explicit(&r->rec, NULL, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

void request_pool_end(void)
{
    struct request_table *table = current(), *older;
    struct mpi_request *next;

    atomic_store_explicit(&request_table, NULL, memory_order_relaxed);
    atomic_store_explicit(&request_common, NULL, memory_order_relaxed);
    atomic_store_explicit(&shared, NULL, memory_order_relaxed);
    for (; table != NULL; table = older) {
        older = table->older;
        free(table);
    }
    for (struct mpi_request *r = all; r != NULL; r = next) {
        next = r->made;
        mpi_host.Request_free(&r->handle);
        free(r);
    }
    all = unused = NULL;
    count = 0;
}

int request_refuse(const char *func, const struct mpi_request *r)
{
    return plain_fail(
        func,
        FAULT(engine_messages(), REQUEST_IS_RMA, r->shared ? "an operation of a window" : r->func),
        "");
}
