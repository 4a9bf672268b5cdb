/*
 * win_table.c - the map of windows and the array before it.
 *
 * One mutex guards the map, the spare records and every change of the array.
 * The host may give a new window the handle of one that was just freed while
 * the freed one is still in the map: adding replaces it in map and array, and
 * removing takes out only what still is the record to be removed.
 */
#include "mpi/win_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"

_Atomic(struct win_rec *) win_cache[1 << WIN_CACHE_BITS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map table;
static struct win_rec *spare, *all;

struct win_rec *win_find(MPI_Win handle)
{
    struct win_rec *rec;

    pthread_mutex_lock(&lock);
    rec = map_get(&table, win_key(handle));
    if (rec != NULL) /* pairs with the acquire in win_lookup */
        atomic_store_explicit(&win_cache[win_slot(handle)], rec, memory_order_release);
    pthread_mutex_unlock(&lock);
    return rec;
}

struct win_rec *win_rec_new(void)
{
    struct win_rec *rec;

    pthread_mutex_lock(&lock);
    rec = spare;
    if (rec != NULL) {
        spare = rec->next;
    } else if ((rec = calloc(1, sizeof *rec)) != NULL) {
        atomic_init(&rec->handle, MPI_WIN_NULL);
        rec->group = MPI_GROUP_NULL;
        rec->made = all;
        all = rec;
    }
    pthread_mutex_unlock(&lock);
    return rec;
}

void win_rec_drop(struct win_rec *rec)
{
    if (rec->group != MPI_GROUP_NULL)
        group_release(&rec->group);
    group_cache_fini(&rec->access);
    group_cache_fini(&rec->exposure);
    rec->win = NULL;
    rec->freeing = false;
    pthread_mutex_lock(&lock);
    rec->next = spare;
    spare = rec;
    pthread_mutex_unlock(&lock);
}

int win_table_add(struct win_rec *rec, MPI_Win handle)
{
    int err;

    pthread_mutex_lock(&lock);
    err = map_put(&table, win_key(handle), rec, NULL);
    if (err == MRMA_SUCCESS) {
        /* The record first, then its handle, then the array: pairs with win_lookup. */
        atomic_store_explicit(&rec->handle, handle, memory_order_release);
        atomic_store_explicit(&win_cache[win_slot(handle)], rec, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return err;
}

void win_table_del(struct win_rec *rec, MPI_Win handle)
{
    _Atomic(struct win_rec *) *slot = &win_cache[win_slot(handle)];

    pthread_mutex_lock(&lock);
    atomic_store_explicit(&rec->handle, MPI_WIN_NULL, memory_order_release);
    if (map_get(&table, win_key(handle)) == rec)
        map_del(&table, win_key(handle));
    if (atomic_load_explicit(slot, memory_order_relaxed) == rec)
        atomic_store_explicit(slot, NULL, memory_order_release);
    pthread_mutex_unlock(&lock);
}

void win_table_end(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < 1u << WIN_CACHE_BITS; i++)
        atomic_store_explicit(&win_cache[i], NULL, memory_order_relaxed);
    while (all != NULL) {
        struct win_rec *rec = all;
        all = rec->made;
        if (rec->group != MPI_GROUP_NULL)
            group_release(&rec->group);
        group_cache_fini(&rec->access);
        group_cache_fini(&rec->exposure);
        free(rec);
    }
    spare = NULL;
    map_fini(&table);
    pthread_mutex_unlock(&lock);
}
