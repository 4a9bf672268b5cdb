/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_table.c - the map of windows and what stands before it.
 *
 * One mutex guards the map, the spare records and every change of the array. The host may give a
 * new window the handle of one that was just freed while the freed one is still in the map: adding
 * replaces that entry in map and array, and removing takes out an entry only if it is still that of
 * the removed record.
 *
 * Neighbours: all entry points, through win_table.h; win.c, which enters and removes windows.
 */
#include "mpi/process/win_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "mpi/process/state.h"
#include "rma/rma.h"
#include "trace/record.h"

enum { CACHE_BITS = 5 };

static struct win_rec none = {.handle = WIN_NO_HANDLE};

_Atomic(struct win_rec *) win_last = &none;

static _Atomic(struct win_rec *) cache[1 << CACHE_BITS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map table;
static struct win_rec *spare, *all;

/* A handle is an int in one host and a pointer in another. */
static uint64_t key_of(MPI_Win handle)
{
    return sizeof(handle) == sizeof(uint32_t) ? (uint32_t)(uintptr_t)handle : (uintptr_t)handle;
}

static _Atomic(struct win_rec *) *slot_of(MPI_Win handle)
{
    return &cache[((uint32_t)key_of(handle) * 2654435769u) >> (32 - CACHE_BITS)];
}

static void remember(struct win_rec *rec)
{
    if (!mpi_state.threads || atomic_load_explicit(&win_last, memory_order_relaxed) == &none)
        atomic_store_explicit(&win_last, rec, memory_order_release); /* pairs with win_quick */
}

/* While a trace is taken, a window is remembered only as long as the recording is stopped. Another
 * thread may resume the recording meanwhile (win_forget_last):
 *
 *     this thread                    the thread that resumes
 *     A: win_last = rec              C: stopped = false
 *        fence                          fence
 *     B: is it stopped?              D: win_last = none
 *
 * If B does not see C, this thread's fence comes first in the one order of such fences, so D comes
 * behind A in the order of stores to win_last. Else this thread takes back what it has stored. */
static __attribute__((noinline, cold)) void remember_while_stopped(struct win_rec *rec)
{
    if (!trace_is_stopped(mpi_trace))
        return;
    remember(rec);                             /* A */
    atomic_thread_fence(memory_order_seq_cst); /* pairs with win_forget_last */
    if (!trace_is_stopped(mpi_trace))          /* B */
        atomic_store_explicit(&win_last, &none, memory_order_release);
}

void win_forget_last(void)
{
    atomic_thread_fence(memory_order_seq_cst); /* behind C; pairs with remember_while_stopped */
    atomic_store_explicit(&win_last, &none, memory_order_release); /* D */
}

/* use is called when a call uses the window, and remembers it. While a trace is taken no window is
 * remembered (traced.h), nor is any without an agent: then every call on a window comes by here,
 * and serves packets that have come. */
static void use(struct win_rec *rec)
{
    if (unlikely(mpi_state.polls))
        (void)rma_progress(mpi_state.rma);
    else if (unlikely(mpi_trace != NULL))
        remember_while_stopped(rec);
    else
        remember(rec);
}

struct win_rec *win_find(MPI_Win handle)
{
    _Atomic(struct win_rec *) *slot = slot_of(handle);
    struct win_rec *rec = atomic_load_explicit(slot, memory_order_acquire);

    if (rec == NULL || atomic_load_explicit(&rec->handle, memory_order_acquire) != handle) {
        pthread_mutex_lock(&lock);
        rec = map_get(&table, key_of(handle));
        if (rec != NULL) /* pairs with the acquire above */
            atomic_store_explicit(slot, rec, memory_order_release);
        pthread_mutex_unlock(&lock);
    }
    if (rec != NULL)
        use(rec);
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
        atomic_init(&rec->handle, WIN_NO_HANDLE);
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
    void *old = NULL;
    int err;

    pthread_mutex_lock(&lock);
    err = map_put(&table, key_of(handle), rec, &old);
    if (err == MRMA_SUCCESS) {
        if (old != NULL)
            atomic_store_explicit(&((struct win_rec *)old)->handle, WIN_NO_HANDLE,
                                  memory_order_release);
        /* The record first, then its handle, then the array: pairs with win_find. */
        atomic_store_explicit(&rec->handle, handle, memory_order_release);
        atomic_store_explicit(slot_of(handle), rec, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return err;
}

void win_table_del(struct win_rec *rec, MPI_Win handle)
{
    _Atomic(struct win_rec *) *slot = slot_of(handle);

    pthread_mutex_lock(&lock);
    atomic_store_explicit(&rec->handle, WIN_NO_HANDLE, memory_order_release);
    if (map_get(&table, key_of(handle)) == rec)
        map_del(&table, key_of(handle));
    if (atomic_load_explicit(&win_last, memory_order_relaxed) == rec)
        atomic_store_explicit(&win_last, &none, memory_order_release);
    if (atomic_load_explicit(slot, memory_order_relaxed) == rec)
        atomic_store_explicit(slot, NULL, memory_order_release);
    pthread_mutex_unlock(&lock);
}

void win_table_end(void)
{
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&win_last, &none, memory_order_relaxed);
    for (unsigned i = 0; i < 1u << CACHE_BITS; i++)
        atomic_store_explicit(&cache[i], NULL, memory_order_relaxed);
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
