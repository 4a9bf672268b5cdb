/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_cache.h - finds the flattened form of a datatype handle quickly.
 *
 * A direct-mapped table of pointers to records answers almost every look-up in a
 * few instructions; all records of a slot also hang on a chain under the lock.
 * A derived datatype carries an attribute whose delete callback takes its record
 * away when the host really releases the type, before the handle can be reused.
 *
 * Look-ups take no lock and may run at the same time as look-ups and frees of other datatypes
 * (MPI_THREAD_MULTIPLE): the memory of a record is only ever reused for another record, its key is
 * the last thing written when it is filled and the first thing cleared, and no type is freed while
 * a call still uses it (that would be an error of the application). Code that needs a type beyond
 * the user's MPI_Type_free takes a reference with dtype_ref.
 *
 * An engine has one cache; nothing here is process-wide.
 */
#ifndef MRMA_DTYPE_DTYPE_CACHE_H
#define MRMA_DTYPE_DTYPE_CACHE_H

#include <mpi.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "dtype/dtype.h"

struct log;

#define DTYPE_CACHE_BITS 8
#define DTYPE_CACHE_SLOTS (1u << DTYPE_CACHE_BITS)

struct dtype_record {
    _Atomic uintptr_t key; /* dtype_key of the handle, DTYPE_NO_KEY if unused */
    const struct dtype *dtype;
    MPI_Datatype handle;
    struct dtype_record *next; /* on its slot's chain */
    bool attached;             /* the type has the attribute, since it is a derived one */
    bool used;                 /* must not be filled again, since somebody may still use it */
};

struct dtype_cache {
    _Atomic(struct dtype_record *) slot[DTYPE_CACHE_SLOTS]; /* never null */
    struct dtype_record none;                               /* what empty slots point to */

    pthread_mutex_t lock; /* guards what follows; never held while calling MPI */
    struct dtype_record *chain[DTYPE_CACHE_SLOTS];

    const struct log *log;
    int keyval;
    MPI_Comm probe; /* the caller's; used to ask the host whether a type is committed */
};

/* dtype_cache_create makes a cache, while MPI is initialised. log and probe must outlive it; probe
 * is a communicator of this process alone that nobody else uses, and gets an error handler here.
 * Returns MRMA_SUCCESS and *out, or MRMA_ERR_NO_MEM or MRMA_ERR_OTHER (logged). */
int dtype_cache_create(const struct log *log, MPI_Comm probe, struct dtype_cache **out);

/* dtype_cache_destroy frees the cache, before MPI_Finalize has ended, when no other thread uses it.
 * Types that somebody has a reference to live on. NULL is allowed. */
void dtype_cache_destroy(struct dtype_cache *cache);

#define DTYPE_NO_KEY UINTPTR_MAX

/* dtype_key returns a number that stands for a datatype handle, which is an int in one host and a
 * pointer in another. */
static inline uintptr_t dtype_key(MPI_Datatype type)
{
    return sizeof(type) == sizeof(uint32_t) ? (uint32_t)(uintptr_t)type : (uintptr_t)type;
}

/* dtype_slot returns the index of the slot for a key. */
static inline unsigned dtype_slot(uintptr_t key)
{
    return ((uint32_t)key * 2654435769u) >> (32 - DTYPE_CACHE_BITS);
}

/* dtype_cache_miss is the slow way of dtype_lookup: it looks at the other records of the slot, then
 * asks the host. Takes the cache's lock, and may call MPI. */
const struct dtype *dtype_cache_miss(struct dtype_cache *cache, MPI_Datatype type, int *err);

/* dtype_lookup returns the flattened form of a committed datatype, valid until the user frees the
 * datatype (longer with dtype_ref). NULL with *err set on failure: MRMA_ERR_TYPE if type is
 * MPI_DATATYPE_NULL, not valid or not committed, MRMA_ERR_NO_MEM, or an error of dtype_flatten.
 * *err is not touched on success. Any thread. */
static inline const struct dtype *dtype_lookup(struct dtype_cache *cache, MPI_Datatype type,
                                               int *err)
{
    uintptr_t key = dtype_key(type);

    /* Pairs with the release stores in dtype_cache.c: install and fill. */
    struct dtype_record *rec =
        atomic_load_explicit(&cache->slot[dtype_slot(key)], memory_order_acquire);
    if (likely(atomic_load_explicit(&rec->key, memory_order_acquire) == key))
        return rec->dtype;
    return dtype_cache_miss(cache, type, err);
}

#endif
