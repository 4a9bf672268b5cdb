/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_cache.c - filling and emptying the datatype cache (see dtype_cache.h).
 *
 * The lock is never held across a call to MPI: the host may hold a lock of its
 * own while it calls the delete callback, which takes ours. So two threads can
 * flatten the same type at once; the second to finish drops its work.
 *
 * Records are never freed before the cache, and stay on the chain of their slot: a look-up without
 * lock may still be reading one that was just taken out of the slot, and must find either another
 * key in it or DTYPE_NO_KEY.
 *
 * Neighbours: dtype_flatten.c, which makes what is kept; src/mpi, which looks up the datatypes of
 * every call.
 */
#include "dtype/dtype_cache.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "dtype/dtype_flatten.h"
#include "dtype/dtype_predef.h"

/* hide makes sure that no look-up finds the record from now on. Called with the lock. */
static void hide(struct dtype_cache *cache, struct dtype_record *rec)
{
    unsigned s = dtype_slot(atomic_load_explicit(&rec->key, memory_order_relaxed));

    if (atomic_load_explicit(&cache->slot[s], memory_order_relaxed) == rec)
        atomic_store_explicit(&cache->slot[s], &cache->none, memory_order_release);
    atomic_store_explicit(&rec->key, DTYPE_NO_KEY, memory_order_release);
}

/* Called by the host when it releases a datatype that has our attribute. */
static int type_deleted(MPI_Datatype type, int keyval, void *value, void *extra)
{
    struct dtype_cache *cache = extra;
    struct dtype_record *rec = value;

    (void)type;
    (void)keyval;
    pthread_mutex_lock(&cache->lock);
    const struct dtype *dtype = rec->dtype;
    hide(cache, rec);
    rec->used = false;
    pthread_mutex_unlock(&cache->lock);
    dtype_unref(dtype);
    return MPI_SUCCESS;
}

/* find_record returns the record of key, and puts it in its slot for the next look-up. Called with
 * the lock. */
static struct dtype_record *find_record(struct dtype_cache *cache, uintptr_t key)
{
    unsigned s = dtype_slot(key);
    struct dtype_record *rec = cache->chain[s];

    while (rec && atomic_load_explicit(&rec->key, memory_order_relaxed) != key)
        rec = rec->next;
    if (rec)
        atomic_store_explicit(&cache->slot[s], rec, memory_order_release); /* install */
    return rec;
}

/* get_record returns an unused record of slot s, or NULL without memory. Called with the lock. */
static struct dtype_record *get_record(struct dtype_cache *cache, unsigned s)
{
    struct dtype_record *rec = cache->chain[s];

    while (rec && rec->used)
        rec = rec->next;
    if (!rec && (rec = calloc(1, sizeof(*rec))) != NULL) {
        atomic_init(&rec->key, DTYPE_NO_KEY);
        rec->next = cache->chain[s];
        cache->chain[s] = rec;
    }
    return rec;
}

/* enter enters dtype (whose reference passes to the cache) under type. If another thread was first,
 * its record is returned and *fresh is false. */
static struct dtype_record *enter(struct dtype_cache *cache, MPI_Datatype type,
                                  const struct dtype *dtype, bool attached, bool *fresh)
{
    uintptr_t key = dtype_key(type);
    unsigned s = dtype_slot(key);

    pthread_mutex_lock(&cache->lock);
    struct dtype_record *rec = find_record(cache, key);
    *fresh = rec == NULL;
    if (*fresh)
        rec = get_record(cache, s);
    if (*fresh && rec) {
        rec->dtype = dtype;
        rec->handle = type;
        rec->attached = attached;
        rec->used = true;
        atomic_store_explicit(&rec->key, key, memory_order_release);       /* fill */
        atomic_store_explicit(&cache->slot[s], rec, memory_order_release); /* install */
    }
    pthread_mutex_unlock(&cache->lock);
    return rec;
}

/* Whether the host has called the handler of a probe communicator in this thread. */
static _Thread_local bool refused;

static void note_refusal(MPI_Comm *comm, int *err, ...)
{
    (void)comm;
    (void)err;
    refused = true;
}

/* Errors on the probe communicator go to a function of this library, which notes them. With
 * MPI_ERRORS_RETURN Intel MPI 2021.19 ends a program of the standard ABI; and with a function MPICH
 * 5.0 returns MPI_SUCCESS after calling it. */
static int errors_return(MPI_Comm probe)
{
    MPI_Errhandler handler;

    if (PMPI_Comm_create_errhandler(note_refusal, &handler) != MPI_SUCCESS)
        return MRMA_ERR_OTHER;
    const int rc = PMPI_Comm_set_errhandler(probe, handler);
    PMPI_Errhandler_free(&handler);
    return rc == MPI_SUCCESS ? MRMA_SUCCESS : MRMA_ERR_OTHER;
}

/* is_usable sends one element to MPI_PROC_NULL: that goes nowhere, but the host checks the
 * arguments. (With a count of zero MPICH does not look at the type.) */
static bool is_usable(struct dtype_cache *cache, MPI_Datatype type)
{
    char nothing = 0;

    refused = false;
    const int rc = PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, cache->probe);
    return rc == MPI_SUCCESS && !refused;
}

static const struct dtype *fail(int code, int *err)
{
    *err = code;
    return NULL;
}

const struct dtype *dtype_cache_miss(struct dtype_cache *cache, MPI_Datatype type, int *err)
{
    struct dtype *dtype;
    bool fresh;

    if (type == MPI_DATATYPE_NULL)
        return fail(MRMA_ERR_TYPE, err);
    pthread_mutex_lock(&cache->lock);
    struct dtype_record *rec = find_record(cache, dtype_key(type));
    pthread_mutex_unlock(&cache->lock);
    if (rec)
        return rec->dtype;

    bool predefined = predef_is_handle(type);
    if (!predefined && !is_usable(cache, type))
        return fail(MRMA_ERR_TYPE, err);
    int rc = dtype_flatten(type, &dtype);
    if (rc != MRMA_SUCCESS)
        return fail(log_fail(cache->log, rc, "cannot flatten a datatype: %s", mrma_err_name(rc)),
                    err);
    rec = enter(cache, type, dtype, !predefined, &fresh);
    if (!fresh || !rec)
        dtype_unref(dtype);
    if (!rec)
        return fail(MRMA_ERR_NO_MEM, err);
    if (fresh && !predefined && PMPI_Type_set_attr(type, cache->keyval, rec) != MPI_SUCCESS) {
        /* The library would not notice when the type is freed, so it forgets the type (whose record
         * is not reused, since another thread may have found it meanwhile). */
        pthread_mutex_lock(&cache->lock);
        hide(cache, rec);
        pthread_mutex_unlock(&cache->lock);
        return fail(log_fail(cache->log, MRMA_ERR_NO_MEM, "cannot attach to a datatype"), err);
    }
    return rec->dtype;
}

int dtype_cache_create(const struct log *log, MPI_Comm probe, struct dtype_cache **out)
{
    struct dtype_cache *cache = calloc(1, sizeof(*cache));

    if (!cache)
        return log_fail(log, MRMA_ERR_NO_MEM, "no memory for the datatype cache");
    cache->log = log;
    atomic_init(&cache->none.key, DTYPE_NO_KEY);
    for (unsigned s = 0; s < DTYPE_CACHE_SLOTS; s++)
        atomic_init(&cache->slot[s], &cache->none);
    pthread_mutex_init(&cache->lock, NULL);

    cache->probe = probe;
    if (errors_return(cache->probe) != MRMA_SUCCESS ||
        PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_deleted, &cache->keyval, cache) !=
            MPI_SUCCESS) {
        pthread_mutex_destroy(&cache->lock);
        free(cache);
        return log_fail(log, MRMA_ERR_OTHER,
                        "the host refused an error handler or a keyval for datatypes");
    }
    *out = cache;
    return MRMA_SUCCESS;
}

void dtype_cache_destroy(struct dtype_cache *cache)
{
    if (!cache)
        return;
    for (unsigned s = 0; s < DTYPE_CACHE_SLOTS; s++)
        for (struct dtype_record *rec = cache->chain[s], *next; rec; rec = next) {
            bool live = atomic_load_explicit(&rec->key, memory_order_relaxed) != DTYPE_NO_KEY;
            if (live && rec->attached)
                PMPI_Type_delete_attr(rec->handle, cache->keyval); /* calls type_deleted */
            else if (live)
                dtype_unref(rec->dtype);
            next = rec->next;
            free(rec);
        }
    PMPI_Type_free_keyval(&cache->keyval);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
